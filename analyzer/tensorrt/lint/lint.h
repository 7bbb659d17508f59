// Lint: what costs an engine time needlessly. Rules are rows, one file each; they see the layers,
// who reads what each layer writes, and what a layer costs. They know no machine: times are
// measured or predicted elsewhere.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/tensorrt/engine.h"
#include "analyzer/tensorrt/layer_cost.h"
#include "analyzer/tensorrt/lint/wiring.h"
#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline::tensorrt {

// What rules look at: an engine at its sizes (kernels.h).
struct LintSubject {
  LintSubject(const Engine& judged, std::vector<LayerCost> layer_costs,
              std::optional<Source> times);

  const Engine& engine;
  Wiring wiring;
  std::vector<LayerCost> costs;  // one per layer
  std::optional<Source> time_source;
  std::vector<std::size_t> judged;  // indices of layers that do something, in order

  const EngineLayer& layer(std::size_t index) const { return engine.layers[index]; }
  std::optional<double> time_s(std::size_t index) const { return costs[index].time_s; }
  // The part of a layer's time that goes with this part of its bytes.
  std::optional<double> time_share_s(std::size_t index, double bytes) const;
};

struct FindingLayer {
  std::size_t layer = 0;
  std::optional<double> lost_s;
  std::optional<double> lost_bytes;
  std::string detail;  // "fp32 → int8", "3 input channels"; may be empty

  friend bool operator==(const FindingLayer&, const FindingLayer&) = default;
};

// One cause with one remedy.
struct Finding {
  std::string_view rule;
  std::string what;                   // "conversions between fp16 and int8"; of all its layers
  std::string remedy;                 // likewise
  std::vector<FindingLayer> layers;   // the largest loss first
  std::optional<double> lost_s;       // of all layers; absent without times, or if it is not known
  std::optional<double> lost_bytes;   // moved needlessly, or more than necessary
  Source source = Source::predicted;  // of lost_s: measured if whole layers would go

  friend bool operator==(const Finding&, const Finding&) = default;
};

// What a rule cannot judge without.
enum class LintNeeds { nothing, times, times_and_machine };

struct LintRule {
  std::string_view name;     // as --fail-on takes it: "unfused-pointwise"
  std::string_view summary;  // what it looks for, one line
  LintNeeds needs;
  std::vector<Finding> (*check)(const LintSubject& subject);
};

std::span<const LintRule> lint_rules();

struct SkippedRule {
  std::string_view rule;
  std::string why;  // "needs --times"
};

struct LintReport {
  static constexpr std::string_view schema = "ridgeline.lint/1";
  std::string path, version, device;  // of the engine; the latter two may be empty
  std::string machine;                // whose roofs apply; empty: none
  std::size_t layers = 0;             // judged
  std::optional<double> time_s;       // of all of them
  std::optional<Source> time_source;
  std::vector<Finding> findings;  // most time lost first, then most bytes
  std::vector<SkippedRule> skipped;
  std::vector<std::string> layer_names;  // of the engine, by index
  std::vector<std::string> notes;
};

LintReport lint(const LintSubject& subject);

Json to_json(const LintReport& report);

}  // namespace ridgeline::tensorrt
