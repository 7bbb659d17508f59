// Analysis: the work of a network, layer by layer and in total: a Graph, counted. Every layer has a
// row; totals are the sums of the rows. The JSON form is ridgeline.analysis/1.
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
#include "analyzer/kernel_times.h"
#include "analyzer/training/summary.h"
#include "base/demand.h"
#include "base/json_fwd.h"
#include "base/run_memory.h"
#include "base/runtime.h"
#include "base/work.h"

namespace ridgeline {

// The counting rules; numbers are meaningless without them.
enum class Rules { ridgeline, pagoda };

template <>
struct TokenTable<Rules> {
  static constexpr std::string_view noun = "rule set";
  static constexpr std::array<std::pair<Rules, std::string_view>, 2> rows{
      {{Rules::ridgeline, "ridgeline"}, {Rules::pagoda, "pagoda"}}};
};

// The unit that a layer needs.
enum class ComputeClass {
  matrix,  // products for a matrix unit
  vector,  // arithmetic, but none for a matrix unit
  memory,  // moves data only
  none,    // a view, or folded or absorbed
  unknown  // operator without a rule
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
  std::string op;  // as the file names it
  OpClass op_class = OpClass::other;
  ComputeClass compute_class = ComputeClass::none;
  std::string_view dtype;  // of its arithmetic; of its first output if it has none
  std::span<const Tensor*const> inputs, outputs;  // in Analysis::network
  Work work;                                      // × repeats
  double causally_masked_macs = 0;
  double repeats = 1;
  Standing standing = Standing::counted;
  Pass pass = Pass::forward;
  ShapeSource shapes = ShapeSource::fixed;
  std::vector<std::string> unsized;  // tensors whose bytes are missing in `work`
  std::string note;                  // explanation, if one is needed
  std::string module;                // that it belongs to, "layer1.0.conv1"; empty if unknown
  // Of kernels that a file lists: the nodes that they came from, if known, and the measured time of
  // one run, mean and median.
  std::vector<std::string> sources;
  std::optional<double> time_s, median_s;
};

struct Totals {
  Work work;
  double params = 0;           // elements of distinct parameters
  double parameter_bytes = 0;  // as stored
  double table_bytes = 0;      // of constants that layers read and training would not change
  std::size_t layers = 0;
};

// Owns what the rows of an analysis point to; copies of the analysis share it.
struct CountedNetwork {
  Graph graph;  // names of layers have moved into the rows
  std::vector<const Tensor*> tensors;
};

struct Analysis {
  static constexpr std::string_view schema = "ridgeline.analysis/1";
  ModelSource model;
  std::optional<std::int64_t> batch;  // of the first input
  Rules rules = Rules::ridgeline;
  std::string rule_options;  // in the syntax of --rules: "training,matmul_seq=8"
  std::string weights_file;  // replaces entries of the default table; empty: none
  std::shared_ptr<const CountedNetwork> network;
  std::span<const Tensor*const> inputs, outputs;
  std::vector<AnalysisRow> rows;
  std::vector<AnalysisRow> alternatives;  // of branches not counted in the totals
  Totals totals;
  std::vector<UnknownOperator> unknown;
  std::vector<std::string> warnings;
  // The runtime whose kernels the rows are; absent: the network's layers.
  std::optional<Runtime> runtime;
  std::vector<Demand> demands;              // if a runtime is given
  std::vector<FusionSaving> fusion;         // difference between the layers and these kernels
  std::optional<TrainingSummary> training;  // if a training step is analysed
  std::optional<RunMemory> memory;          // of one inference, of the kernels if there are any
  std::optional<KernelTimes> times;         // if they were given; those of the rows are there
  std::optional<NodeMapping> mapping;       // of listed kernels to an ONNX file, if it was given
};

// Moves names and tensors from the graph into the rows: pass a graph that is no longer needed.
Analysis analyze(Graph graph, const OpWeights& weights = default_weights());

// Also lowers for a runtime, whose kernels become the rows or accompany the layers; each is counted
// once.
enum class AnalyzedRows { layers, kernels };
Analysis analyze(Graph graph, Runtime runtime, AnalyzedRows rows,
                 const OpWeights& weights = default_weights());

// The kernels that a file lists, as rows. They are counted already.
Analysis analyze(ChosenKernels kernels);

void sum_rows(Analysis& analysis);  // recomputes the totals' work after rows changed

// FLOP and integer operations per byte; nothing if no byte is moved or some are unknown.
std::optional<double> intensity(const Work& work);
std::optional<double> intensity(const AnalysisRow& row);

// Shape of a row's first output: "1x64x112x112", "?" if unknown.
std::string output_text(const AnalysisRow& row);

// Shape source of the least certain row that is counted.
ShapeSource least_sure_shapes(const Analysis& analysis);

// The JSON form, with groups of rows if given.
struct RowGroup;
void write_json(std::ostream& out, const Analysis& analysis,
                const std::vector<RowGroup>* groups = nullptr);

Json shape_json(const Tensor& tensor);  // null if unknown

// As an integer if the amount is one and a double holds it exactly.
Json amount_json(double amount);

// The members that rows, groups and totals share: macs … weight_bytes.
void add_amounts(Json& json, const Work& work, Rules rules);

}  // namespace ridgeline
