// The files are written when time is asked for: whoever reads a sensor looks at the clock first.
#include "tests/virtual_board/virtual_board.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "devices/machine/identification.h"
#include "devices/modes/present_mode.h"
#include "kernels/cuda/gpu_here.h"

namespace ridgeline::testing {
namespace {

constexpr double show_s = 0.005;   // between two pictures of the files
constexpr double suspend_s = 0.8;  // that a GPU without a context waits before its rail is cut
constexpr double ambient_c = 32, heat_s = 25;
constexpr double kelvin_per_w = 0.7, hot_kelvin_per_w = 3.2;
constexpr const char* memory_folder = "sys/kernel/debug/bpmp/debug/clk/emc/";
constexpr const char* cpu_folder = "sys/devices/system/cpu/";
constexpr const char* zone_folder = "sys/class/thermal/thermal_zone0/";
constexpr const char* status_folder = "sys/devices/platform/gpu.0/power/";

// Pascal's integrated GPU, GP10B.
Board tx2_gpu() {
  Board board;
  board.facts.name = "NVIDIA Tegra X2";
  board.facts.architecture = 62;
  board.facts.multiprocessors = 2;
  board.facts.threads_per_multiprocessor = 2048;
  board.facts.l2_bytes = 512 << 10;
  board.facts.l1_bytes = 64 << 10;
  board.facts.integrated = true;
  board.facts.free_bytes = std::uint64_t{5} << 30;
  board.pipes = {{"fma_fp64", {8, 8}},
                 {"fma_fp32", {256, 6}},
                 {"fma_fp16", {512, 6}},
                 {"mad_int32", {86, 6}},
                 {"dp4a_int8", {512, 6}}};
  board.arithmetic_best_warps = 40;
  board.arithmetic_crowd_loss = 0.02;
  board.blocks_per_multiprocessor = 32;
  board.shared_bytes = 64 << 10;
  board.l2_bytes_per_cycle = 128;
  board.l2_latency_cycles = 210;
  for (const Direction direction : {Direction::read, Direction::write, Direction::copy,
                                    Direction::update, Direction::triad, Direction::random})
    board.dram_bytes_per_s[direction] = 1e9;  // shares of each other; silicon.h has the rate
  board.dram_bytes_per_s[Direction::random] = 0.25e9;
  board.dram_latency_s = 900e-9;
  board.dram_best_warps = 20;
  board.dram_crowd_loss = 0.06;
  board.pinned_share = 0.7;
  board.noise = 0.005;
  return board;
}

// Nodes as the kernel has them beside the tree.
class BoardWorld final : public control::World {
 public:
  BoardWorld(SystemRoot root, VirtualBoard& board) : World(std::move(root)), board_(board) {}
  void wait(double seconds) override { board_.wait(seconds); }

 protected:
  int write_file(const std::string& node, const std::string& value) override {
    const int fault = World::write_file(node, value);
    board_.read_knobs();
    return fault;
  }

 private:
  VirtualBoard& board_;
};

int open_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error("virtual board: cannot open " + path);
  return file;
}

}  // namespace

BoardKind board_kind(const std::string& name) {
  BoardKind kind;
  if (name == "agx-orin") {
    kind.silicon = agx_orin_silicon();
    kind.tree = board_tree("agx_orin_jp6");
    kind.gpu = agx_orin();
  } else if (name == "orin-nano") {
    kind.silicon = orin_nano_silicon();
    kind.tree = board_tree("orin_nano_super_jp6");
    kind.tree.mode = 2;  // MAXN_SUPER
    kind.tree.gpu_max_hz = kind.tree.gpu_hz.back();
    kind.tree.cpu_max_khz = kind.tree.cpu_khz.back();
    kind.gpu = orin_nano();
    kind.milliohm = 5;
  } else if (name == "tx2") {
    kind.silicon = tx2_silicon();
    kind.tree = board_tree("tx2_jp4");
    kind.gpu = tx2_gpu();
    kind.milliohm = 10;
  } else {
    throw std::runtime_error("no virtual board of that name: " + name);
  }
  return kind;
}

void make_virtual_board(FakeSystem& system, const BoardKind& kind) {
  make_board(system, kind.tree);
  system.write(std::string(zone_folder) + "type", "tj-thermal\n");
  system.write(std::string(zone_folder) + "temp", "38000\n");
  system.write(std::string(zone_folder) + "trip_point_0_type", "passive\n");
  system.write(std::string(zone_folder) + "trip_point_0_temp", "84000\n");
  system.write(std::string(status_folder) + "runtime_status", "active\n");
  system.write("sys/class/hwmon/hwmon0/name", "pwmfan\n");
  system.write("sys/class/hwmon/hwmon0/pwm1", "128\n");
}

VirtualBoard::VirtualBoard(BoardKind kind, std::string root, bool is_hot)
    : kind_(std::move(kind)), root_(std::move(root)), is_hot_(is_hot) {
  read_knobs();
  open_rails();
  gpu_now_ = open_file(root_ + kind_.tree.gpu_folder + "cur_freq");
  zone_ = open_file(root_ + zone_folder + "temp");
  status_ = open_file(root_ + status_folder + "runtime_status");
  const Power idle = idle_power(0);
  for (Rail& rail : rails_) rail.reading_w = idle.gpu_w + idle.cpu_w + idle.memory_w;
  follow(100, idle);  // it has been on for a while
  at_s_ = 0;
  show(0);
}

VirtualBoard::~VirtualBoard() {
  for (const Rail& rail : rails_) ::close(rail.file);
  for (const int file : {gpu_now_, zone_, status_}) ::close(file);
}

void VirtualBoard::open_rails() {
  const double step_ma = 40.0 / kind_.milliohm;
  const bool iio = kind_.tree.layout == RailLayout::iio;
  for (std::size_t i = 0; i < kind_.tree.rails.size() && i < 3; ++i) {
    const TreeRail& tree = kind_.tree.rails[i];
    Rail rail{tree.label};
    if (iio) {
      rail.file = open_file(root_ + "sys/bus/i2c/drivers/ina3221x/6-0040/iio:device0/in_power" +
                            std::to_string(i) + "_input");
      rail.step = step_ma * 1e-3 * tree.millivolt;
    } else {
      const char* const folder = kind_.tree.layout == RailLayout::hwmon_two ? "hwmon3/" : "hwmon1/";
      rail.file = open_file(root_ + "sys/class/hwmon/" + folder + "curr" + std::to_string(i + 1) +
                            "_input");
      rail.millivolt = tree.millivolt;
      rail.step = step_ma;
    }
    rails_.push_back(rail);
  }
}

double VirtualBoard::number(const std::string& path) const {
  std::ifstream file(root_ + path);
  double value = 0;
  file >> value;
  return value;
}

void VirtualBoard::read_knobs() {
  const BoardTree& tree = kind_.tree;
  knobs_ = {};
  knobs_.gpu_min_hz = number(tree.gpu_folder + "min_freq");
  knobs_.gpu_max_hz = number(tree.gpu_folder + "max_freq");
  knobs_.memory_top_hz = double(tree.emc_hz.back());
  if (const double cap_hz = tree.emc_cap.empty() ? 0 : number(tree.emc_cap); cap_hz > 0)
    knobs_.memory_top_hz = std::min(knobs_.memory_top_hz, cap_hz);
  const std::string memory = memory_folder;
  if (number(memory + "mrq_rate_locked") == 1) knobs_.memory_locked_hz = number(memory + "rate");
  const std::string cpus = cpu_folder;
  for (const auto& policy : tree.policies) {
    const std::string folder = cpus + "cpufreq/policy" + std::to_string(policy.front()) + "/";
    knobs_.cpu_hz = std::max(knobs_.cpu_hz, 1e3 * number(folder + "scaling_max_freq"));
    for (const int cpu : policy)
      knobs_.cores += number(cpus + "cpu" + std::to_string(cpu) + "/online") == 1;
  }
}

// Governors: a free clock is at its top while something runs and at its bottom otherwise.
Clocks VirtualBoard::clocks(bool busy) const {
  Clocks now{busy ? knobs_.gpu_max_hz : knobs_.gpu_min_hz,
             busy ? knobs_.memory_top_hz : double(kind_.tree.emc_hz.front()), knobs_.cpu_hz,
             knobs_.cores};
  if (knobs_.memory_locked_hz > 0) now.memory_hz = knobs_.memory_locked_hz;
  return now;
}

bool VirtualBoard::is_suspended(double now_s) const {
  return (!gpu_ || gpu_.use_count() == 1) && now_s - closed_s_ > suspend_s;
}

VirtualBoard::Power VirtualBoard::idle_power(double now_s) const {
  const Clocks now = clocks(false);
  const Silicon& chip = kind_.silicon;
  return {is_suspended(now_s) ? chip.suspended_gpu_rail_w() : chip.gpu_rail_w(now, false),
          chip.cpu_rail_w(now, false), chip.memory_rail_w(now)};
}

// The chip's running average, as a first-order lag.
void VirtualBoard::follow(double until_s, const Power& power) {
  const double seconds = until_s - at_s_;
  if (seconds <= 0) return;
  at_s_ = until_s;
  const double all_w = power.gpu_w + power.cpu_w + power.memory_w;
  for (Rail& rail : rails_) {
    double watt = all_w;
    if (rail.label.find("GPU") != std::string::npos) watt = power.gpu_w;
    if (rail.label == "VDD_CPU_CV") watt = power.cpu_w;
    if (rail.label == "VDD_CPU_GPU_CV") watt = power.cpu_w + power.gpu_w;
    if (rail.label == "VIN_SYS_5V0") watt = power.memory_w;
    if (rail.label.find("_SOC") != std::string::npos && rail.label.find("GPU") == std::string::npos)
      watt = power.memory_w;
    rail.reading_w = watt + (rail.reading_w - watt) * std::exp(-seconds / kind_.rail_lag_s);
  }
  const double steady_c = ambient_c + (is_hot_ ? hot_kelvin_per_w : kelvin_per_w) * all_w;
  celsius_ = steady_c + (celsius_ - steady_c) * std::exp(-seconds / heat_s);
}

void VirtualBoard::put(int file, const std::string& text) {
  std::string& held = put_[file];
  if (held == text) return;
  held = text;
  const auto size = static_cast<ssize_t>(text.size());
  if (::pwrite(file, text.data(), text.size(), 0) != size || ::ftruncate(file, size) != 0)
    throw std::runtime_error("virtual board: cannot write a file");
}

void VirtualBoard::put(int file, double value) {
  put(file, std::to_string(std::lround(value)) + "\n");
}

void VirtualBoard::show(double now_s) {
  shown_s_ = now_s;
  if (gpu_ && gpu_.use_count() > 1) closed_s_ = now_s;
  const Power idle = idle_power(now_s);
  bool busy = false;
  if (gpu_) {
    const Clocks at = clocks(true);
    const double cpu_w = kind_.silicon.cpu_rail_w(at, true);
    const double memory_w = kind_.silicon.memory_rail_w(at);
    const double byte_joule = kind_.silicon.joule_per_byte(at);
    const auto& drawn = gpu_->drawn();
    for (; next_ < drawn.size() && opened_s_ + drawn[next_].begin_s < now_s; ++next_) {
      const TestGpu::Drawn& kernel = drawn[next_];
      follow(opened_s_ + kernel.begin_s, idle);
      Power power{0, cpu_w, memory_w + byte_joule * kernel.bytes_per_s};
      power.gpu_w = kernel.power_w - power.cpu_w - power.memory_w;
      const double end_s = opened_s_ + kernel.end_s;
      follow(std::min(end_s, now_s), power);
      busy = end_s > now_s - show_s;
      if (end_s > now_s) break;
    }
  }
  follow(now_s, idle);
  for (const Rail& rail : rails_) {
    const double value =
        rail.millivolt > 0 ? 1e6 * rail.reading_w / rail.millivolt : 1e3 * rail.reading_w;
    put(rail.file, std::round(value / rail.step) * rail.step);
  }
  put(gpu_now_, clocks(busy || is_gpu_locked()).gpu_hz);
  put(zone_, 500 * std::round(2 * celsius_));  // in half degrees
  put(status_, is_suspended(now_s) ? "suspended\n" : "active\n");
}

double VirtualBoard::now_s() {
  const double now_s = opened_s_ + (gpu_ ? gpu_->now_s() : 0);
  if (now_s - shown_s_ >= show_s) show(now_s);
  return now_s;
}

void VirtualBoard::wait(double seconds) {
  if (gpu_)
    gpu_->wait(seconds);
  else
    opened_s_ += seconds;
}

std::shared_ptr<cuda::Gpu> VirtualBoard::open_gpu() {
  const double now = now_s();
  show(now);
  const Silicon& chip = kind_.silicon;
  const Clocks at = clocks(true);
  TestGpuSettings settings(kind_.gpu);
  settings.clock_hz = at.gpu_hz;
  settings.facts.multiprocessors = chip.multiprocessors;
  settings.pipes["fma_fp32"].flop_per_cycle = chip.flop_per_cycle;
  const double read = settings.dram_bytes_per_s.at(Direction::read);
  for (auto& [direction, rate] : settings.dram_bytes_per_s) rate *= chip.bytes_per_s(at) / read;
  settings.launch_s = chip.launch_cycles / at.cpu_hz;
  settings.start_s = chip.start_s;
  settings.joule_per_flop = chip.joule_per_flop(at);
  settings.joule_per_byte = chip.joule_per_byte(at);
  settings.constant_w = chip.constant_w(at);
  settings.idle_w = chip.idle_w(clocks(false));
  const Clocks idle = clocks(false);
  settings.gpu_governor = settings.memory_governor = {};
  if (!is_gpu_locked())
    settings.gpu_governor = {.lowest = idle.gpu_hz / at.gpu_hz, .rise_s = 0.03, .fall_s = 0.25};
  if (knobs_.memory_locked_hz == 0)
    settings.memory_governor = {
        .lowest = idle.memory_hz / at.memory_hz, .rise_s = 0.02, .fall_s = 0.05};
  if (is_hot_)
    settings.heat = {
        .ambient_c = celsius_, .kelvin_per_w = hot_kelvin_per_w, .time_constant_s = heat_s};
  gpu_ = std::make_shared<TestGpu>(settings);
  const SystemRoot root{root_};
  const Identity identity = identify(root);
  const catalog::Device device = this_device(identity, root);
  gpu_->correct(cuda::corrected_facts(gpu_->facts(), device,
                                      present_configuration(identity, device), present_mode(root)));
  opened_s_ = now;
  next_ = 0;
  return gpu_;
}

std::unique_ptr<control::World> VirtualBoard::open_control() {
  return std::make_unique<BoardWorld>(SystemRoot{root_}, *this);
}

}  // namespace ridgeline::testing
