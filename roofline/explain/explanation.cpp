// Compares the rows of a prediction with the applicable ceilings and sums them up by bound and
// term.
#include "roofline/explain/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "base/units.h"
#include "base/work.h"
#include "roofline/ceilings/applicable_ceilings.h"
#include "roofline/ceilings/datasheet.h"

namespace ridgeline {
namespace {

// Excludes bytes that the prediction keeps in caches.
double bytes_to_memory(const ExplainedLayer& layer, const ApplicableCeilings& applicable) {
  for (const Term& term : layer.terms)
    if (term.name == "memory" && applicable.usable_bytes_per_s())
      return std::min(layer.bytes, term.time_s * *applicable.usable_bytes_per_s());
  return layer.bytes;
}

ExplainedLayer explained(const PredictedDemand& row, const Demand& demand,
                         const Prediction& prediction, const ApplicableCeilings& applicable) {
  ExplainedLayer layer;
  layer.name = demand.name;
  layer.op = op_class(demand.kind);
  layer.bound = row.bound;
  layer.time_s = row.time_s.value;
  if (prediction.time_s.value > 0) layer.time_share = layer.time_s / prediction.time_s.value;
  if (row.energy_j) {
    layer.energy_j = row.energy_j->value;
    if (prediction.energy_j && prediction.energy_j->value > 0)
      layer.energy_share = *layer.energy_j / prediction.energy_j->value;
  }
  layer.operations = total_operations(demand.work);
  layer.bytes = total_bytes(demand.work);
  if (layer.bytes > 0) layer.intensity = layer.operations / layer.bytes;
  layer.terms = row.terms;
  if (!(layer.time_s > 0)) return layer;
  const double memory_bytes = bytes_to_memory(layer, applicable);
  for (const CeilingTime& ceiling : applicable.times(demand.work, memory_bytes))
    layer.roofs.push_back({ceiling.name, ceiling.time_s / layer.time_s});
  std::stable_sort(layer.roofs.begin(), layer.roofs.end(),
                   [](const RoofShare& a, const RoofShare& b) { return a.share > b.share; });
  if (const auto least = applicable.roof_time_s(demand.work, memory_bytes))
    layer.roof_share = *least / layer.time_s;
  return layer;
}

void add_term(std::vector<Term>& terms, const Term& term) {
  const auto found = std::find_if(terms.begin(), terms.end(),
                                  [&](const Term& each) { return each.name == term.name; });
  if (found == terms.end()) {
    terms.push_back(term);
    return;
  }
  found->time_s += term.time_s;
  if (term.energy_j) found->energy_j = found->energy_j.value_or(0) + *term.energy_j;
}

std::vector<std::pair<BoundBy, double>> shares_by_bound(const std::vector<ExplainedLayer>& layers) {
  std::map<BoundBy, double> sums;
  for (const ExplainedLayer& layer : layers) sums[layer.bound] += layer.time_share;
  std::vector<std::pair<BoundBy, double>> shares;
  for (const auto& [bound, share] : sums)
    if (share > 0) shares.emplace_back(bound, share);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

void add_to(std::optional<double>& sum, const std::optional<double>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

// The share of several layers' roofs: the least time of all over the time of all.
struct RoofSum {
  double least_s = 0, time_s = 0;

  void add(const std::optional<double>& share, double layer_s) {
    if (!share) return;
    least_s += *share * layer_s;
    time_s += layer_s;
  }
  std::optional<double> share() const {
    return time_s > 0 ? std::optional(least_s / time_s) : std::nullopt;
  }
};

std::string bound_name(BoundBy bound) {
  return bound == BoundBy::power_cap ? "power cap" : std::string(to_string(bound));
}

}  // namespace

Explanation explain(const Prediction& prediction, std::span<const Demand> demands,
                    const Ceilings& ceilings, ExplainedRun run) {
  if (prediction.demands.size() != demands.size())
    throw Error(prediction.device, fmt::format("{} rows were predicted for {} kernels",
                                               prediction.demands.size(), demands.size()));
  Explanation explanation;
  explanation.run = std::move(run);
  explanation.device = prediction.device;
  explanation.point = prediction.point;
  explanation.runtime = prediction.runtime;
  explanation.bound = prediction.bound;
  explanation.time_s = prediction.time_s;
  explanation.energy_j = prediction.energy_j;
  explanation.power_w = prediction.power_w;
  explanation.overheads = prediction.overheads;
  explanation.unfamiliar = prediction.unfamiliar;
  const ApplicableCeilings applicable(ceilings);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    explanation.layers.push_back(
        explained(prediction.demands[i], demands[i], prediction, applicable));
    for (const Term& term : prediction.demands[i].terms) add_term(explanation.terms, term);
  }
  for (const Overhead& overhead : prediction.overheads)
    add_term(explanation.terms,
             {overhead.name, overhead.time_s,
              prediction.energy_j ? std::optional(overhead.energy_j) : std::nullopt});
  explanation.bound_shares = shares_by_bound(explanation.layers);
  explanation.ceilings = ceilings;
  return explanation;
}

std::string verdict(const Explanation& explanation) {
  double own = 0;
  std::string others;
  for (const auto& [bound, share] : explanation.bound_shares) {
    if (bound == explanation.bound)
      own = share;
    else
      others += fmt::format("{}{} {}", others.empty() ? "" : ", ", bound_name(bound),
                            format_percent(share));
  }
  constexpr double worth_saying = 0.005;
  for (const Overhead& overhead : explanation.overheads) {
    const double share = overhead.time_s / explanation.time_s.value;
    if (share >= worth_saying)
      others +=
          fmt::format("{}{} {}", others.empty() ? "" : ", ", overhead.name, format_percent(share));
  }
  std::string text = "bound by " + bound_name(explanation.bound);
  if (own > 0) text += fmt::format(": {} of the time", format_percent(own));
  return others.empty() ? text : text + "; " + others;
}

double memory_bytes(const ExplainedLayer& layer, const Explanation& explanation) {
  return bytes_to_memory(layer, ApplicableCeilings(explanation.ceilings));
}

std::vector<ExplainedLayer> grouped_layers(const Explanation& explanation,
                                           std::span<const std::string> names) {
  std::vector<ExplainedLayer> groups;
  std::vector<RoofSum> roofs, measured_roofs;
  std::vector<double> longest;  // time of the layer that gives the group its bound
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < explanation.layers.size(); ++i) {
    const ExplainedLayer& layer = explanation.layers[i];
    const auto [place, is_new] = places.try_emplace(names[i], groups.size());
    if (is_new) {
      groups.emplace_back();
      groups.back().name = names[i];
      roofs.emplace_back();
      measured_roofs.emplace_back();
      longest.push_back(-1);
    }
    const std::size_t at = place->second;
    ExplainedLayer& group = groups[at];
    if (layer.time_s > longest[at]) {
      longest[at] = layer.time_s;
      group.op = layer.op;
      group.bound = layer.bound;
    }
    group.time_s += layer.time_s;
    group.time_share += layer.time_share;
    add_to(group.energy_j, layer.energy_j);
    add_to(group.energy_share, layer.energy_share);
    add_to(group.measured_s, layer.measured_s);
    group.operations += layer.operations;
    group.bytes += layer.bytes;
    for (const Term& term : layer.terms) add_term(group.terms, term);
    roofs[at].add(layer.roof_share, layer.time_s);
    measured_roofs[at].add(layer.measured_roof_share, layer.measured_s.value_or(0));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].bytes > 0) groups[i].intensity = groups[i].operations / groups[i].bytes;
    groups[i].roof_share = roofs[i].share();
    groups[i].measured_roof_share = measured_roofs[i].share();
  }
  return groups;
}

std::vector<const ExplainedLayer*> longest_layers(const Explanation& explanation) {
  std::vector<const ExplainedLayer*> layers;
  for (const ExplainedLayer& layer :
       explanation.groups.empty() ? explanation.layers : explanation.groups)
    layers.push_back(&layer);
  const auto time = [&](const ExplainedLayer* layer) {
    return explanation.measured ? layer->measured_s.value_or(0) : layer->time_s;
  };
  std::stable_sort(
      layers.begin(), layers.end(),
      [&](const ExplainedLayer* a, const ExplainedLayer* b) { return time(a) > time(b); });
  return layers;
}

std::optional<Utilization> utilization(std::span<const Demand> demands, double time_s,
                                       const MachineModel& model, const OperatingPoint& point) {
  Work work;
  for (const Demand& demand : demands) work += demand.work;
  // All arithmetic at once, without memory.
  const auto least = ApplicableCeilings(datasheet_ceilings(model, point)).least_time(work, 0);
  if (!least || !(least->time_s > 0) || !(time_s > 0)) return std::nullopt;
  return Utilization{time_s, total_operations(work) / time_s, total_bytes(work) / time_s,
                     least->time_s / time_s, least->name};
}

std::string to_text(const Utilization& used) {
  std::string text =
      fmt::format("measured: {}: {}, {}, MFU {} of {} (datasheet)", format_seconds(used.time_s),
                  format_si(used.operations_per_s, "OP/s"), format_si(used.bytes_per_s, "B/s"),
                  format_percent(used.share, 1), used.roof);
  if (used.share > 1)
    text += "; more than the machine can do: check the time, the batch and the mode";
  return text;
}

Json to_json(const Utilization& used) {
  return {{"time_s", used.time_s},
          {"operations_per_s", used.operations_per_s},
          {"bytes_per_s", used.bytes_per_s},
          {"mfu", used.share},
          {"roof", used.roof}};
}

}  // namespace ridgeline
