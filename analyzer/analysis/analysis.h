// Analysis: what a network asks for, layer by layer and in total: a Graph, counted.
// Every layer has a row; totals are the sums of the rows. The JSON form is ridgeline.analysis/1.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/count/op_weights.h"
#include "analyzer/frontend.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/graph/graph.h"
#include "analyzer/graph/unknown_operators.h"
#include "analyzer/training/summary.h"
#include "base/demand.h"
#include "base/json_fwd.h"
#include "base/runtime.h"
#include "base/work.h"

namespace ridgeline {

// By which rules the numbers were counted; a number without them means nothing.
enum class Rules { ridgeline, pagoda };

template <>
struct TokenTable<Rules> {
  static constexpr std::string_view noun = "rule set";
  static constexpr std::array<std::pair<Rules, std::string_view>, 2> rows{
      {{Rules::ridgeline, "ridgeline"}, {Rules::pagoda, "pagoda"}}};
};

// What could run a layer.
enum class ComputeClass {
  matrix,  // its products: a matrix unit
  vector,  // it computes, but has nothing for a matrix unit
  memory,  // it only moves data
  none,    // a view, or done before the first run, or by the layer beside it
  unknown  // the operator is not described yet
};

template <>
struct TokenTable<ComputeClass> {
  static constexpr std::string_view noun = "compute class";
  static constexpr std::array<std::pair<ComputeClass, std::string_view>, 5> rows{
      {{ComputeClass::matrix, "matrix"},
       {ComputeClass::vector, "vector"},
       {ComputeClass::memory, "memory"},
       {ComputeClass::none, "none"},
       {ComputeClass::unknown, "unknown"}}};
};

struct AnalysisRow {
  std::string name;
  std::string op;  // in the file's own words
  OpClass op_class = OpClass::other;
  ComputeClass compute_class = ComputeClass::none;
  std::string_view dtype;  // in which it computes; of its first output where it does not
  std::span<const Tensor*const> inputs, outputs;  // of Analysis::network
  Work work;                                      // × repeats
  double causally_masked_macs = 0;
  double repeats = 1;
  Standing standing = Standing::counted;
  Pass pass = Pass::forward;
  ShapeSource shapes = ShapeSource::fixed;
  std::vector<std::string> unsized;  // tensors whose bytes are missing in `work`
  std::string note;                  // why it counts as it does, where that needs saying
};

struct Totals {
  Work work;
  double params = 0;           // elements of distinct parameters
  double parameter_bytes = 0;  // as stored
  std::size_t layers = 0;
};

// What the rows of an analysis point to; shared by its copies, so that theirs point to the same.
struct CountedNetwork {
  Graph graph;  // names of layers have moved into the rows
  std::vector<const Tensor*> tensors;
};

struct Analysis {
  static constexpr std::string_view schema = "ridgeline.analysis/1";
  ModelSource model;
  std::optional<std::int64_t> batch;  // of the first input
  Rules rules = Rules::ridgeline;
  std::string rule_options;  // as --rules takes them: "training,matmul_seq=8"
  std::string weights_file;  // that replaced entries of the default table; empty: none
  std::shared_ptr<const CountedNetwork> network;
  std::span<const Tensor*const> inputs, outputs;
  std::vector<AnalysisRow> rows;
  std::vector<AnalysisRow> alternatives;  // of branches that are not in the totals
  Totals totals;
  std::vector<UnknownOperator> unknown;
  std::vector<std::string> warnings;
  // Whose kernels the rows are; absent: the layers as they stand in the network.
  std::optional<Runtime> runtime;
  std::vector<Demand> demands;              // where a runtime was asked for
  std::vector<FusionSaving> fusion;         // what lies between its layers and those
  std::optional<TrainingSummary> training;  // where a training step was
};

// Names and tensors move from the graph into the rows: hand over one that is not needed any more.
Analysis analyze(Graph graph, const OpWeights& weights = default_weights());

// With the kernels of a runtime, which either are the rows or stand beside the layers; each is
// counted once.
enum class AnalyzedRows { layers, kernels };
Analysis analyze(Graph graph, Runtime runtime, AnalyzedRows rows,
                 const OpWeights& weights = default_weights());

void sum_rows(Analysis& analysis);  // makes the totals' work anew, after rows were changed

// FLOP and integer operations per byte; nothing where no byte is moved or some are unknown.
std::optional<double> intensity(const Work& work);
std::optional<double> intensity(const AnalysisRow& row);

// Of a row's first output, for its line: "1x64x112x112", "?" where it is unknown.
std::string output_text(const AnalysisRow& row);

// From sure to unsure: that of the least sure row which is counted.
ShapeSource least_sure_shapes(const Analysis& analysis);

// The JSON form; with the groups of its rows where there are any.
struct RowGroup;
void write_json(std::ostream& out, const Analysis& analysis,
                const std::vector<RowGroup>* groups = nullptr);

Json shape_json(const Tensor& tensor);  // null where it is unknown

// An amount as an integer where it is one that a double holds exactly.
Json amount_json(double amount);

// The members that rows, groups and totals have in common: macs … weight_bytes.
void add_amounts(Json& json, const Work& work, Rules rules);

}  // namespace ridgeline
