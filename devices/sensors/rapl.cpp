// Counters wrap. That is corrected as long as they are read more often than they wrap: a minute at
// the highest power that packages have.
#include "devices/sensors/rapl.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ridgeline {
namespace {

constexpr double update_s = 1e-3;  // of the counter (Intel SDM volume 3, "RAPL interfaces")

std::string rapl_name(std::size_t packages) {
  return fmt::format("RAPL, {} package{}", packages, packages > 1 ? "s" : "");
}

class Rapl final : public PowerSensor {
 public:
  Rapl(SystemRoot root, const std::vector<std::string>& packages) : root_(std::move(root)) {
    facts_ = {rapl_name(packages.size()), update_s, 0};
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
    if (!value) throw SensorError(zone.folder, "the energy counter stopped responding");
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

OpenedSensor open_rapl(const SensorPlace& place) {
  const std::vector<std::string> packages = rapl_packages(place.root);
  if (packages.empty())
    return {.why_not = "no RAPL energy counters here",
            .detail = "no RAPL energy counters here (virtual machines and most Arm systems)",
            .fix = "measure on bare metal to see energy"};
  for (const std::string& package : packages)
    if (!number(place.root, package + "/energy_uj"))
      return {.why_not = "the RAPL energy counters may not be read",
              .detail = rapl_name(packages.size()) + "; only root may read it",
              .fix = "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"};
  return {.sensor = std::make_unique<Rapl>(place.root, packages),
          .detail = rapl_name(packages.size())};
}

}  // namespace ridgeline
