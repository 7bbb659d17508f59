// A rail that stops answering is looked for again once: its hwmon number may have changed.
#include "devices/sensors/board_sensor.h"

#include <algorithm>
#include <cmath>

#include "devices/sensors/rails.h"

namespace ridgeline {
namespace {

// The rails of these labels, in their order; fewer where some are missing.
std::vector<Rail> rails_of(const SystemRoot& root, const std::vector<std::string>& labels) {
  const std::vector<Rail> all = find_rails(root);
  std::vector<Rail> rails;
  for (const std::string& label : labels) {
    const auto found = std::ranges::find(all, label, &Rail::label);
    if (found != all.end()) rails.push_back(*found);
  }
  return rails;
}

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
      rails_ = rails_of(root_, labels_);
      if (rails_.size() == labels_.size()) total = sum(silent);
    }
    if (!total) throw SensorError("rail " + silent, "does not answer any more");
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

}  // namespace

std::unique_ptr<PowerSensor> open_board_sensor(const SystemRoot& root,
                                               const std::vector<catalog::Rail>& known,
                                               std::string& why) {
  std::vector<std::string> labels;
  for (const catalog::Rail& rail : known)
    if (rail.in_sum) labels.push_back(rail.name);
  if (labels.empty()) {
    why = "the catalog does not know which rails make up the power of this machine";
    return nullptr;
  }
  std::vector<Rail> rails = rails_of(root, labels);
  for (const std::string& label : labels)
    if (std::ranges::find(rails, label, &Rail::label) == rails.end()) {
      why = "rail " + label + " is missing or cannot be read";
      return nullptr;
    }
  return std::make_unique<BoardSensor>(root, std::move(labels), std::move(rails));
}

}  // namespace ridgeline
