// Neighbouring modes are not measured one after the other: drift of the machine would look like an
// effect of a clock.
#include "devices/control/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include "base/units.h"
#include "devices/control/session.h"
#include "devices/modes/clock_table.h"
#include "devices/modes/mode_space.h"

namespace ridgeline::control {
namespace {

constexpr std::string_view grid_prefix = "grid:";
constexpr std::size_t most_modes = 10000;

struct Axis {
  std::string word;
  std::vector<double> values;
};

// `count` of the values, evenly spread, with the lowest and the highest.
std::vector<double> spread(const std::vector<double>& values, std::size_t count) {
  if (count >= values.size()) return values;
  if (count == 1) return {values.back()};
  std::vector<double> chosen;
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back(values[i * (values.size() - 1) / (count - 1)]);
  return chosen;
}

// The steps of a clock up to its cap.
std::vector<double> steps_of(const std::vector<double>& table, const catalog::ClockDomain* domain,
                             std::optional<double> cap_hz, const std::string& word,
                             std::vector<std::string>& notes) {
  std::vector<double> steps = !table.empty() ? table
                              : domain       ? lockable_clocks(*domain)
                                             : std::vector<double>{};
  const std::size_t all = steps.size();
  if (cap_hz)
    std::erase_if(steps, [&](double hz) { return hz > *cap_hz && !same_clock(hz, *cap_hz); });
  if (steps.size() < all)
    notes.push_back(fmt::format("{}: {} of {} steps {} above the {} that the present mode allows",
                                word, all - steps.size(), all,
                                all - steps.size() == 1 ? "is" : "are", clock_text(*cap_hz)));
  return steps;
}

std::vector<double> axis_values(const std::string& word, const World& world, const Knobs& knobs,
                                const catalog::Configuration& configuration,
                                const SweepSettings& settings, std::vector<std::string>& notes) {
  if (word == "gpu" && knobs.gpu)
    return steps_of(knobs.gpu->table_hz, &configuration.gpu, read_hz(world, knobs.gpu->max), word,
                    notes);
  if (word == "emc" && (knobs.memory_clock || knobs.memory_lock)) {
    std::optional<double> cap = memory_cap_hz(world, knobs);
    if (knobs.memory_clock) cap = read_hz(world, knobs.memory_clock->max);
    return steps_of(knobs.memory_clock ? knobs.memory_clock->table_hz : std::vector<double>{},
                    &configuration.memory, cap, word, notes);
  }
  if (word == "cpu" && !knobs.cpu_clocks.empty()) {
    const ClockKnob& clock = knobs.cpu_clocks.front();
    return steps_of(clock.table_hz,
                    configuration.cpu.empty() ? nullptr : &configuration.cpu.front(),
                    read_hz(world, clock.max, clock.unit_hz), word, notes);
  }
  if (word == "cores") {
    const std::size_t most =
        settings.cores_by_affinity ? static_cast<std::size_t>(settings.cores) : knobs.cpus.size();
    std::vector<double> counts;
    for (std::size_t i = 1; i <= most; ++i) counts.push_back(static_cast<double>(i));
    return counts;
  }
  return {};
}

double axis_number(const std::string& word, const std::string& text, const std::string& where) {
  return word == "cores" ? static_cast<double>(parse_count(text, where)) : parse_hz(text, where);
}

bool is_count(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

Axis parse_axis(std::string_view item, const World& world, const Knobs& knobs,
                const catalog::Configuration& configuration, const SweepSettings& settings,
                const std::string& where, std::vector<std::string>& notes) {
  const std::size_t equals = item.find('=');
  const std::string word(item.substr(0, equals));
  const std::string text(equals == std::string_view::npos ? "" : item.substr(equals + 1));
  if (word != "gpu" && word != "emc" && word != "cpu" && word != "cores")
    throw usage_error(where, quote(word) + " is not a knob of a grid",
                      "it has gpu, emc, cpu and cores, for example grid:gpu=5,emc=all");
  if (text.empty())
    throw usage_error(where, quote(item) + " has no steps", "write for example " + word + "=all");
  const std::vector<double> all = axis_values(word, world, knobs, configuration, settings, notes);
  if (all.empty())
    throw usage_error(where, "this machine shows no steps of " + word,
                      word == "cores" ? "" : "run ridgeline with sudo, or leave it out");
  if (text == "all") return {word, all};
  if (text == "max") return {word, {all.back()}};
  if (text == "min") return {word, {all.front()}};
  // Cores are counted: cores=4 is the number itself, as in a mode.
  if (is_count(text) && word != "cores") {
    const std::uint64_t count = parse_count(text, where);
    if (count == 0) throw usage_error(where, quote(item) + " has no steps");
    return {word, spread(all, static_cast<std::size_t>(std::min<std::uint64_t>(count, 1000)))};
  }
  Axis axis{word, {}};
  for (const std::string_view part : split(text, '/')) {
    const double wanted = axis_number(word, std::string(part), where);
    const double nearest =
        *std::ranges::min_element(all, {}, [&](double step) { return std::abs(step - wanted); });
    if (word == "cores" ? nearest != wanted : !same_clock(nearest, wanted))
      throw usage_error(where, fmt::format("{}={} is not a step of this machine", word, part),
                        word == "cores" ? fmt::format("it has {:.0f} cores", all.back())
                                        : "the nearest is " + clock_text(nearest));
    axis.values.push_back(nearest);
  }
  return axis;
}

void set_knob(ModeRequest& request, const std::string& word, double value) {
  if (word == "gpu") request.gpu_hz = value;
  if (word == "emc") request.memory_hz = value;
  if (word == "cpu") request.cpu_hz = value;
  if (word == "cores") request.cpu_cores = static_cast<int>(value);
}

std::vector<SweepMode> grid_modes(const std::vector<Axis>& axes, const std::string& where) {
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
    if (count > most_modes)
      throw usage_error(where, fmt::format("the grid has more than {} modes", most_modes),
                        "take fewer steps, for example gpu=5");
  }
  std::vector<SweepMode> modes(1);
  for (const Axis& axis : axes) {
    std::vector<SweepMode> more;
    for (const SweepMode& mode : modes)
      for (const double value : axis.values) {
        more.push_back(mode);
        set_knob(more.back().request, axis.word, value);
      }
    modes = std::move(more);
  }
  for (SweepMode& mode : modes) mode.label = to_text(mode.request);
  return modes;
}

void shuffle(std::vector<SweepMode>& modes) {
  Random random{1};
  for (std::size_t i = modes.size(); i > 1; --i) std::swap(modes[i - 1], modes[random.below(i)]);
}

}  // namespace

SweepPlan plan_sweep(const std::string& text, const World& world, const Knobs& knobs,
                     const catalog::Device& device, const catalog::Configuration& configuration,
                     const SweepSettings& settings, const std::string& where) {
  SweepPlan plan;
  std::vector<SweepMode> asked;
  if (text == "stock") {
    if (configuration.modes.empty())
      throw usage_error(where, device.id + " has no stock modes",
                        "write a grid, for example grid:cores=all");
    for (const DeviceMode& mode : stock_modes(device, configuration)) {
      SweepMode one{mode.point.label, {}};
      one.request.label = mode.point.label;
      asked.push_back(std::move(one));
    }
  } else if (text.starts_with(grid_prefix)) {
    std::vector<Axis> axes;
    for (const std::string_view item :
         split(std::string_view(text).substr(grid_prefix.size()), ','))
      axes.push_back(parse_axis(item, world, knobs, configuration, settings, where, plan.notes));
    asked = grid_modes(axes, where);
  } else {
    const char separator = text.find('=') == std::string::npos ? ',' : ';';
    for (const std::string_view item : split(text, separator)) {
      SweepMode one{trimmed(item), parse_mode_request(trimmed(item), where)};
      asked.push_back(std::move(one));
    }
  }
  for (SweepMode& mode : asked) {
    if (settings.cores_by_affinity && mode.request.label.empty()) {
      mode.threads = mode.request.cpu_cores;
      if (mode.threads && *mode.threads > settings.cores)
        throw usage_error(
            where, fmt::format("cores={}: this machine has {}", *mode.threads, settings.cores));
      mode.request.cpu_cores.reset();
    }
    try {
      const Wanted wanted = wanted_mode(knobs, device, configuration, mode.request, true, where);
      // nvpmodel moves the caps itself; everything else must be within the present ones.
      if (!wanted.nvpmodel) preview(world, wanted);
    } catch (const Error& error) {
      if (error.code() != ExitCode::infeasible) throw;
      plan.skipped.push_back({mode.label, error.cause(), error.fix()});
      continue;
    }
    plan.modes.push_back(std::move(mode));
  }
  shuffle(plan.modes);
  return plan;
}

}  // namespace ridgeline::control
