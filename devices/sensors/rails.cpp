// Three layouts: hwmon with volt and ampere (INA3221, from JetPack 5 on), hwmon with watt (INA238
// of Thor's board input), iio with watt (INA3221 of JetPack 4).
#include "devices/sensors/rails.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "devices/machine/identification.h"

namespace ridgeline {
namespace {

// 512 samples of 3 channels, two conversions of 140 µs each: the setting that boards come with
// (NVIDIA DRIVE OS 7.0.3, "Power monitoring").
constexpr double usual_lag_s = 0.43;
constexpr double shunt_step_v = 40e-6;  // of the INA3221's converter (TI SBOS576)

void keep_if_readable(const SystemRoot& root, Rail rail, std::vector<Rail>& rails) {
  if (rail.label.empty() || rail.label == "NC" || !read_w(root, rail)) return;
  rails.push_back(std::move(rail));
}

void add_ina3221(const SystemRoot& root, const std::string& folder, std::vector<Rail>& rails) {
  const auto interval_ms = number(root, folder + "update_interval");
  for (int channel = 1; channel <= 3; ++channel) {
    Rail rail;
    rail.label = first_line(root, fmt::format("{}in{}_label", folder, channel)).value_or("");
    rail.chip = "INA3221";
    rail.folder = folder;
    rail.volt = fmt::format("in{}_input", channel);
    rail.ampere = fmt::format("curr{}_input", channel);
    rail.lag_s = interval_ms && *interval_ms > 0 ? 1e-3 * *interval_ms : usual_lag_s;
    const auto microohm = number(root, fmt::format("{}shunt{}_resistor", folder, channel));
    const auto millivolt = number(root, folder + rail.volt);
    if (microohm && *microohm > 0 && millivolt)
      rail.step_w = shunt_step_v / (1e-6 * *microohm) * 1e-3 * *millivolt;
    keep_if_readable(root, std::move(rail), rails);
  }
}

void add_ina238(const SystemRoot& root, const std::string& folder, std::vector<Rail>& rails) {
  Rail rail;
  rail.label = first_line(root, folder + "label").value_or("");
  rail.chip = "INA238";
  rail.folder = folder;
  rail.watt = "power1_input";
  rail.watt_unit = 1e-6;
  rail.lag_s = usual_lag_s;
  keep_if_readable(root, std::move(rail), rails);
}

// "iio:device0" or, on some releases, "iio_device".
void add_iio(const SystemRoot& root, const std::string& folder, std::vector<Rail>& rails) {
  for (int channel = 0; channel < 3; ++channel) {
    Rail rail;
    rail.label = first_line(root, fmt::format("{}rail_name_{}", folder, channel)).value_or("");
    rail.chip = "INA3221";
    rail.folder = folder;
    rail.watt = fmt::format("in_power{}_input", channel);
    rail.watt_unit = 1e-3;
    rail.lag_s = usual_lag_s;
    keep_if_readable(root, std::move(rail), rails);
  }
}

// The rails of these labels, in their order; fewer if some are missing.
std::vector<Rail> labelled(const std::vector<Rail>& all, const std::vector<std::string>& labels) {
  std::vector<Rail> rails;
  for (const std::string& label : labels) {
    const auto found = std::ranges::find(all, label, &Rail::label);
    if (found != all.end()) rails.push_back(*found);
  }
  return rails;
}

// The rails that make up the power of a board, added. A rail that stops responding is looked for
// again once: its hwmon number may have changed.
class BoardSensor final : public PowerSensor {
 public:
  BoardSensor(SystemRoot root, std::vector<std::string> labels, std::vector<Rail> rails)
      : root_(std::move(root)), labels_(std::move(labels)), rails_(std::move(rails)) {
    double square = 0;  // steps of different rails are independent of each other
    for (const Rail& rail : rails_) {
      facts_.name += (facts_.name.empty() ? rail.chip + " " : " + ") + rail.label;
      facts_.lag_s = std::max(facts_.lag_s, rail.lag_s);
      square += rail.step_w * rail.step_w;
    }
    facts_.step_w = std::sqrt(square);
  }

  const SensorFacts& facts() const override { return facts_; }

  PowerReading read() override {
    std::string silent;
    auto total = sum(silent);
    if (!total) {
      rails_ = labelled(find_rails(root_), labels_);
      if (rails_.size() == labels_.size()) total = sum(silent);
    }
    if (!total) throw SensorError("rail " + silent, "stopped responding");
    return {.power_w = *total};
  }

 private:
  std::optional<double> sum(std::string& silent) const {
    double total = 0;
    for (const Rail& rail : rails_) {
      const auto power = read_w(root_, rail);
      if (!power) {
        silent = rail.label;
        return std::nullopt;
      }
      total += *power;
    }
    return total;
  }

  SystemRoot root_;
  std::vector<std::string> labels_;
  std::vector<Rail> rails_;
  SensorFacts facts_;
};

// "INA3221: VDD_IN, VDD_SOC".
std::string listing(const std::vector<Rail>& rails) {
  std::string text;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    const bool same_chip = i > 0 && rails[i].chip == rails[i - 1].chip;
    text += (i == 0 ? "" : same_chip ? ", " : "; ");
    text += same_chip ? rails[i].label : rails[i].chip + ": " + rails[i].label;
  }
  return text;
}

}  // namespace

std::vector<Rail> find_rails(const SystemRoot& root) {
  std::vector<Rail> rails;
  for (const std::string& name : names_in(root, "sys/class/hwmon")) {
    const std::string folder = "sys/class/hwmon/" + name + '/';
    const std::string chip = first_line(root, folder + "name").value_or("");
    if (chip == "ina3221") add_ina3221(root, folder, rails);
    if (chip == "ina238") add_ina238(root, folder, rails);
  }
  const std::string driver = "sys/bus/i2c/drivers/ina3221x/";
  for (const std::string& address : names_in(root, driver))
    for (const std::string& name : names_in(root, driver + address))
      if (name.starts_with("iio:device") || name == "iio_device")
        add_iio(root, driver + address + '/' + name + '/', rails);
  return rails;
}

std::optional<double> read_w(const SystemRoot& root, const Rail& rail) {
  if (!rail.watt.empty()) {
    const auto value = number(root, rail.folder + rail.watt);
    return value ? std::optional(rail.watt_unit * *value) : std::nullopt;
  }
  const auto millivolt = number(root, rail.folder + rail.volt);
  const auto milliampere = number(root, rail.folder + rail.ampere);
  if (!millivolt || !milliampere) return std::nullopt;
  return 1e-6 * *millivolt * *milliampere;
}

OpenedSensor open_board_sensor(const SensorPlace& place) {
  const Identity identity = identify(place.root);
  if (identity.chip.empty()) return {.why_not = "not a Jetson"};
  const std::vector<Rail> all = find_rails(place.root);
  const catalog::Device device = this_device(identity, place.root);
  std::vector<std::string> labels;
  for (const catalog::Rail& rail : device.rails)
    if (rail.in_sum) labels.push_back(rail.name);
  std::string why_not;
  if (labels.empty())
    why_not = "the catalog lacks the rails that make up the power of this machine";
  for (const std::string& label : labels)
    if (why_not.empty() && std::ranges::find(all, label, &Rail::label) == all.end())
      why_not = "rail " + label + " is missing or cannot be read";
  if (all.empty())
    return {
        .why_not = why_not, .detail = "no INA3221 sensor found", .fix = "sudo modprobe ina3221"};
  if (!why_not.empty()) return {.why_not = why_not};
  std::vector<Rail> rails = labelled(all, labels);
  return {.sensor = std::make_unique<BoardSensor>(place.root, std::move(labels), std::move(rails)),
          .detail = listing(all)};
}

}  // namespace ridgeline
