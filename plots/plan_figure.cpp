// Tens of thousands of modes: of those that would share a spot of the picture, one is drawn.
#include "plots/plan_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "planner/pareto.h"

namespace ridgeline {
namespace {

constexpr double spots_x = 340, spots_y = 230;

class PlanBuilder {
 public:
  PlanBuilder(const PlanProblem& problem, const PlanResult& result)
      : problem_(problem), sweep_(result.sweep), plan_(result.plan) {}

  Figure build() {
    if (!plan_.chosen.energy_j)
      throw Error("--svg", "nothing is known of the power of " + plan_.run.machine,
                  "without energy there is no such picture", ExitCode::incomplete);
    figure_.title = fmt::format("Modes for {} on {}, {}", plan_.run.network, plan_.run.machine,
                                to_string(plan_.run.runtime));
    set_axes();
    add_zones();
    add_modes();
    add_front();
    add_stock();
    add_choice();
    figure_.caption = caption();
    figure_.description = fmt::format(
        "Energy per sample against latency of {} choices on logarithmic axes; the choice is {}, "
        "batch {}, {}.",
        plan_.run.choices, name_of(plan_.chosen), plan_.chosen.batch,
        to_string(plan_.chosen.dtype));
    return std::move(figure_);
  }

 private:
  const Objective& objective() const { return plan_.run.objective; }

  std::optional<XY> place_of(std::size_t row) const {
    const Service service = service_at(problem_, sweep_, row, objective());
    if (!std::isfinite(service.latency_s) || !(service.energy_j > 0)) return std::nullopt;
    return XY{service.latency_s, service.energy_j};
  }

  bool is_shown(std::size_t row) const {
    const PlanMode& mode = problem_.modes.modes[sweep_.mode_of(row)];
    return mode.is_choice(problem_.modes.reach) || mode.stock;
  }

  void set_axes() {
    Interval x{INFINITY, 0}, y{INFINITY, 0};
    for (std::size_t row = 0; row < sweep_.costs.size(); ++row) {
      const auto at = is_shown(row) ? place_of(row) : std::nullopt;
      if (!at) continue;
      x = {std::min(x.low, at->x), std::max(x.high, at->x)};
      y = {std::min(y.low, at->y), std::max(y.high, at->y)};
    }
    for (const Limit& limit : objective().limits)  // a limit just outside is worth showing
      if (limit.kind == LimitKind::latency && limit.bound < 3 * x.high)
        x.high = std::max(x.high, limit.bound);
    constexpr double room = 1.12;
    figure_.x = {"Latency of a batch", "s", Scale::log, x.low / room, x.high * room, true};
    if (objective().arrivals) figure_.x.title = "Latency of a sample";
    figure_.y = {"Energy per sample", "J", Scale::log, y.low / room, y.high * room, true};
  }

  // With one batch and without idle time, limits of power and rate are lines of the picture too.
  bool has_one_batch() const {
    return !objective().arrivals &&
           std::all_of(problem_.variants.begin(), problem_.variants.end(), [&](const auto& other) {
             return other.batch == problem_.variants.front().batch;
           });
  }

  void forbid_right_of(double latency_s, const std::string& name) {
    const double left = std::max(latency_s, figure_.x.low);
    if (left >= figure_.x.high) return;
    figure_.zones.push_back({name,
                             {{left, figure_.y.low},
                              {figure_.x.high, figure_.y.low},
                              {figure_.x.high, figure_.y.high},
                              {left, figure_.y.high}},
                             Ink::grey});
  }

  void forbid_above(double energy_j, const std::string& name) {
    const double bottom = std::max(energy_j, figure_.y.low);
    if (bottom >= figure_.y.high) return;
    figure_.zones.push_back({name,
                             {{figure_.x.low, bottom},
                              {figure_.x.high, bottom},
                              {figure_.x.high, figure_.y.high},
                              {figure_.x.low, figure_.y.high}},
                             Ink::grey});
  }

  // More energy per sample than `power_w` draws in the time: above a line of slope one.
  void forbid_power_above(double sample_power_w, const std::string& name) {
    const Axis &x = figure_.x, &y = figure_.y;
    const double from = std::max(x.low, y.low / sample_power_w);
    const double to = std::min(x.high, y.high / sample_power_w);
    if (from >= to) {
      if (sample_power_w * x.high <= y.low) forbid_above(y.low, name);
      return;
    }
    std::vector<XY> outline{{x.low, std::max(y.low, sample_power_w * x.low)},
                            {from, sample_power_w * from},
                            {to, sample_power_w * to},
                            {to, y.high},
                            {x.low, y.high}};
    figure_.zones.push_back({name, std::move(outline), Ink::grey});
  }

  void add_zones() {
    const double batch = static_cast<double>(problem_.variants.front().batch);
    for (const Limit& limit : objective().limits) {
      const std::string name = "beyond " + limit.text;
      if (limit.kind == LimitKind::latency) forbid_right_of(limit.bound, name);
      if (limit.kind == LimitKind::energy) forbid_above(limit.bound, name);
      if (!has_one_batch()) continue;
      if (limit.kind == LimitKind::throughput) forbid_right_of(limit.bound * batch, name);
      if (limit.kind == LimitKind::slowdown && problem_.variants.size() == 1)
        forbid_right_of(sweep_.fastest_s.front() * (1 + limit.bound), name);
      if (limit.kind == LimitKind::power || limit.kind == LimitKind::peak_power ||
          limit.kind == LimitKind::battery)
        forbid_power_above(limit.bound / batch, name);
    }
  }

  void add_modes() {
    Series series{"modes", {}, {Ink::sky, Dash::solid, 0, Marker::speck}, {}};
    std::set<std::pair<int, int>> taken;
    const auto spot = [](const Axis& axis, double value, double spots) {
      return static_cast<int>(std::log(value / axis.low) / std::log(axis.high / axis.low) * spots);
    };
    for (std::size_t row = 0; row < sweep_.costs.size(); ++row) {
      if (!problem_.modes.modes[sweep_.mode_of(row)].is_choice(problem_.modes.reach)) continue;
      const auto at = place_of(row);
      if (at &&
          taken.emplace(spot(figure_.x, at->x, spots_x), spot(figure_.y, at->y, spots_y)).second)
        series.points.push_back(*at);
    }
    figure_.legend.push_back({"a mode", series.style});
    figure_.series.push_back(std::move(series));
  }

  void add_front() {
    Series series{"front", {}, {Ink::blue, Dash::solid, 1.6, Marker::none}, {}};
    for (const std::size_t row : energy_front(problem_, sweep_, objective()))
      series.points.push_back(*place_of(row));
    figure_.legend.push_back({"front", series.style});
    figure_.series.push_back(std::move(series));
  }

  // With the batch and type of the choice, so that they compare.
  void add_stock() {
    Series series{"stock modes", {}, {Ink::orange, Dash::solid, 0, Marker::diamond}, {}};
    for (std::size_t mode = 0; mode < problem_.modes.modes.size(); ++mode) {
      if (!problem_.modes.modes[mode].stock) continue;
      const auto at = place_of(sweep_.row(variant(), mode));
      if (!at) continue;
      series.points.push_back(*at);
      figure_.labels.push_back({problem_.modes.modes[mode].point.label,
                                "",
                                LabelPlace::beside,
                                *at,
                                {},
                                Ink::orange,
                                false});
    }
    if (series.points.empty()) return;
    figure_.legend.push_back({"stock mode", series.style});
    figure_.series.push_back(std::move(series));
  }

  void add_choice() {
    const Service service =
        service_of({plan_.chosen.time_s.value, plan_.chosen.power_w->value,
                    plan_.chosen.period ? plan_.chosen.period->idle_w.value_or(0) : 0},
                   plan_.chosen.batch, objective());
    const XY at{service.latency_s, service.energy_j};
    const Series series{"choice", {at}, {Ink::vermillion, Dash::solid, 0, Marker::star}, {}};
    // The blanks keep the label off the star, which is larger than other marks.
    figure_.labels.push_back(
        {"\u00a0\u00a0choice", "", LabelPlace::beside, at, {}, Ink::vermillion, true});
    figure_.legend.push_back({"choice", series.style});
    figure_.series.push_back(series);
  }

  std::size_t variant() const {
    for (std::size_t i = 0; i < problem_.variants.size(); ++i)
      if (problem_.variants[i].batch == plan_.chosen.batch &&
          problem_.variants[i].dtype == plan_.chosen.dtype)
        return i;
    return 0;
  }

  std::string caption() const {
    std::string text = fmt::format(
        "Choice: {}, batch {}, {}: {}, {}, {}.", plan_.chosen.request, plan_.chosen.batch,
        to_string(plan_.chosen.dtype), format_seconds(plan_.chosen.time_s.value),
        format_si(plan_.chosen.power_w->value, "W"), format_si(plan_.chosen.energy_j->value, "J"));
    std::string limits;
    for (const Limit& limit : objective().limits)
      limits += (limits.empty() ? "" : ", ") + limit.text;
    if (!limits.empty())
      text += fmt::format(" Limits: {}, to hold with a probability of {}; shaded: beyond them.",
                          limits, format_percent(objective().risk));
    return text + " Predicted; nothing was measured.";
  }

  const PlanProblem& problem_;
  const Sweep& sweep_;
  const Plan& plan_;
  Figure figure_;
};

}  // namespace

Figure plan_figure(const PlanProblem& problem, const PlanResult& result) {
  return PlanBuilder(problem, result).build();
}

}  // namespace ridgeline
