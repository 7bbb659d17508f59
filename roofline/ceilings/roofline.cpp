// Makes the roofs, slopes, ridges and points of a measured mode or of datasheet ceilings.
// Selection and arithmetic only; drawing is in plots/, JSON and CSV are in
// roofline/ceilings/roofline_json.cpp.
#include "roofline/ceilings/roofline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/units.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

// A kernel above this share of its own roof was miscounted.
constexpr double impossible_fraction = 1.02;

// A positive rate, as logarithmic axes need, from a row that is not known to be wrong.
bool drawable(Status status, const std::optional<Estimate>& rate) {
  return (status == Status::ok || status == Status::throttled) && rate && rate->low > 0;
}

// An undisturbed row beats a throttled one; otherwise the faster row wins.
template <class Ceiling>
bool better(const Ceiling& a, double a_rate, const Ceiling& b, double b_rate) {
  if (a.status != b.status) return a.status == Status::ok;
  return a_rate > b_rate;
}

// The weaker of two sources; tokens are ordered from measured to assumed.
Source weaker(Source a, Source b) { return std::max(a, b); }

// Quotient of two independently measured rates: the half-widths add in quadrature on the
// logarithmic scale.
Estimate quotient(const Estimate& a, const Estimate& b) {
  const double value = a.value / b.value;
  const double down = std::hypot(std::log(a.value / a.low), std::log(b.high / b.value));
  const double up = std::hypot(std::log(a.high / a.value), std::log(b.value / b.low));
  return {value, value * std::exp(-down), value * std::exp(up), weaker(a.source, b.source)};
}

// The attainable rate grows with both ceilings, so each bound follows from their same bound.
Estimate attainable(const Estimate& roof, const Estimate& slope, double flop_per_byte) {
  return {attainable_flops_per_s(roof.value, slope.value, flop_per_byte),
          attainable_flops_per_s(roof.low, slope.low, flop_per_byte),
          attainable_flops_per_s(roof.high, slope.high, flop_per_byte), Source::predicted};
}

// Chooses the rows of a mode that count: one thread count per processor.
class ThreadChoice {
 public:
  ThreadChoice(const ProfileMode& mode, std::optional<int> wanted) {
    for (const ComputeRow& row : mode.compute)
      if (drawable(row.status, row.flops_per_s)) counts_[row.processor].insert(row.threads);
    for (const MemoryRow& row : mode.memory)
      if (drawable(row.status, row.bytes_per_s)) counts_[row.processor].insert(row.threads);
    if (!wanted) return;
    std::set<int>& cpu = counts_[Processor::cpu];
    if (cpu.count(*wanted) == 0) {
      std::string known;
      for (const int count : cpu) known += (known.empty() ? "" : ", ") + std::to_string(count);
      throw usage_error("--threads",
                        "the profile has no rows with " + std::to_string(*wanted) + " threads",
                        known.empty() ? "" : "measured: " + known);
    }
    cpu = {*wanted};
  }

  bool takes(Processor processor, int threads) const {
    const auto found = counts_.find(processor);
    return found != counts_.end() && !found->second.empty() && *found->second.rbegin() == threads;
  }

 private:
  std::map<Processor, std::set<int>> counts_;
};

constexpr const char* held_suffix = ", held";

// The rate of a peak that was held for seconds, if it differs by more than 3 % from the burst.
std::optional<Estimate> held_rate(const std::optional<Sustained>& held, const Estimate& burst) {
  constexpr double worth_a_line = 0.03;
  if (!held || !held->rate) return std::nullopt;
  if (std::abs(held->rate->value / burst.value - 1) <= worth_a_line) return std::nullopt;
  return held->rate;
}

// The held rate of a chosen ceiling is drawn beside it.
template <class Ceiling>
void choose_held(std::vector<Ceiling>& ceilings) {
  for (Ceiling& held : ceilings)
    if (held.sustained)
      held.chosen = std::any_of(ceilings.begin(), ceilings.end(), [&](const Ceiling& burst) {
        return burst.chosen && !burst.sustained && burst.threads == held.threads &&
               burst.kernel == held.kernel;
      });
}

std::vector<Roof> collect_roofs(const ProfileMode& mode, const ThreadChoice& threads) {
  std::vector<Roof> roofs;
  for (const ComputeRow& row : mode.compute) {
    if (!drawable(row.status, row.flops_per_s) || !threads.takes(row.processor, row.threads))
      continue;
    const std::string name =
        row.processor == Processor::cpu
            ? roof_name(row.dtype, row.unit, row.isa)
            : datasheet_roof_name(row.processor, row.dtype, row.unit, row.sparse);
    roofs.push_back({name, row.processor, row.unit, row.dtype, row.accumulate, row.isa, row.kernel,
                     row.threads, row.status, row.note, false, *row.flops_per_s, row.sparse});
    roofs.back().is_ceiling = row.roof;
    if (!row.roof) roofs.back().name += ", " + row.kernel;
    if (const auto held = held_rate(row.sustained, *row.flops_per_s)) {
      roofs.push_back(roofs.back());
      roofs.back().sustained = true;
      roofs.back().flops_per_s = *held;
      roofs.back().name += held_suffix;
    }
  }
  std::stable_sort(roofs.begin(), roofs.end(), [](const Roof& a, const Roof& b) {
    return a.flops_per_s.value > b.flops_per_s.value;
  });
  std::map<std::tuple<Processor, Unit, DType, DType>, Roof*> best;
  for (Roof& roof : roofs) {
    if (roof.sparse) continue;  // twice the dense rate, but half of it is zeros
    if (roof.sustained || !roof.is_ceiling) continue;
    Roof*& slot = best[{roof.processor, roof.unit, roof.dtype, roof.accumulate}];
    if (!slot || better(roof, roof.flops_per_s.value, *slot, slot->flops_per_s.value)) slot = &roof;
  }
  for (auto& [key, roof] : best) roof->chosen = true;
  choose_held(roofs);
  return roofs;
}

std::vector<Slope> collect_slopes(const ProfileMode& mode, const ThreadChoice& threads) {
  std::vector<Slope> slopes;
  for (const MemoryRow& row : mode.memory) {
    if (!drawable(row.status, row.bytes_per_s) || !threads.takes(row.processor, row.threads))
      continue;
    slopes.push_back({slope_name(row.level, row.direction), row.processor, row.level, row.direction,
                      row.isa, row.kernel, row.threads, row.status, row.note, false,
                      *row.bytes_per_s, row.allocation});
    if (!is_usual(slopes.back())) slopes.back().name += ", " + row.allocation + " memory";
    if (const auto held = held_rate(row.sustained, *row.bytes_per_s)) {
      slopes.push_back(slopes.back());
      slopes.back().sustained = true;
      slopes.back().bytes_per_s = *held;
      slopes.back().name += held_suffix;
    }
  }
  std::stable_sort(slopes.begin(), slopes.end(), [](const Slope& a, const Slope& b) {
    return a.bytes_per_s.value > b.bytes_per_s.value;
  });
  std::map<std::pair<Processor, Level>, Slope*> best;
  for (Slope& slope : slopes) {
    if (!is_usual(slope) || slope.sustained) continue;
    Slope*& slot = best[{slope.processor, slope.level}];
    if (!slot || better(slope, slope.bytes_per_s.value, *slot, slot->bytes_per_s.value))
      slot = &slope;
  }
  for (auto& [key, slope] : best) slope->chosen = true;
  choose_held(slopes);
  return slopes;
}

// The sweep reads DRAM, so its points belong under the read slope even if it is not the fastest.
const Slope* sweep_slope(const std::vector<Slope>& slopes, Processor processor) {
  const Slope* best = nullptr;
  for (const Slope& slope : slopes)
    if (slope.processor == processor && slope.level == Level::dram &&
        slope.direction == Direction::read && is_usual(slope) && !slope.sustained &&
        (!best || better(slope, slope.bytes_per_s.value, *best, best->bytes_per_s.value)))
      best = &slope;
  return best;
}

// By default only the fastest ceiling of each kind, and the slope under the sweep points.
void keep_chosen(Roofline& roofline, const ProfileMode& mode) {
  std::set<const Slope*> under_sweep;
  for (const SweepRow& row : mode.sweep)
    under_sweep.insert(sweep_slope(roofline.slopes, row.processor));
  std::vector<Slope> slopes;
  for (const Slope& slope : roofline.slopes)
    if (slope.chosen || under_sweep.count(&slope) > 0) slopes.push_back(slope);
  roofline.slopes = std::move(slopes);
  std::vector<Roof> roofs;
  for (const Roof& roof : roofline.roofs)
    if (roof.chosen) roofs.push_back(roof);
  roofline.roofs = std::move(roofs);
}

// Makes names unique: by processor, then by accumulate type, then by kernel.
template <class Ceiling, class Suffix>
void tell_apart(std::vector<Ceiling>& ceilings, const Suffix& suffix) {
  std::map<std::string, int> uses;
  for (const Ceiling& ceiling : ceilings) ++uses[ceiling.name];
  for (Ceiling& ceiling : ceilings)
    if (uses[ceiling.name] > 1) ceiling.name = suffix(ceiling);
}

void make_names_unique(Roofline& roofline) {
  const auto by_processor = [](const auto& ceiling) {
    return upper_case(to_string(ceiling.processor)) + " " + ceiling.name;
  };
  const auto by_kernel = [](const auto& ceiling) {
    return ceiling.name + " (" + ceiling.kernel + ")";
  };
  std::set<Processor> processors;
  for (const Roof& roof : roofline.roofs) processors.insert(roof.processor);
  for (const Slope& slope : roofline.slopes) processors.insert(slope.processor);
  if (processors.size() > 1) {
    for (Roof& roof : roofline.roofs) roof.name = by_processor(roof);
    for (Slope& slope : roofline.slopes) slope.name = by_processor(slope);
  }
  tell_apart(roofline.roofs, [](const Roof& roof) {
    return roof.name + " → " + upper_case(to_string(roof.accumulate));
  });
  tell_apart(roofline.roofs, by_kernel);
  tell_apart(roofline.slopes, by_kernel);
}

// The fastest chosen roof of a dtype, on any processor unless one is named.
std::optional<std::size_t> find_roof(const Roofline& roofline, DType dtype,
                                     std::optional<Processor> processor = {},
                                     std::optional<Unit> unit = {}) {
  for (std::size_t i = 0; i < roofline.roofs.size(); ++i) {  // fastest first
    const Roof& roof = roofline.roofs[i];
    if (roof.chosen && !roof.sustained && roof.dtype == dtype &&
        (!processor || roof.processor == *processor) && (!unit || roof.unit == *unit))
      return i;
  }
  return std::nullopt;
}

std::string whose(const Roofline& roofline) {
  return is_datasheet(roofline) ? "the catalog entry" : "the profile";
}

void choose_main(Roofline& roofline, std::optional<DType> dtype) {
  roofline.main_roof = find_roof(roofline, dtype.value_or(DType::fp32));
  if (dtype && !roofline.main_roof) {
    std::set<DType> dtypes;
    for (const Roof& roof : roofline.roofs) dtypes.insert(roof.dtype);
    std::string known;
    for (const DType each : dtypes)
      known += (known.empty() ? "" : ", ") + std::string(to_string(each));
    throw usage_error(
        "--dtype", whose(roofline) + " has no roof for " + std::string(to_string(*dtype)),
        known.empty() ? "" : (is_datasheet(roofline) ? "it has " : "measured: ") + known);
  }
  for (std::size_t i = 0; i < roofline.roofs.size() && !roofline.main_roof; ++i)
    if (roofline.roofs[i].chosen && !roofline.roofs[i].sustained) roofline.main_roof = i;
  for (std::size_t i = 0; i < roofline.slopes.size() && roofline.main_roof; ++i) {
    const Slope& slope = roofline.slopes[i];
    if (slope.chosen && !slope.sustained && slope.level == Level::dram &&
        slope.processor == roofline.roofs[*roofline.main_roof].processor)
      roofline.main_slope = i;
  }
}

std::vector<Ridge> ridges_of(const Roofline& roofline) {
  std::vector<Ridge> ridges;
  for (std::size_t r = 0; r < roofline.roofs.size(); ++r)
    for (std::size_t s = 0; s < roofline.slopes.size(); ++s)
      if (roofline.roofs[r].processor == roofline.slopes[s].processor &&
          !roofline.roofs[r].sustained && !roofline.slopes[s].sustained)
        ridges.push_back(
            {r, s, quotient(roofline.roofs[r].flops_per_s, roofline.slopes[s].bytes_per_s)});
  return ridges;
}

// Fills the fields that follow from the point's intensity, rate, roof and slope.
void compare_with_roof(Point& point, const Roofline& roofline) {
  if (!point.roof || !point.slope) return;
  const Estimate& roof = roofline.roofs[*point.roof].flops_per_s;
  const Estimate& slope = roofline.slopes[*point.slope].bytes_per_s;
  const double intensity = point.flop_per_byte.value;
  point.attainable_flops_per_s = attainable(roof, slope, intensity);
  point.bound = slope.value * intensity < roof.value ? BoundBy::memory : BoundBy::compute;
  if (!point.flops_per_s) return;
  point.fraction_of_roof = quotient(*point.flops_per_s, *point.attainable_flops_per_s);
  if (point.fraction_of_roof->value <= impossible_fraction) return;
  if (point.kind == PointKind::sweep && !roofline.disturbed.empty()) {
    point.status = Status::impossible;
    if (point.note.find(" of its roof") == std::string::npos)  // `measure` writes the same note
      point.note += (point.note.empty() ? "" : "; ") +
                    format_percent(point.fraction_of_roof->value) +
                    " of its roof: the machine was disturbed";
  } else if (point.note.empty()) {
    point.note = "above the roof: check FLOP and bytes";
  }
}

void add_sweep_points(Roofline& roofline, const ProfileMode& mode, const ThreadChoice& threads) {
  for (const SweepRow& row : mode.sweep) {
    // A row without arithmetic is the read slope itself and does not fit on a log-log picture.
    // Impossible rows are shown: leaving them out would hide how disturbed the machine was.
    const Status status = row.status == Status::impossible ? Status::ok : row.status;
    if (!drawable(status, row.flops_per_s) || !threads.takes(row.processor, row.threads) ||
        !(row.flop_per_byte > 0))
      continue;
    Point point;
    point.name = upper_case(to_string(row.dtype)) + " sweep, " +
                 std::to_string(row.fma_per_element) + " FMA";
    point.kind = PointKind::sweep;
    point.processor = row.processor;
    point.dtype = row.dtype;
    point.kernel = row.kernel;
    point.status = row.status;
    point.note = row.note;
    point.flop_per_byte = exact(row.flop_per_byte, Source::measured);
    point.flops_per_s = row.flops_per_s;
    point.roof = find_roof(roofline, row.dtype, row.processor, Unit::vector);
    if (!point.roof) point.roof = find_roof(roofline, row.dtype, row.processor);
    if (const Slope* slope = sweep_slope(roofline.slopes, row.processor))
      point.slope = static_cast<std::size_t>(slope - roofline.slopes.data());
    compare_with_roof(point, roofline);
    roofline.points.push_back(std::move(point));
  }
}

void add_given_points(Roofline& roofline, const std::vector<GivenPoint>& given) {
  if (given.empty()) return;
  if (!roofline.main_roof || !roofline.main_slope)
    throw Error("--point", whose(roofline) + " has no compute roof or no DRAM row to compare with",
                is_datasheet(roofline) ? "" : "run 'ridgeline measure' without --only",
                ExitCode::incomplete);
  for (const GivenPoint& each : given) {
    Point point;
    point.name = each.name;
    point.kind = PointKind::given;
    point.roof = roofline.main_roof;
    point.slope = roofline.main_slope;
    point.processor = roofline.roofs[*point.roof].processor;
    point.dtype = roofline.roofs[*point.roof].dtype;
    point.flop_per_byte = exact(each.flop / each.bytes, Source::assumed);
    if (each.time_s) point.flops_per_s = exact(each.flop / *each.time_s, Source::assumed);
    compare_with_roof(point, roofline);
    roofline.points.push_back(std::move(point));
  }
}

// Adds a row that beats the ceiling of its kind but was not taken: throttled or impossible.
template <class Row, class Ceiling, class SameKind>
void add_left_out(std::vector<LeftOut>& left_out, const Row& row, const Estimate& rate,
                  const std::vector<Ceiling>& ceilings, Estimate Ceiling::*ceiling_rate,
                  const SameKind& same_kind, LeftOut found) {
  const Ceiling* instead = nullptr;
  for (const Ceiling& ceiling : ceilings) {
    if (!same_kind(ceiling)) continue;
    if (ceiling.kernel == row.kernel) return;  // the picture shows it
    if (ceiling.chosen) instead = &ceiling;
  }
  if (instead && rate.value <= (instead->*ceiling_rate).value) return;
  found.processor = row.processor;
  found.kernel = row.kernel;
  found.threads = row.threads;
  found.status = row.status;
  found.note = row.note;
  if (instead) found.instead = instead->name;
  left_out.push_back(std::move(found));
}

// Fast measured rows that the roofline does not show. A row on the picture is never listed here,
// whatever its status.
std::vector<LeftOut> find_left_out(const Roofline& roofline, const ProfileMode& mode,
                                   const ThreadChoice& threads) {
  std::vector<LeftOut> left_out;
  for (const ComputeRow& row : mode.compute) {
    if (!row.flops_per_s || row.sparse || row.status == Status::unsupported ||
        !threads.takes(row.processor, row.threads))
      continue;
    LeftOut found;
    found.name = row.processor == Processor::cpu
                     ? roof_name(row.dtype, row.unit, row.isa)
                     : datasheet_roof_name(row.processor, row.dtype, row.unit, row.sparse);
    found.flops_per_s = row.flops_per_s;
    found.dtype = row.dtype;
    const auto same_kind = [&](const Roof& roof) {
      return roof.processor == row.processor && roof.unit == row.unit && roof.dtype == row.dtype &&
             roof.accumulate == row.accumulate && !roof.sparse;
    };
    add_left_out(left_out, row, *row.flops_per_s, roofline.roofs, &Roof::flops_per_s, same_kind,
                 std::move(found));
  }
  for (const MemoryRow& row : mode.memory) {
    if (!row.bytes_per_s || row.status == Status::unsupported ||
        (!row.allocation.empty() && row.allocation != "device") ||
        !threads.takes(row.processor, row.threads))
      continue;
    LeftOut found;
    found.name = slope_name(row.level, row.direction);
    found.bytes_per_s = row.bytes_per_s;
    const auto same_kind = [&](const Slope& slope) {
      return slope.processor == row.processor && slope.level == row.level && is_usual(slope);
    };
    add_left_out(left_out, row, *row.bytes_per_s, roofline.slopes, &Slope::bytes_per_s, same_kind,
                 std::move(found));
  }
  return left_out;
}

// Datasheet bandwidths have no direction; the name gives the source instead.
std::string datasheet_slope_name(const Bandwidth& bandwidth) {
  const std::string level(to_string(bandwidth.level));
  return level + (bandwidth.source == Source::fitted ? " usable" : " peak");
}

template <class Ceiling>
void keep_chosen_only(std::vector<Ceiling>& ceilings) {
  ceilings.erase(std::remove_if(ceilings.begin(), ceilings.end(),
                                [](const Ceiling& ceiling) { return !ceiling.chosen; }),
                 ceilings.end());
}

// The GPU if only its rows are shown; both names if both are shown.
std::string shown_machine(const Roofline& roofline, const Machine& machine) {
  const auto of_gpu = [](const auto& ceiling) { return ceiling.processor == Processor::gpu; };
  const auto all_of_gpu = [&](const auto& ceilings) {
    return std::all_of(ceilings.begin(), ceilings.end(), of_gpu);
  };
  const bool any = std::any_of(roofline.roofs.begin(), roofline.roofs.end(), of_gpu) ||
                   std::any_of(roofline.slopes.begin(), roofline.slopes.end(), of_gpu);
  if (machine.gpus.empty() || !any) return machine.name;
  const std::string& gpu = machine.gpus.front().name;
  return all_of_gpu(roofline.roofs) && all_of_gpu(roofline.slopes) ? gpu
                                                                   : machine.name + " and " + gpu;
}

}  // namespace

std::string left_out_text(const LeftOut& row) {
  const std::string rate = row.flops_per_s
                               ? format_si(row.flops_per_s->value, rate_unit(*row.dtype))
                               : format_si(row.bytes_per_s->value, "B/s");
  std::string text = row.name + " " + rate + " (" + std::string(to_string(row.status)) +
                     (row.note.empty() ? ")" : ": " + row.note + ")");
  return row.instead.empty() ? text : text + "; instead " + row.instead;
}

double attainable_flops_per_s(double roof_flops_per_s, double slope_bytes_per_s,
                              double flop_per_byte) {
  return std::min(roof_flops_per_s, slope_bytes_per_s * flop_per_byte);
}

Roofline roofline_of(const ProfileMode& mode, const Machine& machine,
                     const RooflineOptions& options) {
  Roofline roofline;
  roofline.mode = mode.mode;
  roofline.date = mode.conditions.started;
  roofline.profile = options.profile;
  roofline.complete = mode.conditions.complete;
  roofline.disturbed = disturbance(mode.conditions);

  const ThreadChoice threads(mode, options.threads);
  roofline.roofs = collect_roofs(mode, threads);
  roofline.slopes = collect_slopes(mode, threads);
  if (roofline.roofs.empty() && roofline.slopes.empty())
    throw Error(options.profile, "no compute or memory row was measured",
                "run 'ridgeline measure' to the end", ExitCode::incomplete);
  if (!options.all) keep_chosen(roofline, mode);
  roofline.machine = shown_machine(roofline, machine);
  make_names_unique(roofline);
  choose_main(roofline, options.dtype);
  roofline.ridges = ridges_of(roofline);
  roofline.left_out = find_left_out(roofline, mode, threads);
  add_sweep_points(roofline, mode, threads);
  add_given_points(roofline, options.points);
  return roofline;
}

Roofline roofline_of(const Ceilings& ceilings, const std::optional<Estimate>& usable,
                     const std::string& machine, const RooflineOptions& options) {
  Roofline roofline;
  roofline.machine = machine;
  roofline.mode = ceilings.point;
  if (options.threads)
    throw usage_error("--threads", "datasheet ceilings are those of the whole processor",
                      "leave it out");
  const auto of_gpu = [](const auto& ceiling) { return ceiling.processor == Processor::gpu; };
  const bool has_gpu = std::any_of(ceilings.peaks.begin(), ceilings.peaks.end(), of_gpu) ||
                       std::any_of(ceilings.bandwidths.begin(), ceilings.bandwidths.end(), of_gpu);
  const auto is_main = [&](Processor processor) {
    return processor == (has_gpu ? Processor::gpu : Processor::cpu);
  };
  for (const Peak& peak : ceilings.peaks) {
    Roof roof;
    roof.name = datasheet_roof_name(peak.processor, peak.dtype, peak.unit, peak.sparse);
    roof.processor = peak.processor;
    roof.unit = peak.unit;
    roof.dtype = peak.dtype;
    roof.accumulate = peak.accumulate;
    roof.sparse = peak.sparse;
    roof.chosen = is_main(peak.processor) && !peak.sparse;
    roof.flops_per_s = exact(peak.flops_per_s, peak.source);
    roofline.roofs.push_back(std::move(roof));
  }
  for (const Bandwidth& bandwidth : ceilings.bandwidths) {
    Slope slope;
    slope.name = datasheet_slope_name(bandwidth);
    slope.processor = bandwidth.processor;
    slope.level = bandwidth.level;
    slope.direction = bandwidth.direction;
    slope.chosen = is_main(bandwidth.processor);
    slope.bytes_per_s = bandwidth.source == Source::fitted && usable
                            ? *usable
                            : exact(bandwidth.bytes_per_s, bandwidth.source);
    roofline.slopes.push_back(std::move(slope));
  }
  if (roofline.roofs.empty() && roofline.slopes.empty())
    throw Error(ceilings.device, "no source states its rates or clocks",
                "see 'ridgeline devices " + ceilings.device + " --missing'", ExitCode::incomplete);
  std::stable_sort(roofline.roofs.begin(), roofline.roofs.end(), [](const Roof& a, const Roof& b) {
    return a.flops_per_s.value > b.flops_per_s.value;
  });
  std::stable_sort(
      roofline.slopes.begin(), roofline.slopes.end(),
      [](const Slope& a, const Slope& b) { return a.bytes_per_s.value > b.bytes_per_s.value; });
  if (!options.all) {
    keep_chosen_only(roofline.roofs);
    keep_chosen_only(roofline.slopes);
  }
  make_names_unique(roofline);
  choose_main(roofline, options.dtype);
  roofline.ridges = ridges_of(roofline);
  add_given_points(roofline, options.points);
  return roofline;
}

}  // namespace ridgeline
