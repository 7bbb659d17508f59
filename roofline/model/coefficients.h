// Coefficients: the parameters of a MachineModel as plain numbers in the places where the formulas
// want them, looked up by name once. A draw or a step of a fit is another Coefficients.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/machine_model.h"
#include "base/parameters.h"
#include "base/runtime.h"
#include "base/tokens.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

inline constexpr std::size_t dtype_count = TokenTable<DType>::rows.size();
constexpr std::size_t index_of(DType dtype) { return static_cast<std::size_t>(dtype); }
constexpr std::size_t index_of(KernelKind kind) { return static_cast<std::size_t>(kind); }

// Which arithmetic runs where: operations per unit (SM or core) and clock, and the share of it that
// the library's kernels reach.
struct Engine {
  std::array<double, dtype_count> matrix_rate{};  // 0: no such unit
  std::array<double, dtype_count> vector_rate{};
  std::array<double, dtype_count> convolution_efficiency{};
  std::array<double, dtype_count> matmul_efficiency{};
  std::array<double, dtype_count> attention_efficiency{};
  std::array<double, kernel_kinds> elements_per_clock{};  // of one unit; 0: not limited
  std::array<double, kernel_kinds> kernel_clocks{};       // fixed cost of a kernel
  double further_kernel_clocks = 0;  // of each launch of a node after the first
  double cache_bytes = 0;            // that activations may stay in
  double cached_traffic = 1;         // share of their bytes that still goes to memory then
  double overlap = 0;                // of arithmetic and memory traffic within a kernel
  double matmul_padding = 1;         // most that tiles of a product cost over its arithmetic
  double convolution_padding = 1;
};

// What the host does per node, in clocks of one core.
struct Host {
  std::array<double, kernel_kinds> node_clocks{};
  double function_clocks = 0;  // a call that launches nothing
  double module_clocks = 0;
  double further_launch = 0;  // share of a node's clocks for each launch after the first
  double step_clocks = 0;     // once per inference or training step
  double graph_s = 0;         // launch of a captured graph …
  double graph_node_s = 0;    // … and of each of its nodes
  double default_hz = 0;      // where the operating point has no CPU clock
  // Host and device that take about as long do not hide each other in full: p-norm instead of the
  // larger of the two.
  double pipeline_exponent = 0;  // 0: they do
  // One node at a time: part of the host's work that comes before the launch, the stall when the
  // GPU waits longer than `stall_gap_s`, and how sharply that sets in.
  double before_launch = 1;
  double stall_s = 0;
  double stall_gap_s = 0;
  double stall_spread_s = 1;
  // Governor: it keeps the load at a target and counts time between nodes as idle.
  double target_load = 1;
  double untimed_s = 0;
  double floor_hz = 0;
};

// Power in watt and energy in joule at the highest voltage.
struct Power {
  bool known = false;
  double static_w = 0;
  double joule_per_peak_byte = 0;                        // background of the memory clock
  std::vector<std::pair<double, double>> idle_by_clock;  // (hz, W), ascending; else static_w
  double cpu_idle_joule = 0;                             // per core and clock
  double cpu_busy_joule = 0;
  double cpu_voltage_floor = 1;  // relative to the top clock's
  double cpu_top_hz = 0;
  double idle_joule = 0;  // per unit (SM) and clock
  double busy_joule = 0;
  std::array<double, dtype_count> matrix_joule{};  // per operation
  double other_joule = 0;                          // per operation that is no product
  double byte_joule = 0;
  double voltage_floor = 1;  // relative to that at the top clock
  double knee_hz = 0;
  double top_hz = 0;
  double offset_w = 0;
  double wall_offset_w = 0;
  std::optional<double> cap_w;  // that the board keeps by itself
};

struct Coefficients {
  Processor processor = Processor::gpu;  // that runs the network
  Engine engine;
  Host host;
  Power power;
  double bus_bytes_per_clock = 0;  // memory peak = this × memory clock
  double memory_bytes_per_s = 0;   // measured or stated, where there is no clock
  double dram_efficiency = 1;
  double dram_bytes_per_clock = 0;  // GPU clock's limit of the bandwidth; 0: none
  // What is peculiar to a network: its kernels and its host's work against the formulas.
  double kernel_scale = 1;
  double host_scale = 1;
  double time_error = 0;  // from run to run, one sigma of the logarithm
  double power_error = 0;
};

// As whose library a runtime's own parameters are named ("torch"); empty where it has none.
std::string_view library_of(Runtime runtime);

// The parameters of a model by name, looked up once for many draws of their values.
class ParameterIndex {
 public:
  explicit ParameterIndex(const MachineModel& model);  // which outlives it

  const std::string& device() const { return *device_; }
  // An Error where no model can have a parameter of that name.
  std::optional<std::size_t> find(std::string_view name) const;
  // Families that are read as a whole, each with its index.
  const std::vector<std::pair<RateName, std::size_t>>& rates() const { return rates_; }
  const std::vector<std::pair<double, std::size_t>>& idle_hz() const { return idle_hz_; }

 private:
  const std::string* device_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::vector<std::pair<RateName, std::size_t>> rates_;
  std::vector<std::pair<double, std::size_t>> idle_hz_;
};

// Values in the order of the model's parameters: means, or a draw of them.
Coefficients coefficients(const ParameterIndex& names, std::span<const double> values,
                          Runtime runtime);
Coefficients coefficients(const MachineModel& model, Runtime runtime);

// Relative voltage of the GPU at a clock: flat up to the knee, then a line to 1 at the top.
double relative_voltage(const Power& power, double hz);

}  // namespace ridgeline
