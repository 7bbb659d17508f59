// The default costs per element with their reasons, and the file format that overrides them. The
// numbers are conventions; other tools choose differently (docs/counting.md names some).
#include "analyzer/count/op_weights.h"

#include <utility>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "base/nearest.h"

namespace ridgeline {
namespace {

constexpr std::string_view schema = "ridgeline.op_weights/1";
constexpr double max_cost = 1e6;  // per element; larger values are rejected as mistakes

struct FunctionCost {
  Function function;
  ElementCost cost;
};

// One operation per arithmetic step of the textbook formula; a function that hardware looks up or
// approximates (exp, log, tanh, sqrt, sin …) is one step of its own and one transcendental, as in
// XLA's cost analysis. Relu 1, sigmoid 4, tanh, swish and hard swish 5, erf 8 match the values
// published by Pagoda (github.com/dream-lab/pagoda, estimates.py).
constexpr FunctionCost function_costs[] = {
    {Function::add, {1, 0}},
    {Function::subtract, {1, 0}},
    {Function::multiply, {1, 0}},
    {Function::divide, {1, 0}},
    {Function::power, {1, 1}},
    {Function::modulo, {1, 0}},
    {Function::minimum, {1, 0}},
    {Function::maximum, {1, 0}},
    {Function::compare, {1, 0}},
    {Function::logical, {1, 0}},
    {Function::bitwise, {1, 0}},
    {Function::where, {1, 0}},
    {Function::negate, {1, 0}},
    {Function::absolute, {1, 0}},
    {Function::sign, {1, 0}},
    {Function::round, {1, 0}},
    {Function::reciprocal, {1, 0}},
    {Function::sqrt, {1, 1}},
    {Function::exp, {1, 1}},
    {Function::log, {1, 1}},
    {Function::trigonometric, {1, 1}},
    {Function::hyperbolic, {1, 1}},
    {Function::tanh, {5, 1}},          // (e^2x − 1) / (e^2x + 1)
    {Function::sigmoid, {4, 1}},       // 1 / (1 + e^−x)
    {Function::hard_sigmoid, {4, 0}},  // multiply, add, two limits
    {Function::relu, {1, 0}},
    {Function::leaky_relu, {2, 0}},
    {Function::elu, {4, 1}},       // compare, exp, subtract, multiply
    {Function::softplus, {3, 2}},  // log(1 + e^x)
    {Function::softsign, {3, 0}},  // x / (1 + |x|)
    {Function::erf, {8, 1}},
    {Function::gelu, {11, 1}},      // erf and three more
    {Function::gelu_tanh, {9, 1}},  // cubic polynomial 5, tanh as one, add, two multiplications
    {Function::hard_swish, {5, 0}},
    {Function::swish, {5, 1}},
    {Function::mish, {9, 3}},  // x · tanh(softplus(x))
    {Function::clip, {2, 0}},
    {Function::cast, {0, 0}},        // converted while copied
    {Function::quantize, {3, 0}},    // scale, round, saturate
    {Function::dequantize, {2, 0}},  // subtract the zero point, scale
    {Function::dropout, {2, 0}},     // mask, scale
    {Function::random, {1, 1}},
    {Function::rotary_embedding, {3, 0}},
    {Function::accumulate, {1, 0}},
    {Function::sgd, {2, 0}},
    {Function::momentum, {4, 0}},
    {Function::adam, {12, 1}},    // two moments 7, root, epsilon, division, rate, update
    {Function::adagrad, {7, 1}},  // sum of squares 2, then as Adam
};
static_assert(std::size(function_costs) == TokenTable<Function>::rows.size());

OpWeights make_default_weights() {
  OpWeights weights;
  for (const FunctionCost& row : function_costs)
    weights.functions[static_cast<std::size_t>(row.function)] = row.cost;
  weights.softmax = {5, 1};         // maximum, subtract, exp, sum, divide
  weights.layer_norm = 5;           // mean 1, subtract 1, square and sum 2, scale 1
  weights.affine = 2;               // multiply and add
  weights.rms_norm = 3;             // square and sum 2, scale 1
  weights.batch_norm = 2;           // multiply and add: the statistics are constants
  weights.batch_norm_training = 7;  // as layer normalisation with its affine part
  // A weighted sum of 2^axes or 4^axes neighbours; channels share the weights.
  weights.resize_linear = {0, 3, 7, 15};
  weights.resize_cubic = {0, 7, 31, 127};
  weights.deformable_tap = 7;  // as linear interpolation in two dimensions
  return weights;
}

// The plain numbers of the table, by their names in the file.
std::vector<std::pair<std::string, double*>> scalars(OpWeights& weights) {
  return {{"layer_norm", &weights.layer_norm},
          {"affine", &weights.affine},
          {"rms_norm", &weights.rms_norm},
          {"batch_norm", &weights.batch_norm},
          {"batch_norm_training", &weights.batch_norm_training},
          {"deformable_tap", &weights.deformable_tap}};
}

std::vector<std::pair<std::string, std::array<double, 4>*>> lists(OpWeights& weights) {
  return {{"resize_linear", &weights.resize_linear}, {"resize_cubic", &weights.resize_cubic}};
}

Json to_json(const ElementCost& cost) {
  return {{"flop", cost.flop}, {"transcendentals", cost.transcendentals}};
}

// A plain number is a cost in FLOP and leaves the transcendentals unchanged.
void read_cost(const JsonCursor& cursor, ElementCost& cost) {
  if (cursor.value().is_number()) {
    cost.flop = bounded(cursor, max_cost);
    return;
  }
  for (const auto& [name, value] : cursor.members())
    if (name == "flop")
      cost.flop = bounded(value, max_cost);
    else if (name == "transcendentals")
      cost.transcendentals = bounded(value, max_cost);
    else
      value.fail("unknown name, known are flop, transcendentals");
}

void read_functions(const JsonCursor& cursor, OpWeights& weights) {
  std::vector<std::string> names;
  for (const auto& row : TokenTable<Function>::rows) names.emplace_back(row.second);
  for (const auto& [name, value] : cursor.members()) {
    const auto function = parse_token<Function>(name);
    if (!function) {
      const auto near = nearest(name, names);
      value.fail("no function has this name" + (near ? ", did you mean '" + *near + "'?" : ""));
    }
    read_cost(value, weights.functions[static_cast<std::size_t>(*function)]);
  }
}

bool read_scalar(const std::string& name, const JsonCursor& value, OpWeights& weights) {
  for (const auto& [known, place] : scalars(weights))
    if (known == name) {
      *place = bounded(value, max_cost);
      return true;
    }
  return false;
}

bool read_list(const std::string& name, const JsonCursor& value, OpWeights& weights) {
  for (const auto& [known, place] : lists(weights))
    if (known == name) {
      const auto items = value.items();
      if (items.size() != place->size()) value.fail("needs four numbers: for 0, 1, 2 and 3 axes");
      for (std::size_t i = 0; i < items.size(); ++i) (*place)[i] = bounded(items[i], max_cost);
      return true;
    }
  return false;
}

}  // namespace

const OpWeights& default_weights() {
  static const OpWeights weights = make_default_weights();
  return weights;
}

OpWeights weights_from_json(const JsonCursor& document) {
  check_schema(document, schema);
  OpWeights weights = default_weights();
  for (const auto& [name, value] : document.members()) {
    if (name == "schema") continue;
    if (name == "functions")
      read_functions(value, weights);
    else if (name == "softmax")
      read_cost(value, weights.softmax);
    else if (!read_scalar(name, value, weights) && !read_list(name, value, weights))
      value.fail("no weight has this name, docs/counting.md lists them");
  }
  return weights;
}

OpWeights weights_from_file(const std::string& path) {
  const Json document = read_json_file(path);
  return weights_from_json(file_cursor(document, path));
}

Json to_json(const OpWeights& weights) {
  OpWeights copy = weights;  // scalars() returns pointers to mutable fields
  Json json = {{"schema", schema}};
  for (const auto& [function, name] : TokenTable<Function>::rows)
    json["functions"][std::string(name)] = to_json(weights.of(function));
  json["softmax"] = to_json(weights.softmax);
  for (const auto& [name, place] : scalars(copy)) json[name] = *place;
  for (const auto& [name, place] : lists(copy)) json[name] = *place;
  return json;
}

}  // namespace ridgeline
