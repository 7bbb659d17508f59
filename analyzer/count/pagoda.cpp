// One function per row of the rule set. All elements have four bytes, whatever their type. A node
// whose first input or output is not in the table of shapes counts nothing.
#include "analyzer/count/pagoda.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace ridgeline {
namespace {

constexpr double element_bytes = 4;

struct PagodaCount {
  Unit unit = Unit::vector;
  double flop = 0;
  double elements_read = 0, elements_written = 0;
  double parameters = 0;  // included in the reads
  std::string note;       // reason for counting nothing
};

PagodaCount skipped(std::string because) {
  PagodaCount count;
  count.note = std::move(because);
  return count;
}

double dimension_product(const Shape& shape) {
  double result = 1;
  for (const std::int64_t dimension : shape) result *= static_cast<double>(dimension);
  return result;
}

struct FunctionFlop {
  std::string_view op;
  double flop;
};
constexpr std::array<FunctionFlop, 8> function_flops{{{"Relu", 1},
                                                      {"Sigmoid", 4},
                                                      {"HardSigmoid", 4},
                                                      {"Tanh", 5},
                                                      {"HardSwish", 5},
                                                      {"Swish", 5},
                                                      {"Softmax", 7},
                                                      {"Erf", 8}}};

class PagodaRules {
 public:
  PagodaRules(const Graph& graph, const PagodaOptions& options)
      : graph_(graph),
        options_(options),
        batch_(static_cast<double>(options.batch)),
        produced_(graph.tensors.size(), false) {
    for (const Layer& layer : graph.layers)
      for (const TensorId id : layer.outputs) produced_[id] = true;
  }

  PagodaCount count(const Layer& layer) const {
    if (layer.nested) return skipped("not a node of the main graph");
    const auto rule = table().find(layer.origin);
    if (rule == table().end()) return skipped("no rule for this operator");
    const auto first = first_input(layer);
    const Shape* in = first ? shape(*first) : nullptr;
    const Shape* out = layer.outputs.empty() ? nullptr : shape(layer.outputs.front());
    if (!in) return skipped("the first input is a stored weight, or there is none");
    if (!out) return skipped("the first output has no shape");
    return (this->*rule->second)(layer, *in, *out);
  }

 private:
  using Rule = PagodaCount (PagodaRules::*)(const Layer&, const Shape&, const Shape&) const;

  static const std::map<std::string_view, Rule>& table() {
    static const std::map<std::string_view, Rule> rules = [] {
      std::map<std::string_view, Rule> map{{"Conv", &PagodaRules::convolution},
                                           {"Gemm", &PagodaRules::gemm},
                                           {"MatMul", &PagodaRules::matmul},
                                           {"BatchNormalization", &PagodaRules::batch_norm},
                                           {"MaxPool", &PagodaRules::pool},
                                           {"AveragePool", &PagodaRules::pool},
                                           {"GlobalAveragePool", &PagodaRules::global_pool},
                                           {"LSTM", &PagodaRules::lstm},
                                           {"Concat", &PagodaRules::concat},
                                           {"ConstantOfShape", &PagodaRules::constant_of_shape}};
      for (const FunctionFlop& row : function_flops) map[row.op] = &PagodaRules::function;
      for (const char* op : {"Add", "Sub", "Mul", "Div"}) map[op] = &PagodaRules::binary;
      for (const char* op : {"Transpose", "Flatten", "Identity"}) map[op] = &PagodaRules::copy;
      return map;
    }();
    return rules;
  }

  bool is_initializer(TensorId id) const { return graph_.tensors[id].stored && !produced_[id]; }

  // The table of shapes holds graph inputs and results of nodes, not stored weights.
  const Shape* shape(TensorId id) const {
    const Tensor& tensor = graph_.tensors[id];
    if (is_initializer(id) || tensor.source == ShapeSource::unknown) return nullptr;
    return &tensor.shape;
  }

  static std::optional<TensorId> first_input(const Layer& layer) {
    if (!layer.inputs.empty()) return layer.inputs.front();
    if (!layer.steering.empty()) return layer.steering.front();
    return std::nullopt;
  }

  const Shape* stored_weight(const Layer& layer) const {
    if (layer.inputs.size() < 2 || !is_initializer(layer.inputs[1])) return nullptr;
    return &graph_.tensors[layer.inputs[1]].shape;
  }

  PagodaCount convolution(const Layer& layer, const Shape& in, const Shape& out) const {
    const Shape* weight = stored_weight(layer);
    if (!weight) return skipped("the weight is not stored in the file");
    if (weight->size() != 4 || in.size() != 4 || out.size() != 4)
      return skipped("only convolutions of two dimensions have a rule");
    const auto* op = std::get_if<Convolution>(&layer.parts.front().op);
    const double groups = op ? static_cast<double>(op->groups) : 1;
    const double taps = dimension_product({(*weight)[1], (*weight)[2], (*weight)[3]});
    const double outputs = batch_ * dimension_product({(*weight)[0], out[2], out[3]});
    PagodaCount count;
    count.unit = Unit::matrix;
    count.flop = 2 * outputs * taps + outputs;
    count.parameters = dimension_product(*weight);
    count.elements_read = batch_ * groups * dimension_product({(*weight)[1], in[2], in[3]});
    count.elements_written = outputs;
    return count;
  }

  PagodaCount gemm(const Layer& layer, const Shape&, const Shape&) const {
    const Shape* weight = stored_weight(layer);
    if (!weight || weight->size() != 2) return skipped("the weight is not stored in the file");
    PagodaCount count;
    count.unit = Unit::matrix;
    count.flop = 2 * batch_ * dimension_product(*weight);
    count.parameters = dimension_product(*weight);
    count.elements_read = batch_ * static_cast<double>((*weight)[0]);
    count.elements_written = batch_ * static_cast<double>((*weight)[1]);
    return count;
  }

  PagodaCount matmul(const Layer&, const Shape& in, const Shape& out) const {
    Shape a = in, y = out;
    if (a.empty() || y.empty()) return skipped("an operand is a scalar");
    const auto length =
        options_.lstm_variant ? std::optional<std::int64_t>(32) : options_.matmul_seq;
    if (length && a.size() > 1) a[1] = *length;
    if (length) y[0] = *length;
    PagodaCount count;
    count.unit = Unit::matrix;
    count.flop = 2 * batch_ * dimension_product(y) * static_cast<double>(a.back());
    count.parameters = static_cast<double>(a.back()) * static_cast<double>(y.back());
    count.elements_read = batch_ * dimension_product(a);
    count.elements_written = batch_ * dimension_product(y);
    return count;
  }

  PagodaCount function(const Layer& layer, const Shape&, const Shape& out) const {
    const auto row =
        std::find_if(function_flops.begin(), function_flops.end(),
                     [&](const FunctionFlop& known) { return known.op == layer.origin; });
    return moved(row->flop * batch_ * dimension_product(out), dimension_product(out),
                 dimension_product(out));
  }

  PagodaCount binary(const Layer&, const Shape&, const Shape& out) const {
    return moved(batch_ * dimension_product(out), 2 * dimension_product(out),
                 dimension_product(out));
  }

  PagodaCount copy(const Layer&, const Shape& in, const Shape& out) const {
    return moved(0, dimension_product(in), dimension_product(out));
  }

  PagodaCount concat(const Layer& layer, const Shape&, const Shape& out) const {
    double elements = 0;
    int known = 0;
    for (const TensorId id : layer.inputs)
      if (const Shape* in = shape(id)) {
        elements += dimension_product(*in);
        ++known;
      }
    if (known < 2) return skipped("fewer than two inputs with a shape");
    return moved(0, elements, dimension_product(out));
  }

  PagodaCount constant_of_shape(const Layer&, const Shape&, const Shape& out) const {
    return moved(0, 0, dimension_product(out));
  }

  PagodaCount batch_norm(const Layer&, const Shape&, const Shape& out) const {
    if (out.size() < 2) return skipped("the output has no channels");
    PagodaCount count =
        moved(2 * batch_ * dimension_product(out), dimension_product(out), dimension_product(out));
    count.parameters = 2 * static_cast<double>(out[1]);
    return count;
  }

  PagodaCount pool(const Layer& layer, const Shape& in, const Shape& out) const {
    const auto* op = std::get_if<Pool>(&layer.parts.front().op);
    if (!op || in.size() != 4 || out.size() != 4)
      return skipped("only pools of two dimensions have a rule");
    const double inputs = dimension_product({in[1], in[2], in[3]});
    const double outputs = dimension_product({out[1], out[2], out[3]});
    const double taps = static_cast<double>(op->taps);
    return moved(batch_ * outputs * (layer.origin == "MaxPool" ? taps - 1 : taps), inputs, outputs);
  }

  PagodaCount global_pool(const Layer&, const Shape& in, const Shape& out) const {
    if (in.size() != 4 || out.size() < 2)
      return skipped("only pools of two dimensions have a rule");
    return moved(batch_ * dimension_product({out[1], in[2], in[3]}),
                 dimension_product({in[1], in[2], in[3]}), static_cast<double>(out[1]));
  }

  // Takes the batch from dimension 0, which holds the sequence, and ignores the batch option.
  PagodaCount lstm(const Layer& layer, const Shape& in, const Shape&) const {
    const auto* op = std::get_if<Recurrent>(&layer.parts.front().op);
    if (!op || in.size() != 3) return skipped("the input has no three dimensions");
    const double b = static_cast<double>(in[0]), i = static_cast<double>(in[2]);
    const double h = static_cast<double>(op->hidden);
    const double t = options_.lstm_variant ? 32 : 8;
    PagodaCount count;
    count.unit = Unit::matrix;
    if (options_.lstm_variant) {
      count.flop = b * t * (32 * i * h + 32 * h * h + 37 * h);
      count.elements_read = 4 * (i * h + h + t * (h * h + h)) + b * t * i;
      count.elements_written = 3 * b * t * h;
    } else {
      count.flop = b * t * (4 * i * h + 4 * h * h + 24 * h);
      count.elements_read = 4 * (i * h + h * h) + b * t * i;
      count.elements_written = b * t * h + 2 * b * h;
    }
    return count;
  }

  PagodaCount moved(double flop, double elements_in, double elements_out) const {
    PagodaCount count;
    count.flop = flop;
    count.elements_read = batch_ * elements_in;
    count.elements_written = batch_ * elements_out;
    return count;
  }

  const Graph& graph_;
  const PagodaOptions& options_;
  double batch_;
  std::vector<bool> produced_;  // by a layer; indexed by tensor
};

Work work_of(const PagodaCount& count, const PagodaOptions& options) {
  const double factor = options.training ? 3 : 1;
  Work work;
  if (count.flop > 0) add_flop(work, count.unit, DType::fp32, factor * count.flop);
  work.bytes_read = factor * count.elements_read * element_bytes;
  work.bytes_written = factor * count.elements_written * element_bytes;
  work.weight_bytes_read = factor * count.parameters * element_bytes;
  return work;
}

void replace_work(AnalysisRow& row, const PagodaCount& count, const PagodaOptions& options) {
  row.work = work_of(count, options);
  row.note = count.note;
  row.dtype = to_string(DType::fp32);
  row.unsized.clear();
  row.causally_masked_macs = 0;
}

// Pagoda stores results by name, so a later layer replaces an earlier one of the same name.
void drop_overwritten(std::vector<AnalysisRow>& rows) {
  std::map<std::string, AnalysisRow*> last;
  for (AnalysisRow& row : rows) {
    AnalysisRow*& earlier = last[row.name];
    if (earlier) {
      earlier->work = {};
      earlier->note = "a later layer of the same name takes its place";
    }
    earlier = &row;
  }
}

}  // namespace

PagodaOptions parse_pagoda_options(std::string_view text, const std::string& where) {
  PagodaOptions options;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    constexpr std::string_view length = "matmul_seq=";
    if (word == "training") {
      options.training = true;
    } else if (word == "lstm") {
      options.lstm_variant = true;
    } else if (word.starts_with(length)) {
      options.matmul_seq =
          static_cast<std::int64_t>(parse_count(word.substr(length.size()), where));
    } else {
      throw usage_error(where, quote(word) + " is not an option of the rules pagoda",
                        "it has matmul_seq=N, lstm and training");
    }
  }
  return options;
}

std::string to_text(const PagodaOptions& options) {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ",") + word; };
  if (options.matmul_seq.value_or(0) > 0) add("matmul_seq=" + std::to_string(*options.matmul_seq));
  if (options.lstm_variant) add("lstm");
  if (options.training) add("training");
  return text;
}

Analysis analyze_by_pagoda(const Graph& graph, const PagodaOptions& options) {
  Analysis analysis = analyze(graph);
  analysis.rules = Rules::pagoda;
  analysis.batch = options.batch;
  analysis.unknown.clear();
  analysis.warnings.clear();
  const PagodaRules rules(graph, options);
  std::size_t counted = 0, alternative = 0, nothing = 0;
  std::set<std::string> ops;
  for (const Layer& layer : graph.layers) {
    AnalysisRow& row = layer.standing == Standing::alternative
                           ? analysis.alternatives[alternative++]
                           : analysis.rows[counted++];
    replace_work(row, rules.count(layer), options);
    if (row.note.empty() || layer.standing != Standing::counted) continue;
    ++nothing;
    ops.insert(row.op);
  }
  drop_overwritten(analysis.rows);
  sum_rows(analysis);
  if (nothing > 0)
    analysis.warnings.push_back(
        fmt::format("by these rules {} layers count nothing: {}", nothing, fmt::join(ops, ", ")));
  return analysis;
}

}  // namespace ridgeline
