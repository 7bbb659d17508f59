// Tens of thousands of modes: of those that would share a spot of the picture, one is drawn.
#include "plots/figures/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "planner/pareto.h"
#include "planner/periodic.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

constexpr double spots_x = 340, spots_y = 230;

class PlanPicture {
 public:
  PlanPicture(const PlanProblem& problem, const PlanResult& result, ColourKnob knob)
      : problem_(problem), sweep_(result.sweep), plan_(result.plan), knob_(knob) {}

  Figure build() {
    if (!plan_.chosen.energy_j)
      throw Error("--svg", "no power data for " + plan_.run.machine,
                  "without energy there is no such picture", ExitCode::incomplete);
    const std::string what = plan_.training ? "training " : "";
    const std::string beside =
        plan_.concurrent ? "training " + plan_.concurrent->run.network + " beside " : "";
    figure_.title = fmt::format("Modes for {}{}{} on {}, {}", beside, what, plan_.run.network,
                                plan_.run.machine, to_string(plan_.run.runtime));
    set_axes();
    add_zones();
    add_modes();
    add_front();
    add_stock();
    add_choice();
    figure_.caption = caption();
    figure_.description = fmt::format(
        "{} against {} of {} choices on logarithmic axes; the choice is {}, batch {}, {}.",
        panel_.y.title, panel_.x.title, plan_.run.choices, name_of(plan_.chosen),
        plan_.chosen.batch, to_string(plan_.chosen.dtype));
    figure_.panels.push_back(std::move(panel_));
    return std::move(figure_);
  }

 private:
  const Objective& objective() const { return plan_.run.objective; }

  std::optional<XY> place_of(std::size_t row) const {
    return place_of(service_at(problem_, sweep_, row, objective()));
  }

  bool is_both() const { return problem_.scenario == Scenario::concurrent; }

  std::optional<XY> place_of(const Service& service) const {
    if (!std::isfinite(service.delay_s) || !(service.energy_j > 0)) return std::nullopt;
    if (is_both()) return XY{service.mean_power_w, 1 / service.sample_s};
    return XY{service.delay_s, service.energy_j};
  }

  bool is_shown(std::size_t row) const {
    const CandidateMode& mode = problem_.candidates.modes[sweep_.mode_of(row)];
    return mode.is_eligible(problem_.candidates.reach) || mode.stock;
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
      if (limit.kind == x_limit() && limit.bound < 3 * x.high)
        x.high = std::max(x.high, limit.bound);
    if (const auto latest = latest_s(); latest && *latest < 3 * x.high)
      x.high = std::max(x.high, *latest);
    // An interval that is wider than the modes would leave no room for them: it is cut.
    const Choice choice = chosen_place();
    constexpr double most_room = 1.3;
    const auto include = [](Interval& range, const Interval& bar) {
      range = {std::clamp(bar.low, range.low / most_room, range.low),
               std::clamp(bar.high, range.high, range.high * most_room)};
    };
    include(x, choice.x);
    include(y, choice.y);
    constexpr double room = 1.12;
    panel_.x = {"Latency of a batch", "s", Scale::log, x.low / room, x.high * room, true};
    panel_.y = {"Energy per sample", "J", Scale::log, y.low / room, y.high * room, true};
    if (objective().arrivals) panel_.x.title = "Latency of a sample";
    if (plan_.training) {
      panel_.x.title = "Time of an epoch";
      panel_.y.title = "Energy per epoch";
    } else if (is_both()) {
      panel_.x.title = "Mean power";
      panel_.x.unit = "W";
      panel_.y.title = "Trained samples";
      panel_.y.unit = "/s";
    }
    choose_prefix(panel_.x);
    if (!is_both()) choose_prefix(panel_.y);
  }

  // The latency at which a batch is done just before the next one is complete, if samples arrive
  // evenly: beyond it work piles up.
  std::optional<double> latest_s() const {
    if (problem_.scenario != Scenario::inference || problem_.host.is_given()) return std::nullopt;
    if (!objective().arrivals || objective().arrivals->at_random) return std::nullopt;
    if (!has_equal_batches()) return std::nullopt;
    const std::int64_t batch = problem_.variants.front().batch;
    const double period_s = static_cast<double>(batch) / objective().arrivals->per_s;
    return latency_at_rate(period_s, batch, *objective().arrivals, objective().latency_quantile);
  }

  LimitKind x_limit() const {
    if (is_both()) return LimitKind::power;
    return plan_.training ? LimitKind::epoch_time : LimitKind::latency;
  }

  // With one batch and without idle time, limits of power and rate are lines of the picture too.
  bool has_one_batch() const {
    return problem_.scenario == Scenario::inference && !objective().arrivals && has_equal_batches();
  }

  bool has_equal_batches() const {
    return std::all_of(problem_.variants.begin(), problem_.variants.end(), [&](const auto& other) {
      return other.batch == problem_.variants.front().batch;
    });
  }

  void forbid_right_of(double latency_s, const std::string& name) {
    const double left = std::max(latency_s, panel_.x.low);
    if (left >= panel_.x.high) return;
    panel_.zones.push_back({name,
                            {{left, panel_.y.low},
                             {panel_.x.high, panel_.y.low},
                             {panel_.x.high, panel_.y.high},
                             {left, panel_.y.high}},
                            Ink::grey});
  }

  void forbid_above(double energy_j, const std::string& name) {
    const double bottom = std::max(energy_j, panel_.y.low);
    if (bottom >= panel_.y.high) return;
    panel_.zones.push_back({name,
                            {{panel_.x.low, bottom},
                             {panel_.x.high, bottom},
                             {panel_.x.high, panel_.y.high},
                             {panel_.x.low, panel_.y.high}},
                            Ink::grey});
  }

  // More energy per sample than `power_w` draws in the time: above a line of slope one.
  void forbid_power_above(double sample_power_w, const std::string& name) {
    const Axis &x = panel_.x, &y = panel_.y;
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
    panel_.zones.push_back({name, std::move(outline), Ink::grey});
  }

  void add_zones() {
    const double batch = static_cast<double>(problem_.variants.front().batch);
    for (const Limit& limit : objective().limits) {
      const std::string name = "beyond " + limit.text;
      if (is_both()) {
        if (limit.kind == LimitKind::power || limit.kind == LimitKind::battery)
          forbid_right_of(limit.bound, name);
        continue;
      }
      if (limit.kind == LimitKind::epoch_time) forbid_right_of(limit.bound, name);
      if (limit.kind == LimitKind::training_time)
        forbid_right_of(limit.bound / problem_.training.epochs.value_or(1), name);
      if (plan_.training && (limit.kind == LimitKind::power || limit.kind == LimitKind::battery))
        forbid_power_above(limit.bound, name);
      if (plan_.training && limit.kind == LimitKind::throughput)
        forbid_right_of(limit.bound * problem_.training.dataset.samples, name);
      if (limit.kind == LimitKind::latency) forbid_right_of(limit.bound, name);
      if (limit.kind == LimitKind::arrivals)
        if (const auto latest = latest_s()) forbid_right_of(*latest, name);
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

  std::optional<double> knob_hz(const OperatingPoint& point) const {
    return knob_ == ColourKnob::gpu ? point.gpu_hz : point.memory_hz;
  }

  // Clocks in up to five steps of equally many clocks, the lowest darkest; none where all modes
  // have one clock.
  std::vector<double> steps_of_the_knob() const {
    std::set<double> clocks;
    for (std::size_t mode = 0; mode < problem_.candidates.modes.size(); ++mode)
      if (const auto hz = knob_hz(problem_.candidates.modes[mode].point);
          hz && problem_.candidates.is_eligible(mode))
        clocks.insert(*hz);
    if (clocks.size() < 2) return {};
    const std::vector<double> sorted(clocks.begin(), clocks.end());
    const std::size_t count = std::min(sorted.size(), ramp.size());
    std::vector<double> tops;
    for (std::size_t i = 1; i <= count; ++i) tops.push_back(sorted[i * sorted.size() / count - 1]);
    return tops;
  }

  void add_modes() {
    const std::vector<double> tops = steps_of_the_knob();
    std::vector<Series> steps(std::max<std::size_t>(1, tops.size()));
    for (std::size_t i = 0; i < steps.size(); ++i)
      steps[i] = {"modes",
                  {},
                  {tops.empty() ? Ink::sky : ramp[i * (ramp.size() - 1) / (steps.size() - 1)],
                   Dash::solid, 0, Marker::speck},
                  {}};
    std::set<std::pair<int, int>> taken;
    const auto spot = [](const Axis& axis, double value, double spots) {
      return static_cast<int>(std::log(value / axis.low) / std::log(axis.high / axis.low) * spots);
    };
    for (std::size_t row = 0; row < sweep_.costs.size(); ++row) {
      if (!problem_.candidates.is_eligible(sweep_.mode_of(row))) continue;
      const auto at = place_of(row);
      if (!at ||
          !taken.emplace(spot(panel_.x, at->x, spots_x), spot(panel_.y, at->y, spots_y)).second)
        continue;
      const auto hz = knob_hz(mode_at(problem_, sweep_, row).point);
      std::size_t step = 0;
      while (hz && step + 1 < tops.size() && *hz > tops[step]) ++step;
      steps[step].points.push_back(*at);
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (tops.empty()) figure_.legend.push_back({"a mode", steps[i].style});
      if (!tops.empty()) {
        const std::string clock = format_hz(tops[i]);
        steps[i].name =
            fmt::format("modes with {} up to {}",
                        knob_ == ColourKnob::gpu ? "GPU clocks" : "memory clocks", clock);
        figure_.legend.push_back(
            {i == 0 ? fmt::format("mode, {} \u2264\u00a0{}",
                                  knob_ == ColourKnob::gpu ? "GPU" : "memory", clock)
                    : fmt::format("\u2264\u00a0{}", clock),
             steps[i].style});
      }
      panel_.series.push_back(std::move(steps[i]));
    }
  }

  void add_front() {
    Series series{"front", {}, {Ink::blue, Dash::solid, 1.6, Marker::none}, {}};
    for (const std::size_t row : energy_front(problem_, sweep_, objective()))
      if (!is_both()) series.points.push_back(*place_of(row));
    if (is_both()) series.points = most_training();
    figure_.legend.push_back({"front", series.style});
    panel_.series.push_back(std::move(series));
  }

  // The most training that each power buys.
  std::vector<XY> most_training() const {
    std::vector<XY> places, front;
    for (std::size_t row = 0; row < sweep_.costs.size(); ++row)
      if (problem_.candidates.is_eligible(sweep_.mode_of(row)))
        if (const auto at = place_of(row)) places.push_back(*at);
    std::sort(places.begin(), places.end(),
              [](const XY& a, const XY& b) { return a.x != b.x ? a.x < b.x : a.y > b.y; });
    for (const XY& at : places)
      if (front.empty() || at.y > front.back().y) front.push_back(at);
    return front;
  }

  // With the batch and type of the choice, so that they compare.
  void add_stock() {
    Series series{"stock modes", {}, {Ink::orange, Dash::solid, 0, Marker::diamond}, {}};
    for (std::size_t mode = 0; mode < problem_.candidates.modes.size(); ++mode) {
      if (!problem_.candidates.modes[mode].stock) continue;
      const auto at = place_of(sweep_.row(variant(), mode));
      if (!at) continue;
      series.points.push_back(*at);
      panel_.labels.push_back({problem_.candidates.modes[mode].point.label,
                               "",
                               LabelPlace::beside,
                               *at,
                               {},
                               Ink::orange,
                               false});
    }
    if (series.points.empty()) return;
    figure_.legend.push_back({"stock mode", series.style});
    panel_.series.push_back(std::move(series));
  }

  // Where the choice is, with 90 % intervals; without any where there are none.
  struct Choice {
    XY at;
    Interval x, y;
  };

  Choice chosen_place() const {
    const PlannedService& service = plan_.chosen.service;
    if (is_both()) {
      const XY at{*service.mean_power_w, service.samples_per_s};
      return {at, {at.x, at.x}, {at.y, at.y}};
    }
    const XY at{service.latency_s, *service.energy_j};
    // Draws of the time of a batch and of its energy; what is shown is in proportion to them.
    const auto around = [](double shown, const Estimate& estimate) {
      if (!(estimate.value > 0)) return Interval{shown, shown};
      return Interval{shown * estimate.low / estimate.value,
                      shown * estimate.high / estimate.value};
    };
    if (plan_.rated && plan_.rated->sample_energy_j)
      return {at, around(at.x, plan_.rated->latency_s),
              around(at.y, *plan_.rated->sample_energy_j)};
    return {at, around(at.x, plan_.chosen.time_s), around(at.y, *plan_.chosen.energy_j)};
  }

  void add_choice() {
    const Choice choice = chosen_place();
    Series series{"choice", {choice.at}, {Ink::vermillion, Dash::solid, 0, Marker::star}, {}};
    const auto shown = [](const Interval& bar, const Axis& axis) {
      return Interval{std::max(bar.low, axis.low), std::min(bar.high, axis.high)};
    };
    if (choice.x.low < choice.x.high) series.x_intervals = {shown(choice.x, panel_.x)};
    if (choice.y.low < choice.y.high) series.y_intervals = {shown(choice.y, panel_.y)};
    // The blanks keep the label off the star, which is larger than other marks.
    panel_.labels.push_back(
        {"\u00a0\u00a0choice", "", LabelPlace::beside, choice.at, {}, Ink::vermillion, true});
    figure_.legend.push_back(
        {series.x_intervals.empty() ? "choice" : "choice, with 90\u00a0% intervals", series.style});
    panel_.series.push_back(series);
  }

  // A choice that the front beats needs a word.
  std::string off_the_front() const {
    if (is_both()) return "";
    const XY at = chosen_place().at;
    constexpr double clearly = 1.01;
    bool is_beaten = false;
    for (const std::size_t row : energy_front(problem_, sweep_, objective()))
      if (const auto other = place_of(row); other && other->x <= at.x * clearly)
        is_beaten = is_beaten || other->y * clearly < at.y;
    if (!is_beaten) return "";
    if (plan_.run.leads_with_stock && plan_.chosen.stock)
      return " The choice is the best stock mode; modes on the front need clocks of their own.";
    return fmt::format(
        " Modes on the front beside it meet the limits with less than the {} asked for.",
        format_percent(objective().risk));
  }

  std::size_t variant() const {
    for (std::size_t i = 0; i < problem_.variants.size(); ++i)
      if (problem_.variants[i].batch == plan_.chosen.batch &&
          problem_.variants[i].dtype == plan_.chosen.dtype &&
          (!is_both() || problem_.variants[i].minibatch == plan_.chosen.service.minibatch))
        return i;
    return 0;
  }

  std::string caption() const {
    const PlannedService& service = plan_.chosen.service;
    const std::string run = fmt::format("Choice: {}, batch {}, {}: ", name_of(plan_.chosen),
                                        plan_.chosen.batch, to_string(plan_.chosen.dtype));
    // As plotted: of a sample, and of the batch where that is something else.
    const bool is_one = plan_.chosen.batch == 1 || plan_.training || is_both();
    const std::string busy = fmt::format(
        "{}, {}, {}", format_seconds(plan_.chosen.time_s.value),
        format_si(plan_.chosen.power_w->value, "W"),
        is_one ? format_si(plan_.chosen.energy_j->value, "J")
               : fmt::format("{} per sample, {} per batch", format_si(*service.energy_j, "J"),
                             format_si(plan_.chosen.energy_j->value, "J")));
    std::string text = run + busy + ".";
    if (plan_.rated)
      text = fmt::format("{}{}, {} on average, {} per sample, idle time included; {} while busy.",
                         run, format_seconds(service.latency_s),
                         format_si(*service.mean_power_w, "W"), format_si(*service.energy_j, "J"),
                         format_si(plan_.chosen.power_w->value, "W"));
    else if (is_both())
      text +=
          fmt::format(" Beside it {} samples per second are trained, at {} on average.",
                      format_number(service.samples_per_s), format_si(*service.mean_power_w, "W"));
    else if (plan_.training)
      text += fmt::format(" That is a minibatch; an epoch takes {} and {}.",
                          format_seconds(service.time_s), format_si(*service.energy_j, "J"));
    if (const Choice choice = chosen_place(); choice.y.low < choice.y.high && !is_both())
      text += fmt::format(" 90\u00a0% intervals: {} to {}, {} to {}.", format_seconds(choice.x.low),
                          format_seconds(choice.x.high), format_si(choice.y.low, "J"),
                          format_si(choice.y.high, "J"));
    std::string limits;
    for (const Limit& limit : objective().limits)
      limits += (limits.empty() ? "" : ", ") + limit.text;
    if (!limits.empty())
      text += fmt::format(" Limits: {}, to be met with probability {}; shaded: beyond them.",
                          limits, format_percent(objective().risk));
    return text + off_the_front() + " Predicted; nothing was measured.";
  }

  static constexpr std::array<Ink, 5> ramp{Ink::ramp_1, Ink::ramp_2, Ink::ramp_3, Ink::ramp_4,
                                           Ink::ramp_5};

  const PlanProblem& problem_;
  const Sweep& sweep_;
  const Plan& plan_;
  ColourKnob knob_;
  Figure figure_;
  Panel panel_;
};

}  // namespace

Figure plan_figure(const PlanProblem& problem, const PlanResult& result, ColourKnob knob) {
  return PlanPicture(problem, result, knob).build();
}

}  // namespace ridgeline
