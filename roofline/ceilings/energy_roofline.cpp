// Picks each roof's terms out of the ceilings and computes what follows from them, once for the
// values and once per draw. Error messages name missing inputs in the catalog's terms.
#include "roofline/ceilings/energy_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/statistics.h"
#include "base/units.h"
#include "roofline/ceilings/names.h"

namespace ridgeline {
namespace {

Source weakest(std::initializer_list<Source> sources) { return std::max(sources); }

template <class Row, class Wanted>
const Row* find_row(const std::vector<Row>& rows, const Wanted& wanted) {
  const auto found = std::find_if(rows.begin(), rows.end(), wanted);
  return found == rows.end() ? nullptr : &*found;
}

// The slowest bandwidth: a fitted usable bandwidth counts if it is below the datasheet's peak.
const Bandwidth* dram_of(const Ceilings& ceilings, Processor processor) {
  const Bandwidth* slowest = nullptr;
  for (const Bandwidth& each : ceilings.bandwidths)
    if (each.processor == processor && each.level == Level::dram &&
        each.direction == Direction::read && each.bytes_per_s > 0 &&
        (!slowest || each.bytes_per_s < slowest->bytes_per_s))
      slowest = &each;
  return slowest;
}

const ByteEnergy* byte_energy_of(const Ceilings& ceilings, Processor processor) {
  return find_row(ceilings.byte_energies, [&](const ByteEnergy& each) {
    return each.processor == processor && each.level == Level::dram;
  });
}

const FlopEnergy* flop_energy_of(const Ceilings& ceilings, const Peak& peak) {
  return find_row(ceilings.flop_energies, [&](const FlopEnergy& each) {
    return each.processor == peak.processor && each.unit == peak.unit && each.dtype == peak.dtype;
  });
}

// Dense peaks, fastest first, with only the fastest unit of each dtype.
std::vector<Peak> dense_peaks(const Ceilings& ceilings, Processor processor) {
  std::vector<Peak> peaks;
  for (const Peak& peak : ceilings.peaks)
    if (peak.processor == processor && !peak.sparse && peak.flops_per_s > 0) peaks.push_back(peak);
  std::stable_sort(peaks.begin(), peaks.end(),
                   [](const Peak& a, const Peak& b) { return a.flops_per_s > b.flops_per_s; });
  std::set<DType> seen;
  peaks.erase(std::remove_if(peaks.begin(), peaks.end(),
                             [&](const Peak& peak) { return !seen.insert(peak.dtype).second; }),
              peaks.end());
  return peaks;
}

// The inputs of one roof, from one set of ceilings.
struct Inputs {
  const Peak* peak = nullptr;
  const FlopEnergy* flop = nullptr;
  const Bandwidth* dram = nullptr;
  const ByteEnergy* byte = nullptr;
  const ConstantPower* busy = nullptr;

  EnergyTerms terms(const OperatingPoint& point) const {
    return {peak->flops_per_s,    dram->bytes_per_s, flop->joule_per_flop,
            byte->joule_per_byte, busy->power_w,     point.cap_w};
  }
};

Inputs inputs_of(const Ceilings& ceilings, const Peak& peak) {
  return {&peak, flop_energy_of(ceilings, peak), dram_of(ceilings, peak.processor),
          byte_energy_of(ceilings, peak.processor),
          ceilings.busy_power ? &*ceilings.busy_power : nullptr};
}

// The same roof in another draw; none if the constant power reaches the cap.
std::optional<EnergyTerms> drawn_terms(const Ceilings& draw, const Peak& like) {
  const Peak* peak = find_row(draw.peaks, [&](const Peak& each) {
    return each.processor == like.processor && each.unit == like.unit && each.dtype == like.dtype &&
           each.accumulate == like.accumulate && !each.sparse;
  });
  if (!peak) return std::nullopt;
  const Inputs inputs = inputs_of(draw, *peak);
  if (!inputs.flop || !inputs.dram || !inputs.byte || !inputs.busy) return std::nullopt;
  const EnergyTerms terms = inputs.terms(draw.point);
  if (terms.cap_w && *terms.cap_w <= terms.constant_power_w) return std::nullopt;
  return terms;
}

Estimate spread(const std::function<double(const EnergyTerms&)>& function, const EnergyTerms& terms,
                const std::vector<EnergyTerms>& draws, Source source) {
  std::vector<double> drawn;
  for (const EnergyTerms& each : draws) drawn.push_back(function(each));
  return interval_of_draws(function(terms), drawn, source);
}

// None if the function has no value for the terms; draws without a value are skipped.
std::optional<Estimate> spread_optional(
    const std::function<std::optional<double>(const EnergyTerms&)>& function,
    const EnergyTerms& terms, const std::vector<EnergyTerms>& draws, Source source) {
  if (!function(terms)) return std::nullopt;
  std::vector<double> drawn;
  for (const EnergyTerms& each : draws)
    if (const auto value = function(each)) drawn.push_back(*value);
  return interval_of_draws(*function(terms), drawn, source);
}

EnergyRoof roof_of(const Inputs& inputs, const OperatingPoint& point,
                   const std::vector<EnergyTerms>& draws) {
  const Source flops = inputs.peak->source, bytes = inputs.dram->source, flop = inputs.flop->source,
               byte = inputs.byte->source, busy = inputs.busy->source;
  const Source all = weakest({flops, bytes, flop, byte, busy});
  EnergyRoof roof;
  roof.name =
      datasheet_roof_name(inputs.peak->processor, inputs.peak->dtype, inputs.peak->unit, false);
  roof.unit = inputs.peak->unit;
  roof.dtype = inputs.peak->dtype;
  roof.accumulate = inputs.peak->accumulate;
  roof.terms = inputs.terms(point);
  const auto value = [&](const auto& function, Source source) {
    return spread(function, roof.terms, draws, source);
  };
  roof.flops_per_s = value([](const EnergyTerms& t) { return t.flops_per_s; }, flops);
  roof.joule_per_flop = value([](const EnergyTerms& t) { return t.joule_per_flop; }, flop);
  roof.time_balance = value(time_balance, weakest({flops, bytes}));
  roof.energy_balance = spread_optional(energy_balance, roof.terms, draws, weakest({flop, byte}));
  roof.half_efficiency_balance = value(half_efficiency_balance, all);
  roof.limit_flop_per_joule = value(limit_flop_per_joule, weakest({flops, flop, busy}));
  roof.peak_power_w = value(peak_power_w, all);
  roof.capped = capped_range(roof.terms);
  roof.race_to_halt = spread_optional(race_to_halt_ratio, roof.terms, draws, all);
  return roof;
}

[[noreturn]] void fail_missing(const Ceilings& ceilings, Processor processor) {
  std::string missing;
  const auto lacks = [&](bool there, const char* what) {
    if (!there) (missing += missing.empty() ? "" : ", ") += what;
  };
  lacks(!dense_peaks(ceilings, processor).empty(), "compute peaks");
  lacks(dram_of(ceilings, processor), "DRAM bandwidth");
  lacks(std::any_of(ceilings.flop_energies.begin(), ceilings.flop_energies.end(),
                    [&](const FlopEnergy& each) { return each.processor == processor; }),
        "energy per FLOP");
  lacks(byte_energy_of(ceilings, processor), "energy per byte");
  lacks(ceilings.busy_power.has_value(), "power while a kernel runs");
  if (missing.empty()) missing = "energy per FLOP of any unit that has a peak";
  throw Error(ceilings.device, "no energy roofline, since nothing is known of its " + missing,
              "leave out --energy", ExitCode::incomplete);
}

void choose_main(EnergyRoofline& roofline, std::optional<DType> dtype) {
  const DType wanted = dtype.value_or(DType::fp32);
  std::string known;
  for (std::size_t i = 0; i < roofline.roofs.size(); ++i) {  // fastest first
    const DType each = roofline.roofs[i].dtype;
    if (each == wanted) {
      roofline.main = i;
      return;
    }
    if (known.find(to_string(each)) == std::string::npos)
      known += (known.empty() ? "" : ", ") + std::string(to_string(each));
  }
  if (dtype)
    throw usage_error("--dtype",
                      "no roof of " + std::string(to_string(*dtype)) + " has a known energy",
                      "known: " + known);
}

}  // namespace

EnergyRoofline energy_roofline_of(const Ceilings& ceilings, std::span<const Ceilings> draws,
                                  const EnergyRooflineOptions& options) {
  EnergyRoofline roofline;
  roofline.machine = options.machine;
  roofline.profile = options.profile;
  roofline.disturbed = options.disturbed;
  roofline.mode = ceilings.point;
  roofline.processor =
      dense_peaks(ceilings, Processor::gpu).empty() ? Processor::cpu : Processor::gpu;

  const auto peaks = dense_peaks(ceilings, roofline.processor);
  for (const Peak& peak : peaks) {
    const Inputs inputs = inputs_of(ceilings, peak);
    if (!inputs.dram || !inputs.byte || !inputs.busy) fail_missing(ceilings, roofline.processor);
    if (!inputs.flop) continue;
    if (ceilings.point.cap_w && *ceilings.point.cap_w <= inputs.busy->power_w)
      throw Error(ceilings.point.label,
                  fmt::format("the cap of {} is not above the {} that any kernel takes ({})",
                              format_si(*ceilings.point.cap_w, "W"),
                              format_si(inputs.busy->power_w, "W"), to_string(inputs.busy->source)),
                  "choose a higher cap", ExitCode::infeasible);
    std::vector<EnergyTerms> drawn;
    for (const Ceilings& draw : draws)
      if (const auto terms = drawn_terms(draw, peak)) drawn.push_back(*terms);
    roofline.roofs.push_back(roof_of(inputs, ceilings.point, drawn));
    if (roofline.roofs.size() > 1) continue;
    const auto shared = [&](const auto& function, Source source) {
      return spread(function, roofline.roofs.front().terms, drawn, source);
    };
    roofline.bytes_per_s =
        shared([](const EnergyTerms& t) { return t.bytes_per_s; }, inputs.dram->source);
    roofline.joule_per_byte =
        shared([](const EnergyTerms& t) { return t.joule_per_byte; }, inputs.byte->source);
    roofline.constant_power_w =
        shared([](const EnergyTerms& t) { return t.constant_power_w; }, inputs.busy->source);
  }
  if (roofline.roofs.empty()) fail_missing(ceilings, roofline.processor);

  if (ceilings.idle_power) {
    std::vector<double> drawn;
    for (const Ceilings& draw : draws)
      if (draw.idle_power) drawn.push_back(draw.idle_power->power_w);
    roofline.idle_power_w =
        interval_of_draws(ceilings.idle_power->power_w, drawn, ceilings.idle_power->source);
  }
  choose_main(roofline, options.dtype);
  return roofline;
}

std::optional<ExpectedEnergy> expected_beside(const EnergyRoofline& measured,
                                              const EnergyRoofline& expected) {
  const EnergyRoof& like = measured.main_roof();
  for (const EnergyRoof& roof : expected.roofs) {
    if (roof.unit != like.unit || roof.dtype != like.dtype) continue;
    ExpectedEnergy beside{roof.flops_per_s.value,          expected.bytes_per_s.value,
                          roof.joule_per_flop.value,       expected.joule_per_byte.value,
                          expected.constant_power_w.value, std::nullopt};
    if (expected.idle_power_w) beside.idle_power_w = expected.idle_power_w->value;
    return beside;
  }
  return std::nullopt;
}

std::vector<EnergySample> energy_curve(const EnergyTerms& terms, double low_flop_per_byte,
                                       double high_flop_per_byte) {
  constexpr double per_decade = 16;
  const int steps = std::max(
      1,
      static_cast<int>(std::ceil(std::log10(high_flop_per_byte / low_flop_per_byte) * per_decade)));
  std::set<double> intensities{low_flop_per_byte, high_flop_per_byte};
  for (int i = 1; i < steps; ++i)
    intensities.insert(low_flop_per_byte * std::pow(high_flop_per_byte / low_flop_per_byte,
                                                    static_cast<double>(i) / steps));
  const auto corner = [&](double intensity) {
    if (intensity > low_flop_per_byte && intensity < high_flop_per_byte)
      intensities.insert(intensity);
  };
  corner(time_balance(terms));
  if (const auto range = capped_range(terms)) {
    corner(range->low);
    corner(range->high);
  }
  std::vector<EnergySample> samples;
  for (const double intensity : intensities)
    samples.push_back({intensity, 1 / time_per_flop_s(terms, intensity),
                       1 / energy_per_flop_j(terms, intensity), power_w(terms, intensity)});
  return samples;
}

IntensityRange intensity_range(std::span<const EnergyRoofline> rooflines) {
  constexpr double room = 4;  // beyond the outermost balance point
  double least = INFINITY, most = 0;
  const auto include = [&](double intensity) {
    if (!(intensity > 0)) return;
    least = std::min(least, intensity);
    most = std::max(most, intensity);
  };
  for (const EnergyRoofline& roofline : rooflines)
    for (const EnergyRoof& roof : roofline.roofs) {
      include(roof.time_balance.value);
      include(roof.half_efficiency_balance.value);
      if (&roof == &roofline.roofs[roofline.main] && roof.energy_balance)
        include(roof.energy_balance->value);
    }
  const auto power_of_ten = [](double exponent) { return std::pow(10.0, exponent); };
  return {power_of_ten(std::floor(std::log10(least / room))),
          power_of_ten(std::ceil(std::log10(most * room)))};
}

}  // namespace ridgeline
