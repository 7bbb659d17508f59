// Counters wrap; that is corrected as long as somebody reads more often than they do (a minute at
// the highest power that packages have).
#include "devices/sensors/rapl.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ridgeline {
namespace {

constexpr double update_s = 1e-3;  // of the counter (Intel SDM volume 3, "RAPL interfaces")

class Rapl final : public PowerSensor {
 public:
  Rapl(SystemRoot root, const std::vector<std::string>& packages) : root_(std::move(root)) {
    facts_ = {fmt::format("RAPL, {} package{}", packages.size(), packages.size() > 1 ? "s" : ""),
              update_s, 0};
    for (const std::string& folder : packages)
      zones_.push_back({folder, number(root_, folder + "/max_energy_range_uj").value_or(0), 0, 0});
    for (Zone& zone : zones_) zone.last_uj = counter(zone);
  }

  const SensorFacts& facts() const override { return facts_; }

  PowerReading read() override {
    double total_uj = 0;
    for (Zone& zone : zones_) {
      const double now_uj = counter(zone);
      if (now_uj < zone.last_uj) {
        if (zone.range_uj <= 0)
          throw SensorError(zone.folder, "the energy counter wrapped, and its range cannot be read",
                            "sudo chmod a+r /" + zone.folder + "/max_energy_range_uj");
        zone.total_uj += zone.range_uj;
      }
      zone.total_uj += now_uj - zone.last_uj;
      zone.last_uj = now_uj;
      total_uj += zone.total_uj;
    }
    return {.energy_j = 1e-6 * total_uj};
  }

 private:
  struct Zone {
    std::string folder;
    double range_uj = 0, last_uj = 0, total_uj = 0;
  };

  double counter(const Zone& zone) const {
    const auto value = number(root_, zone.folder + "/energy_uj");
    if (!value) throw SensorError(zone.folder, "the energy counter does not answer any more");
    return *value;
  }

  SystemRoot root_;
  std::vector<Zone> zones_;
  SensorFacts facts_;
};

}  // namespace

std::vector<std::string> rapl_packages(const SystemRoot& root) {
  std::vector<std::string> packages;
  for (const std::string& name : names_in(root, "sys/class/powercap"))
    if (name.starts_with("intel-rapl:") && std::ranges::count(name, ':') == 1)
      packages.push_back("sys/class/powercap/" + name);
  return packages;
}

std::unique_ptr<PowerSensor> open_rapl(const SystemRoot& root, std::string& why) {
  const std::vector<std::string> packages = rapl_packages(root);
  if (packages.empty()) {
    why = "no RAPL energy counters here";
    return nullptr;
  }
  for (const std::string& package : packages)
    if (!number(root, package + "/energy_uj")) {
      why = "the RAPL energy counters may not be read";
      return nullptr;
    }
  return std::make_unique<Rapl>(root, packages);
}

}  // namespace ridgeline
