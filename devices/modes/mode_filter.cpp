// Every condition is about one knob, so that a filter only shortens the axes of a grid.
// Values are read by parse_mode_request: there is one grammar.
#include "devices/modes/mode_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "devices/modes/clock_table.h"

namespace ridgeline {
namespace {

constexpr std::array<std::pair<std::string_view, Comparison>, 5> comparisons{
    {{">=", Comparison::at_least},
     {"<=", Comparison::at_most},
     {">", Comparison::above},
     {"<", Comparison::below},
     {"=", Comparison::equal}}};

// The knob's number in a request that names nothing else.
std::pair<ModeKnob, double> knob_value(const ModeRequest& request, const std::string& item,
                                       const std::string& where) {
  if (request.gpu_hz) return {ModeKnob::gpu, *request.gpu_hz};
  if (request.memory_hz) return {ModeKnob::memory, *request.memory_hz};
  if (request.cpu_hz) return {ModeKnob::cpu, *request.cpu_hz};
  if (request.cpu_cores) return {ModeKnob::cores, *request.cpu_cores};
  if (request.gpu_units) return {ModeKnob::units, *request.gpu_units};
  throw usage_error(where,
                    fmt::format("{}: these modes have no power cap to choose by", quote(item)),
                    "choose by gpu, emc, cpu, cores or sm");
}

ModeCondition parse_condition(std::string_view item, const std::string& where) {
  const std::size_t at = item.find_first_of("<>=");
  if (at == std::string_view::npos)
    throw usage_error(where, fmt::format("{} is not a condition", quote(item)),
                      "write for example 'gpu>=600MHz,emc=max'; use --mode for a mode by name");
  ModeCondition condition;
  condition.text = item;
  const std::string word(item.substr(0, at));
  std::string_view value = item.substr(at);
  for (const auto& [sign, comparison] : comparisons)
    if (value.starts_with(sign)) {
      condition.comparison = comparison;
      value.remove_prefix(sign.size());
      break;
    }
  while (true) {
    const std::size_t slash = value.find('/');
    const std::string one(value.substr(0, slash));
    const bool is_end = one == "max" || one == "min";
    // The end of an axis needs the knob alone: any value that it takes will do.
    const bool is_count = word == "cores" || word == "sm";
    const std::string text = word + "=" + (is_end ? (is_count ? "1" : "1GHz") : one);
    const auto [knob, number] = knob_value(parse_mode_request(text, where), condition.text, where);
    condition.knob = knob;
    if (is_end)
      condition.values.emplace_back(one == "max" ? AxisEnd::highest : AxisEnd::lowest);
    else
      condition.values.emplace_back(number);
    if (slash == std::string_view::npos) break;
    value.remove_prefix(slash + 1);
  }
  if (condition.values.size() > 1 && condition.comparison != Comparison::equal)
    throw usage_error(where, fmt::format("{}: a list of values goes with =", quote(item)));
  return condition;
}

bool holds(Comparison comparison, double value, double limit) {
  switch (comparison) {
    case Comparison::at_least:
      return value >= limit;
    case Comparison::at_most:
      return value <= limit;
    case Comparison::above:
      return value > limit;
    case Comparison::below:
      return value < limit;
    case Comparison::equal:
      return value == limit;
  }
  return false;
}

// SMs that the masks of a grid leave on, ascending.
std::vector<int> unit_counts(const ModeGrid& grid) {
  std::vector<int> counts;
  for (const MaskGrid& mask : grid.masks)
    if (mask.gpu_units) counts.push_back(*mask.gpu_units);
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

// A limit as a number: max and min are ends of the whole axis.
template <class T>
double limit_of(const std::variant<double, AxisEnd>& value, const std::vector<T>& axis) {
  const AxisEnd* end = std::get_if<AxisEnd>(&value);
  if (!end) return std::get<double>(value);
  return static_cast<double>(*end == AxisEnd::highest ? axis.back() : axis.front());
}

template <class T>
void keep(std::vector<T>& axis, Comparison comparison, const std::vector<double>& limits) {
  std::erase_if(axis, [&](T value) {
    return std::none_of(limits.begin(), limits.end(), [&](double limit) {
      return holds(comparison, static_cast<double>(value), limit);
    });
  });
}

std::string clocks_text(const std::vector<double>& clocks) {
  if (clocks.empty()) return "no source states these clocks";
  if (clocks.size() == 1) return "the only known clock is " + clock_text(clocks.front());
  return fmt::format("the clocks go from {} to {}", clock_text(clocks.front()),
                     clock_text(clocks.back()));
}

// Shortens the axes of a grid, one condition after the other.
class Filtering {
 public:
  Filtering(const ModeGrid& grid, const ModeFilter& filter, const std::string& where)
      : grid_(grid), filter_(filter), where_(where), chosen_(grid) {}

  ModeGrid run(const std::string& device) {
    for (const ModeCondition& condition : filter_) apply(device, condition);
    return std::move(chosen_);
  }

 private:
  void apply(const std::string& device, const ModeCondition& condition) {
    switch (condition.knob) {
      case ModeKnob::gpu:
        return shorten_clocks(&MaskGrid::gpu_hz, {device, "gpu", where_}, condition);
      case ModeKnob::memory:
        return shorten_clocks(&MaskGrid::memory_hz, {device, "emc", where_}, condition);
      case ModeKnob::cpu:
        return shorten_clocks(&MaskGrid::cpu_hz, {device, "cpu", where_}, condition);
      case ModeKnob::cores:
        return shorten_cores(condition);
      case ModeKnob::units:
        return choose_masks(condition);
    }
  }

  [[noreturn]] void fail_empty(const std::string& have) const {
    std::vector<std::string_view> texts;
    for (const ModeCondition& condition : filter_) texts.push_back(condition.text);
    throw Error(where_, fmt::format("no mode has {}", fmt::join(texts, ",")), have,
                ExitCode::infeasible);
  }

  // The clocks are the same for all masks, and so are the notes about rounding.
  void shorten_clocks(std::vector<double> MaskGrid::*axis, const ClockAsker& asker,
                      const ModeCondition& condition) {
    const std::vector<double>& all = grid_.masks.front().*axis;
    if (all.empty()) fail_empty(clocks_text(all));
    catalog::ClockDomain table;
    for (const double clock : all) table.steps.push_back({clock, {}});
    table.complete = true;
    std::vector<double> limits;
    for (const auto& value : condition.values) {
      const double wanted = limit_of(value, all);
      const bool is_on_table = (wanted >= all.front() || same_clock(wanted, all.front())) &&
                               (wanted <= all.back() || same_clock(wanted, all.back()));
      if (condition.comparison != Comparison::equal)
        limits.push_back(wanted);
      else if (is_on_table)
        limits.push_back(lockable_clock(table, wanted, asker, chosen_.notes));
    }
    for (MaskGrid& mask : chosen_.masks) {
      keep(mask.*axis, condition.comparison, limits);
      if ((mask.*axis).empty()) fail_empty(clocks_text(all));
    }
  }

  void shorten_cores(const ModeCondition& condition) {
    const std::vector<int>& all = grid_.masks.front().cpu_cores;
    if (all.empty()) fail_empty("no source states how many cores it has");
    std::vector<double> limits;
    for (const auto& value : condition.values) limits.push_back(limit_of(value, all));
    for (MaskGrid& mask : chosen_.masks) {
      keep(mask.cpu_cores, condition.comparison, limits);
      if (mask.cpu_cores.empty())
        fail_empty(fmt::format("it has {} to {} cores", all.front(), all.back()));
    }
  }

  void choose_masks(const ModeCondition& condition) {
    std::vector<int> all = unit_counts(grid_);
    if (all.empty()) fail_empty("no source states how many SMs its modes have");
    std::vector<double> limits;
    for (const auto& value : condition.values) limits.push_back(limit_of(value, all));
    std::vector<int> chosen = all;
    keep(chosen, condition.comparison, limits);
    for (MaskGrid& mask : chosen_.masks)
      if (!mask.gpu_units || !std::binary_search(chosen.begin(), chosen.end(), *mask.gpu_units))
        mask.is_empty = true;
    if (chosen_.size() == 0) fail_empty(fmt::format("its modes have {} SMs", fmt::join(all, ", ")));
  }

  const ModeGrid& grid_;
  const ModeFilter& filter_;
  const std::string& where_;
  ModeGrid chosen_;
};

template <class T>
bool satisfies(const ModeCondition& condition, const std::vector<T>& axis,
               std::optional<double> value) {
  if (!value || axis.empty()) return false;
  return std::any_of(condition.values.begin(), condition.values.end(), [&](const auto& limit) {
    const double number = limit_of(limit, axis);
    return condition.comparison == Comparison::equal ? same_clock(*value, number)
                                                     : holds(condition.comparison, *value, number);
  });
}

}  // namespace

ModeFilter parse_mode_filter(std::string_view text, const std::string& where) {
  ModeFilter filter;
  for (const std::string_view condition : split(text, ','))
    filter.push_back(parse_condition(condition, where));
  return filter;
}

ModeGrid filtered(const catalog::Device& device, const ModeGrid& grid, const ModeFilter& filter,
                  const std::string& where) {
  return Filtering(grid, filter, where).run(device.id);
}

bool matches(const ModeGrid& grid, const ModeFilter& filter, const OperatingPoint& point) {
  const MaskGrid& axes = grid.masks.front();
  const auto number = [](std::optional<int> count) {
    return count ? std::optional<double>(*count) : std::nullopt;
  };
  return std::all_of(filter.begin(), filter.end(), [&](const ModeCondition& condition) {
    switch (condition.knob) {
      case ModeKnob::gpu:
        return satisfies(condition, axes.gpu_hz, point.gpu_hz);
      case ModeKnob::memory:
        return satisfies(condition, axes.memory_hz, point.memory_hz);
      case ModeKnob::cpu:
        return satisfies(
            condition, axes.cpu_hz,
            point.cpu_hz.empty() ? std::nullopt : std::optional<double>(point.cpu_hz.front()));
      case ModeKnob::cores:
        return satisfies(condition, axes.cpu_cores, number(point.cpu_cores));
      case ModeKnob::units:
        return satisfies(condition, unit_counts(grid), number(point.gpu_units));
    }
    return false;
  });
}

}  // namespace ridgeline
