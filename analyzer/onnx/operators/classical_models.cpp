// Trees and support vector machines of ai.onnx.ml. A sample takes one path through every tree, so
// the longest path is counted, an upper bound; a machine compares it with every support vector.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"

namespace ridgeline::onnx {
namespace {

// [samples, features]; a vector is one sample.
Shape samples(const NodeContext& context) {
  const Shape& shape = context.shape(0);
  if (shape.size() == 1) return {1, shape[0]};
  want_rank(context, 0, 2);
  return shape;
}

std::span<const std::int64_t> numbers(const NodeContext& context, std::string_view name) {
  const Attribute* attribute = context.attribute(name);
  return attribute == nullptr ? std::span<const std::int64_t>() : attribute->ints;
}

std::int64_t count_of(const NodeContext& context, std::string_view name) {
  const Attribute* attribute = context.attribute(name);
  if (attribute == nullptr) return 0;
  return static_cast<std::int64_t>(
      std::max({attribute->ints.size(), attribute->floats.size(), attribute->strings.size()}));
}

// Children of the nodes of all trees; no_child: a leaf. Roots are known by no node above them.
constexpr std::size_t no_child = static_cast<std::size_t>(-1);

struct Forest {
  std::vector<std::pair<std::size_t, std::size_t>> children;
  std::vector<std::size_t> roots;
};

// Nodes are known by their tree and a number in it; a leaf names no child of its own.
Forest numbered_forest(const NodeContext& context) {
  const auto trees = numbers(context, "nodes_treeids"), ids = numbers(context, "nodes_nodeids"),
             yes = numbers(context, "nodes_truenodeids"),
             no = numbers(context, "nodes_falsenodeids");
  const Attribute* modes = context.attribute("nodes_modes");
  const std::size_t count = trees.size();
  if (ids.size() != count || yes.size() != count || no.size() != count || modes == nullptr ||
      modes->strings.size() != count)
    context.fail("its lists of nodes have different lengths");
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> index;
  for (std::size_t i = 0; i < count; ++i) index[{trees[i], ids[i]}] = i;
  Forest forest;
  std::vector<bool> is_child(count, false);
  const auto child = [&](std::size_t node, std::int64_t id) {
    const auto found = index.find({trees[node], id});
    if (found == index.end()) context.fail("a node has a child that does not exist");
    is_child[found->second] = true;
    return found->second;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_leaf = modes->strings[i] == "LEAF";
    forest.children.emplace_back(is_leaf ? no_child : child(i, yes[i]),
                                 is_leaf ? no_child : child(i, no[i]));
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!is_child[i]) forest.roots.push_back(i);
  if (count > 0 && forest.roots.empty()) context.fail("its trees have a cycle");
  return forest;
}

// Version 5: children are indices, and leaves are in lists of their own.
Forest indexed_forest(const NodeContext& context) {
  const auto yes = numbers(context, "nodes_truenodeids"),
             no = numbers(context, "nodes_falsenodeids"),
             yes_leaf = numbers(context, "nodes_trueleafs"),
             no_leaf = numbers(context, "nodes_falseleafs");
  const std::size_t count = yes.size();
  if (no.size() != count || yes_leaf.size() != count || no_leaf.size() != count)
    context.fail("its lists of nodes have different lengths");
  const auto child = [&](std::int64_t id, std::int64_t is_leaf) {
    if (is_leaf != 0) return no_child;
    if (id < 0 || static_cast<std::size_t>(id) >= count)
      context.fail("a node has a child that does not exist");
    return static_cast<std::size_t>(id);
  };
  Forest forest;
  for (std::size_t i = 0; i < count; ++i)
    forest.children.emplace_back(child(yes[i], yes_leaf[i]), child(no[i], no_leaf[i]));
  for (const std::int64_t root : numbers(context, "tree_roots"))
    forest.roots.push_back(child(root, 0));
  return forest;
}

// Comparisons on the longest path from every root, added up. `leaves_are_nodes`: leaves are nodes
// that compare nothing.
std::int64_t longest_paths(const NodeContext& context, const Forest& forest,
                           bool leaves_are_nodes) {
  const std::size_t count = forest.children.size();
  std::vector<std::int64_t> depth(count, 0);  // 0: not visited, −1: on the way
  std::vector<std::size_t> stack;
  std::int64_t sum = 0;
  for (const std::size_t root : forest.roots) {
    stack.push_back(root);
    while (!stack.empty()) {
      const std::size_t node = stack.back();
      if (depth[node] > 0) {
        stack.pop_back();
        continue;
      }
      std::int64_t longest = 0;
      bool is_ready = true;
      for (const std::size_t next : {forest.children[node].first, forest.children[node].second}) {
        if (next == no_child) continue;
        if (depth[next] == 0) {
          stack.push_back(next);
          is_ready = false;
        } else if (depth[next] < 0) {
          context.fail("its trees have a cycle");
        }
        longest = std::max(longest, depth[next]);
      }
      depth[node] = is_ready ? longest + 1 : -1;
      if (is_ready) stack.pop_back();
    }
    sum += depth[root] - (leaves_are_nodes ? 1 : 0);
  }
  return sum;
}

void emit_trees(NodeContext& context, const Forest& forest, bool leaves_are_nodes,
                std::int64_t rows, std::int64_t results) {
  const std::int64_t steps = longest_paths(context, forest, leaves_are_nodes);
  const auto trees = static_cast<std::int64_t>(forest.roots.size());
  emit_elementwise(context, ElementFunction::compare, multiplied(context, {rows, steps}));
  emit_elementwise(context, ElementFunction::add, multiplied(context, {rows, trees, results}));
  context.set_is_bound();
}

bool has_names(const NodeContext& context) { return count_of(context, "classlabels_strings") > 0; }

std::int64_t class_count(const NodeContext& context, std::string_view integers) {
  return std::max(count_of(context, "classlabels_strings"), count_of(context, integers));
}

void set_classes(NodeContext& context, std::int64_t rows, std::int64_t scores) {
  context.set(0, has_names(context) ? ElementType::string : ElementType::int64, {rows});
  context.set(1, ElementType::fp32, {rows, scores});
}

void tree_regressor(NodeContext& context) {
  const Shape rows = samples(context);
  const std::int64_t targets = std::max<std::int64_t>(context.integer("n_targets", 1), 1);
  context.set(0, ElementType::fp32, {rows[0], targets});
  emit_trees(context, numbered_forest(context), true, rows[0], targets);
}

void tree_classifier(NodeContext& context) {
  const Shape rows = samples(context);
  const std::int64_t classes =
      std::max<std::int64_t>(class_count(context, "classlabels_int64s"), 1);
  set_classes(context, rows[0], classes);
  emit_trees(context, numbered_forest(context), true, rows[0], classes);
}

void tree_ensemble(NodeContext& context) {
  const Shape rows = samples(context);
  const std::int64_t targets = std::max<std::int64_t>(context.integer("n_targets", 1), 1);
  context.set(0, context.type(0), {rows[0], targets});
  emit_trees(context, indexed_forest(context), false, rows[0], targets);
}

// A product with all support vectors, the function of the kernel, and a weighted sum for each
// result. Without support vectors, coefficients [results, features] of a linear machine.
void emit_machine(NodeContext& context, const Shape& rows, std::int64_t vectors,
                  std::int64_t results) {
  if (vectors == 0)
    return emit_in(context, MatMul{1, rows[0], results, rows[1], true}, ElementType::fp32);
  emit_in(context, MatMul{1, rows[0], vectors, rows[1], false}, ElementType::fp32);
  const std::int64_t values = multiplied(context, {rows[0], vectors});
  const std::string_view kernel = context.text("kernel_type", "LINEAR");
  if (kernel == "RBF") emit_elementwise(context, ElementFunction::exp, values);
  if (kernel == "POLY") emit_elementwise(context, ElementFunction::power, values);
  if (kernel == "SIGMOID") emit_elementwise(context, ElementFunction::tanh, values);
  emit_in(context, MatMul{1, rows[0], results, vectors, true}, ElementType::fp32);
}

std::int64_t support_vectors(const NodeContext& context, std::int64_t features) {
  const std::int64_t numbers = count_of(context, "support_vectors");
  return numbers == 0
             ? 0
             : divided(context, "the number of values of the support vectors", numbers, features);
}

void vector_regressor(NodeContext& context) {
  const Shape rows = samples(context);
  context.set(0, ElementType::fp32, {rows[0], 1});
  emit_machine(context, rows, support_vectors(context, rows[1]), 1);
}

// One result for each pair of classes; probabilities make one per class of them.
void vector_classifier(NodeContext& context) {
  const Shape rows = samples(context);
  const std::int64_t classes = std::max<std::int64_t>(class_count(context, "classlabels_ints"), 1);
  const std::int64_t vectors = support_vectors(context, rows[1]);
  const std::int64_t pairs = multiplied(context, {classes, classes - 1}) / 2;
  const bool has_probabilities = count_of(context, "prob_a") > 0;
  set_classes(context, rows[0],
              vectors == 0 || has_probabilities ? classes : std::max<std::int64_t>(pairs, 2));
  emit_machine(context, rows, vectors, vectors == 0 ? classes : std::max<std::int64_t>(pairs, 1));
}

}  // namespace

std::span<const Operator> classical_model_operators() {
  static constexpr Operator rows[] = {
      {"ai.onnx.ml", "TreeEnsembleRegressor", tree_regressor},
      {"ai.onnx.ml", "TreeEnsembleClassifier", tree_classifier},
      {"ai.onnx.ml", "TreeEnsemble", tree_ensemble},
      {"ai.onnx.ml", "SVMRegressor", vector_regressor},
      {"ai.onnx.ml", "SVMClassifier", vector_classifier},
  };
  return rows;
}

}  // namespace ridgeline::onnx
