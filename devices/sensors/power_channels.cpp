// Files of rails stay open: a reading is one system call per file, and a chip that was renumbered
// is looked for again by its labels.
#include "devices/sensors/power_channels.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "devices/machine/identification.h"
#include "devices/sensors/nvml.h"
#include "devices/sensors/rails.h"
#include "devices/sensors/rapl.h"
#include "devices/sensors/sensors.h"

namespace ridgeline {
namespace {

constexpr double unreadable = std::numeric_limits<double>::quiet_NaN();

// A number in a file that is read again and again.
class NumberFile {
 public:
  explicit NumberFile(const std::string& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  NumberFile(NumberFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  NumberFile(const NumberFile&) = delete;
  NumberFile& operator=(const NumberFile&) = delete;
  NumberFile& operator=(NumberFile&&) = delete;
  ~NumberFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  double read() const {
    std::array<char, 32> text;
    ssize_t size = -1;
    for (int attempt = 0; attempt < 3; ++attempt) {
      size = ::pread(descriptor_, text.data(), text.size(), 0);
      if (size >= 0 || (errno != EAGAIN && errno != EINTR)) break;
    }
    double value = 0;
    if (size <= 0 || std::from_chars(text.data(), text.data() + size, value).ec != std::errc{})
      return unreadable;
    return value;
  }

 private:
  int descriptor_;
};

class RailChannels final : public PowerChannels {
 public:
  RailChannels(SystemRoot root, const std::vector<Rail>& rails,
               const std::vector<std::string>& summed)
      : root_(std::move(root)) {
    for (const Rail& rail : rails) {
      const bool in_sum = std::ranges::find(summed, rail.label) != summed.end();
      channels_.push_back({rail.label, in_sum, rail.lag_s, rail.step_w});
    }
    open(rails);
  }

  const std::string& source() const override { return source_; }
  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void read_w(double, std::vector<double>& power_w) override {
    power_w.resize(files_.size());
    bool any = false;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      power_w[i] = files_[i].power_w();
      any = any || power_w[i] == power_w[i];
    }
    // All of them gone at once: the chip has another number now.
    if (any || files_.empty()) return;
    const std::vector<Rail> all = find_rails(root_);
    std::vector<Rail> same;
    for (const PowerChannel& channel : channels_)
      if (const auto found = std::ranges::find(all, channel.label, &Rail::label);
          found != all.end())
        same.push_back(*found);
    if (same.size() != channels_.size()) return;
    open(same);
    for (std::size_t i = 0; i < files_.size(); ++i) power_w[i] = files_[i].power_w();
  }

 private:
  struct RailFiles {
    NumberFile first, second;  // mV and mA, or the power alone
    bool is_product = false;
    double unit = 1;
    double power_w() const {
      const double value = first.read();
      return is_product ? 1e-6 * value * second.read() : unit * value;
    }
  };

  void open(const std::vector<Rail>& rails) {
    files_.clear();
    for (const Rail& rail : rails) {
      const bool is_product = rail.watt.empty();
      files_.push_back({NumberFile(root_.at(rail.folder + (is_product ? rail.volt : rail.watt))),
                        NumberFile(root_.at(rail.folder + rail.ampere)), is_product,
                        rail.watt_unit});
    }
  }

  SystemRoot root_;
  std::string source_ = "rails";
  std::vector<PowerChannel> channels_;
  std::vector<RailFiles> files_;
};

// A sensor that gives one number: a card, or the packages of a CPU.
struct SingleSensor {
  std::unique_ptr<PowerSensor> sensor;
  std::string label;
};

class SensorChannels final : public PowerChannels {
 public:
  explicit SensorChannels(std::vector<SingleSensor> sensors) : sensors_(std::move(sensors)) {
    for (const SingleSensor& each : sensors_) {
      const SensorFacts& facts = each.sensor->facts();
      channels_.push_back({each.label, true, facts.lag_s, facts.step_w});
      source_ += (source_.empty() ? "" : " and ") + facts.name;
      last_.emplace_back();
    }
  }

  const std::string& source() const override { return source_; }
  const std::vector<PowerChannel>& channels() const override { return channels_; }

  void read_w(double now_s, std::vector<double>& power_w) override {
    power_w.assign(sensors_.size(), unreadable);
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      PowerReading reading;
      try {
        reading = sensors_[i].sensor->read();
      } catch (const SensorError&) {
        continue;
      }
      if (reading.power_w) power_w[i] = *reading.power_w;
      if (!reading.energy_j) continue;
      Count& last = last_[i];
      // A counter that goes back (a driver that was loaded anew) starts over.
      if (last.has && now_s > last.time_s && *reading.energy_j >= last.energy_j) {
        power_w[i] = (*reading.energy_j - last.energy_j) / (now_s - last.time_s);
        last.total_j += *reading.energy_j - last.energy_j;
      }
      last = {now_s, *reading.energy_j, last.total_j, true};
    }
  }

  std::vector<std::optional<double>> counted_j() override {
    std::vector<std::optional<double>> joules;
    for (const Count& count : last_)
      joules.push_back(count.has ? std::optional(count.total_j) : std::nullopt);
    return joules;
  }

 private:
  struct Count {
    double time_s = 0, energy_j = 0, total_j = 0;
    bool has = false;
  };
  std::string source_;
  std::vector<SingleSensor> sensors_;
  std::vector<PowerChannel> channels_;
  std::vector<Count> last_;
};

}  // namespace

OpenedChannels open_power_channels(const SensorPlace& place) {
  OpenedChannels opened;
  if (const std::vector<Rail> rails = find_rails(place.root); !rails.empty()) {
    std::vector<std::string> summed;
    for (const catalog::Rail& rail : this_device(identify(place.root), place.root).rails)
      if (rail.in_sum) summed.push_back(rail.name);
    const bool all = !summed.empty() && std::ranges::all_of(summed, [&](const std::string& label) {
      return std::ranges::find(rails, label, &Rail::label) != rails.end();
    });
    if (!all) {
      summed.clear();
      opened.notes.push_back(
          "which of these rails make up the board's power is not known: no total is shown");
    }
    opened.channels = std::make_unique<RailChannels>(place.root, rails, summed);
    return opened;
  }
  std::vector<SingleSensor> sensors;
  for (const SensorKind& kind : sensor_kinds()) {
    OpenedSensor sensor = kind.open(place);
    if (sensor.sensor) {
      sensors.push_back({std::move(sensor.sensor), kind.reads_cpu ? "CPU" : "GPU"});
      continue;
    }
    opened.why_not +=
        (opened.why_not.empty() ? "" : "; ") + std::string(kind.name) + ": " + sensor.why_not;
    if (kind.is_expected(place.root) && opened.fix.empty()) opened.fix = sensor.fix;
  }
  if (!sensors.empty()) opened.channels = std::make_unique<SensorChannels>(std::move(sensors));
  return opened;
}

}  // namespace ridgeline
