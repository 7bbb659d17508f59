// Einsum: parses the equation, infers the output's shape, finds the cheapest order of contractions,
// and emits one product per contraction.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// --- Contraction plan: an Einsum of many operands as pairwise products on the cheapest path, by
// exhaustive search if there are few operands. Costs are doubles, so a path whose cost would
// overflow is merely expensive.

// A label is an index into the list of label sizes.
constexpr std::size_t max_labels = 128;
using Labels = std::bitset<max_labels>;

// left × right, summed over the labels that are in neither `kept` nor another operand.
struct Contraction {
  Labels left, right, kept;
};

constexpr std::size_t max_exhaustive = 6;  // 2,700 orders; seven operands have 56,700

struct PathPlan {
  double cost = 0;
  std::vector<Contraction> steps;
};

double cost_of(const Labels& labels, const Shape& sizes) {
  double cost = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (labels[i]) cost *= static_cast<double>(sizes[i]);
  return cost;
}

// The operands without those at i and j (i < j), with their product appended.
std::vector<Labels> contracted(const std::vector<Labels>& operands, std::size_t i, std::size_t j,
                               const Labels& output, Contraction& step) {
  Labels elsewhere = output;
  std::vector<Labels> rest;
  for (std::size_t other = 0; other < operands.size(); ++other)
    if (other != i && other != j) {
      rest.push_back(operands[other]);
      elsewhere |= operands[other];
    }
  step = {operands[i], operands[j], (operands[i] | operands[j]) & elsewhere};
  rest.push_back(step.kept);
  return rest;
}

PathPlan best_plan(const std::vector<Labels>& operands, const Labels& output, const Shape& sizes) {
  PathPlan best;
  if (operands.size() < 2) return best;
  best.cost = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < operands.size(); ++i)
    for (std::size_t j = i + 1; j < operands.size(); ++j) {
      Contraction step;
      const std::vector<Labels> rest = contracted(operands, i, j, output, step);
      PathPlan plan = best_plan(rest, output, sizes);
      plan.cost += cost_of(step.left | step.right, sizes);
      if (plan.cost >= best.cost) continue;
      plan.steps.insert(plan.steps.begin(), step);
      best = std::move(plan);
    }
  return best;
}

// A contraction costs the product of the sizes of all its labels. Up to six operands, every order
// is tried; with more, the cheapest pair goes first. Labels that only one operand has and the
// output lacks must already be summed.
std::vector<Contraction> plan_contractions(const std::vector<Labels>& operands,
                                           const Labels& output, const Shape& sizes) {
  std::vector<Contraction> steps;
  std::vector<Labels> left = operands;
  while (left.size() > max_exhaustive) {
    std::size_t best_i = 0, best_j = 1;
    double best_cost = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < left.size(); ++i)
      for (std::size_t j = i + 1; j < left.size(); ++j)
        if (const double cost = cost_of(left[i] | left[j], sizes); cost < best_cost) {
          best_cost = cost;
          best_i = i;
          best_j = j;
        }
    Contraction step;
    left = contracted(left, best_i, best_j, output, step);
    steps.push_back(step);
  }
  const PathPlan rest = best_plan(left, output, sizes);
  steps.insert(steps.end(), rest.steps.begin(), rest.steps.end());
  return steps;
}

// --- the equation

constexpr std::size_t letters = 52;
constexpr char ellipsis = '.';

// One operand's subscripts, a character per axis; a single '.' replaces "...".
std::string subscripts_of(const NodeContext& context, std::string_view text) {
  std::string term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (term.find(ellipsis) != std::string::npos)
        context.fail(fmt::format("two ellipses in '{}'", text));
      term += ellipsis;
      i += 2;
    } else if ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z')) {
      term += text[i];
    } else {
      context.fail(fmt::format("'{}' has a character that is not a subscript", text));
    }
  }
  return term;
}

// Capital letters sort before small ones, as in an implicit output.
std::size_t label_of(char letter) {
  return static_cast<std::size_t>(letter <= 'Z' ? letter - 'A' : letter - 'a' + 26);
}

class Equation {
 public:
  explicit Equation(const NodeContext& context);

  void bind(std::size_t operand, const Shape& shape);

  std::size_t operand_count() const { return terms_.size(); }
  const Shape& sizes() const { return sizes_; }  // of each label; 1 if unused
  std::vector<std::size_t> output_axes() const;  // label of each axis
  // Labels along which the operand is not merely broadcast.
  Labels operand_labels(std::size_t operand) const;

 private:
  // The labels of a term, axis by axis, if its ellipsis covers `covered` axes. Ellipses are aligned
  // from the right.
  std::vector<std::size_t> labels_of(const std::string& term, std::size_t covered) const;

  const NodeContext& context_;
  std::vector<std::string> terms_;
  std::optional<std::string> output_;
  std::size_t ellipsis_axes_ = 0;  // the most that any ellipsis covers
  Shape sizes_ = Shape(max_labels, 1);
  std::vector<std::vector<std::size_t>> labels_;  // per bound operand
  std::vector<Shape> shapes_;
};

Equation::Equation(const NodeContext& context) : context_(context) {
  std::string_view text = context.text("equation", "");
  if (const std::size_t arrow = text.find("->"); arrow != std::string_view::npos) {
    output_ = subscripts_of(context, text.substr(arrow + 2));
    text = text.substr(0, arrow);
  }
  while (true) {
    const std::size_t comma = text.find(',');
    terms_.push_back(subscripts_of(context, text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text = text.substr(comma + 1);
  }
}

std::vector<std::size_t> Equation::labels_of(const std::string& term, std::size_t covered) const {
  std::vector<std::size_t> labels;
  for (const char letter : term) {
    if (letter != ellipsis) {
      labels.push_back(label_of(letter));
      continue;
    }
    for (std::size_t axis = covered; axis-- > 0;) labels.push_back(letters + axis);
  }
  return labels;
}

void Equation::bind(std::size_t operand, const Shape& shape) {
  const std::string& term = terms_[operand];
  const bool has_ellipsis = term.find(ellipsis) != std::string::npos;
  const std::size_t named_axes = term.size() - (has_ellipsis ? 1 : 0);
  if (shape.size() < named_axes || (!has_ellipsis && shape.size() > named_axes))
    context_.fail(fmt::format("operand {} is {}, its subscripts name {} axes", operand,
                              to_string(shape), named_axes));
  const std::size_t covered = shape.size() - named_axes;
  if (letters + covered > max_labels)
    context_.fail(fmt::format("the ellipsis of operand {} covers {} axes", operand, covered));
  if (has_ellipsis) ellipsis_axes_ = std::max(ellipsis_axes_, covered);
  labels_.push_back(labels_of(term, covered));
  shapes_.push_back(shape);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::int64_t& size = sizes_[labels_.back()[axis]];
    if (size != 1 && shape[axis] != 1 && size != shape[axis])
      context_.fail(fmt::format("axis {} of operand {} is {}, its subscript is {} elsewhere", axis,
                                operand, shape[axis], size));
    if (shape[axis] != 1) size = shape[axis];
  }
}

std::vector<std::size_t> Equation::output_axes() const {
  if (output_) {
    for (const char letter : *output_) {
      const auto has = [&](const std::string& term) {
        return term.find(letter) != std::string::npos;
      };
      if (letter != ellipsis && std::none_of(terms_.begin(), terms_.end(), has))
        context_.fail(fmt::format("output subscript '{}' is in no operand", letter));
      if (std::count(output_->begin(), output_->end(), letter) > 1)
        context_.fail(fmt::format("output subscript '{}' occurs twice", letter));
    }
    return labels_of(*output_, ellipsis_axes_);
  }
  // Implicit: the axes of the ellipsis, then every letter that occurs once, in order.
  std::vector<std::size_t> axes;
  for (std::size_t axis = ellipsis_axes_; axis-- > 0;) axes.push_back(letters + axis);
  std::array<int, letters> occurrences{};
  for (const std::string& term : terms_)
    for (const char letter : term)
      if (letter != ellipsis) ++occurrences[label_of(letter)];
  for (std::size_t label = 0; label < letters; ++label)
    if (occurrences[label] == 1) axes.push_back(label);
  return axes;
}

Labels Equation::operand_labels(std::size_t operand) const {
  Labels labels;
  for (std::size_t axis = 0; axis < labels_[operand].size(); ++axis)
    if (const std::size_t label = labels_[operand][axis];
        shapes_[operand][axis] != 1 && sizes_[label] != 1)
      labels.set(label);
  return labels;
}

std::int64_t extent_of(const NodeContext& context, const Labels& labels, const Shape& sizes) {
  Shape chosen;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (labels[i]) chosen.push_back(sizes[i]);
  return multiplied(context, chosen);
}

void emit_contraction(NodeContext& context, const Contraction& step, const Shape& sizes) {
  const Labels summed = (step.left | step.right) & ~step.kept;
  if (summed.none()) {
    context.emit(Elementwise{ElementFunction::multiply, extent_of(context, step.kept, sizes)});
    return;
  }
  MatMul op;
  op.batch = extent_of(context, step.left & step.right & step.kept, sizes);
  op.m = extent_of(context, step.left & ~step.right, sizes);
  op.n = extent_of(context, step.right & ~step.left, sizes);
  op.k = extent_of(context, summed, sizes);
  context.emit(op);
}

void einsum(NodeContext& context) {
  Equation equation(context);
  const std::size_t count = context.input_count();
  if (equation.operand_count() != count)
    context.fail(fmt::format("the equation has {} operands, the node {} inputs",
                             equation.operand_count(), count));
  for (std::size_t i = 0; i < count; ++i) equation.bind(i, context.shape(i));
  const Shape& sizes = equation.sizes();
  Labels output;
  Shape shape;
  for (const std::size_t label : equation.output_axes()) {
    output.set(label);
    shape.push_back(sizes[label]);
  }
  context.set(0, context.type(0), shape);

  // Labels that only one operand has and the output lacks are summed first.
  std::vector<Labels> operands;
  for (std::size_t i = 0; i < count; ++i) operands.push_back(equation.operand_labels(i));
  bool reduced = false;
  for (std::size_t i = 0; i < count; ++i) {
    Labels elsewhere = output;
    for (std::size_t other = 0; other < count; ++other)
      if (other != i) elsewhere |= operands[other];
    const Labels kept = operands[i] & elsewhere;
    if (kept == operands[i]) continue;
    context.emit(Reduce{Reduction::sum, extent_of(context, operands[i], sizes),
                        extent_of(context, kept, sizes)});
    operands[i] = kept;
    reduced = true;
  }
  for (const Contraction& step : plan_contractions(operands, output, sizes))
    emit_contraction(context, step, sizes);
  // Only a transpose or a diagonal.
  if (count == 1 && !reduced) context.emit(Copy{element_count(shape)});
}

}  // namespace

std::span<const Operator> einsum_operators() {
  static constexpr Operator rows[] = {
      {"", "Einsum", einsum},
  };
  return rows;
}

}  // namespace ridgeline::onnx
