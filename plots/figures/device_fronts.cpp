// Only the fronts: the modes of several devices would hide each other.
#include "plots/figures/device_fronts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/units.h"
#include "planner/pareto.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

struct DeviceFront {
  const Plan* plan;
  std::vector<XY> points;  // latency, energy
  XY choice;
  Interval x, y;  // 90 % intervals of the choice
};

// Draws of the time of a batch and of its energy; what is shown is in proportion to them.
Interval around(double shown, const Estimate& estimate) {
  if (!(estimate.value > 0)) return {shown, shown};
  return {shown * estimate.low / estimate.value, shown * estimate.high / estimate.value};
}

std::vector<DeviceFront> fronts_of(const std::vector<DevicePlan>& devices) {
  std::vector<DeviceFront> fronts;
  for (const DevicePlan& device : devices) {
    const Plan& plan = device.result.plan;
    if (!plan.chosen.service.energy_j) continue;
    DeviceFront front{
        &plan, {}, {plan.chosen.service.latency_s, *plan.chosen.service.energy_j}, {}, {}};
    front.x = around(front.choice.x, plan.rated ? plan.rated->latency_s : plan.chosen.time_s);
    front.y = around(front.choice.y, plan.rated && plan.rated->sample_energy_j
                                         ? *plan.rated->sample_energy_j
                                         : *plan.chosen.energy_j);
    for (const std::size_t row :
         energy_front(device.problem, device.result.sweep, plan.run.objective)) {
      const Service service =
          service_at(device.problem, device.result.sweep, row, plan.run.objective);
      if (std::isfinite(service.delay_s) && service.energy_j > 0)
        front.points.push_back({service.delay_s, service.energy_j});
    }
    fronts.push_back(std::move(front));
  }
  return fronts;
}

}  // namespace

Figure device_fronts_figure(const std::vector<DevicePlan>& devices) {
  const std::vector<DeviceFront> fronts = fronts_of(devices);
  if (fronts.empty())
    throw Error("--on", "no power data for any of these devices",
                "without energy there is no such picture", ExitCode::incomplete);
  Interval x{INFINITY, 0}, y{INFINITY, 0};
  const auto include = [&](const XY& at) {
    x = {std::min(x.low, at.x), std::max(x.high, at.x)};
    y = {std::min(y.low, at.y), std::max(y.high, at.y)};
  };
  for (const DeviceFront& front : fronts) {
    include(front.choice);
    include({front.x.low, front.y.low});
    include({front.x.high, front.y.high});
    for (const XY& at : front.points) include(at);
  }
  Figure figure;
  Panel panel;
  constexpr double room = 1.15;
  const Plan& first = *fronts.front().plan;
  panel.x = {first.training ? "Time of an epoch" : "Latency",
             "s",
             Scale::log,
             x.low / room,
             x.high * room,
             true};
  panel.y = {first.training ? "Energy per epoch" : "Energy per sample",
             "J",
             Scale::log,
             y.low / room,
             y.high * room,
             true};
  choose_prefix(panel.x);
  choose_prefix(panel.y);
  static constexpr std::array<Ink, 6> inks{Ink::blue,   Ink::vermillion, Ink::green,
                                           Ink::purple, Ink::orange,     Ink::sky};
  static constexpr std::array<Dash, 4> dashes{Dash::solid, Dash::long_dash, Dash::dash_dot,
                                              Dash::dotted};
  std::string choices;
  for (std::size_t i = 0; i < fronts.size(); ++i) {
    const DeviceFront& front = fronts[i];
    const Ink ink = inks[i % inks.size()];
    const Style style{ink, dashes[i % dashes.size()], 1.8, Marker::none};
    panel.series.push_back({"front of " + front.plan->run.machine, front.points, style, {}});
    panel.series.push_back({"choice for " + front.plan->run.machine,
                            {front.choice},
                            {ink, Dash::solid, 0, Marker::star},
                            {front.y},
                            {},
                            {front.x}});
    panel.labels.push_back({"\u00a0\u00a0" + name_of(front.plan->chosen),
                            "",
                            LabelPlace::beside,
                            front.choice,
                            {},
                            ink,
                            true});
    figure.legend.push_back({front.plan->run.machine, style});
    choices += fmt::format("{}{}: {}, {}, {}", i == 0 ? "" : "; ", front.plan->run.machine,
                           name_of(front.plan->chosen), format_seconds(front.choice.x),
                           format_si(front.choice.y, "J"));
  }
  figure.legend.push_back(
      {"choice, with 90\u00a0% intervals", {Ink::black, Dash::solid, 0, Marker::star}});
  figure.title = fmt::format("Modes for {} on {} devices, {}", first.run.network, fronts.size(),
                             to_string(first.run.runtime));
  figure.caption = "Lines: the modes that no other mode beats in both. Choices: " + choices +
                   ". A stock mode that meets the limits is chosen before custom clocks. "
                   "Predicted; nothing was measured.";
  figure.description =
      fmt::format("Pareto fronts of {} devices in latency and energy.", fronts.size());
  figure.panels.push_back(std::move(panel));
  return figure;
}

}  // namespace ridgeline
