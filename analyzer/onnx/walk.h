// Walk: visits a model's nodes in order, tracks every tensor and collects layers. Operator rules
// see it through NodeContext; those with sub-graphs use it directly.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/graph/graph.h"
#include "analyzer/onnx/batch.h"
#include "analyzer/onnx/bindings.h"
#include "analyzer/onnx/import.h"
#include "analyzer/onnx/model_file.h"
#include "analyzer/onnx/name_map.h"
#include "analyzer/onnx/node_context.h"
#include "analyzer/onnx/value.h"

namespace ridgeline::onnx {

// The names visible to the nodes of one graph: its own, and those of the enclosing graphs. A
// function's body starts a scope without a parent.
class Scope {
 public:
  explicit Scope(const Scope* parent) : parent_(parent) {}

  Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent_)
      if (Value* const* found = scope->values_.find(name)) return *found;
    return nullptr;
  }

  bool owns(std::string_view name) const { return values_.find(name) != nullptr; }

  void bind(std::string_view name, Value* value) { values_.set(name, value); }

  void reserve(std::size_t names) { values_.reserve(names); }

 private:
  const Scope* parent_;
  NameMap<Value*> values_;
};

class Walk {
 public:
  Walk(const ModelFile& file, const ImportOptions& options,
       ReshapeReading reading = ReshapeReading::batch_first);

  Import run();

  // For rules of operators with sub-graphs.
  const ImportOptions& options() const { return options_; }
  Value* make_value(std::string_view name);
  // Walks a sub-graph with its inputs bound to `inputs` (in order; missing ones are an Error) for
  // `repeats` trips; returns its outputs. `path` prefixes the names of its layers.
  std::vector<Value*> run_body(const GraphProto& body, const std::vector<Value*>& inputs,
                               double repeats, const std::string& path);
  // From now on the name refers to this value, in the graph being walked.
  void alias(std::string_view name, Value* value) { scope_->bind(name, value); }
  // Layers added since `first`: to mark those of a branch as alternative, or to undo a trial.
  std::size_t layer_count() const { return layers_.size(); }
  void mark_alternative(std::size_t first, std::size_t last);
  void drop_layers(std::size_t first);
  // While a Trial lives, layers and warnings are added for nothing. Trials do not nest.
  class Trial {
   public:
    explicit Trial(Walk& walk)
        : walk_(walk), layers_(walk.layers_.size()), warnings_(walk.warnings_.size()) {
      walk.in_trial_ = true;
    }
    ~Trial() {
      walk_.drop_layers(layers_);
      walk_.warnings_.resize(warnings_);
      walk_.in_trial_ = false;
    }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

   private:
    Walk& walk_;
    std::size_t layers_, warnings_;
  };
  bool in_trial() const { return in_trial_; }
  double flop_of_layers(std::size_t first, std::size_t last) const;
  // Whether two ranges of layers compute and move the same.
  bool same_work(std::size_t first, std::size_t second, std::size_t layers) const;
  std::string layer_name(const Node& node) const;

  // The batch that replaces the file's own, which constants may hold.
  std::optional<BatchChange> batch_change() const { return bindings_.batch_change; }
  ReshapeReading reshape_reading() const { return reading_; }
  // The shape of a value at the file's batch, while another one is counted; null otherwise.
  const Shape* file_shape(const Value& value) const {
    return file_shapes_ ? file_shapes_->find(value.id, value.name) : nullptr;
  }

  void warn(const std::string& text);
  // "give larger sizes than height = 1 (axis 2 of "x")"; empty if the file fixes all of them.
  std::string chosen_sizes() const;
  const std::string& file_name() const { return file_.path(); }
  const ModelFile& file() const { return file_; }

 private:
  friend class NodeContext;

  struct FunctionCall {  // a call, for the attributes that the function's body refers to
    const Node* node;
    const FunctionProto* function;
    const FunctionCall* caller;
  };

  void start();
  void add_initializers(const GraphProto& graph);
  void add_inputs();
  void walk_nodes(std::span<const Node> nodes);
  void walk_node(const Node& node);
  void call_function(const FunctionProto& function, const Node& node);
  void apply_rule(const Node& node);
  const OperatorDescription* description_of(const Node& node) const;
  std::string run_rule(NodeContext& context, const Operator* row,
                       const OperatorDescription* description);
  // --- A batch other than the file's.
  FileShapes shapes_in_file();
  void find_file_shapes();
  bool carries_batch(const Value& value) const;
  bool repeat_constants(NodeContext& context, std::vector<Value>& copies);
  void note_batch(const NodeContext& context);
  void check_batch() const;
  [[noreturn]] void refuse_batch(const std::string& what) const;
  Value* find_value(std::string_view name) const {  // null for an omitted input
    return name.empty() ? nullptr : scope_->find(name);
  }
  void settle_outputs(NodeContext& context, bool is_folded);
  bool take_declared(Value& value);
  bool fall_back_to_declared(NodeContext& context);
  void add_layer(NodeContext& context, bool is_folded);
  void mark_parameters(const NodeContext& context, const Layer& layer);
  std::size_t module_of(const Node& node);
  std::int64_t opset_of(const Node& node);
  const FunctionProto* function_of(const Node& node) const;
  const Operator* operator_of(const Node& node, std::string_view domain);
  const Attribute* find_attribute(const Node& node, std::string_view name) const;
  void spend(const Node& node);
  void check_model();
  void check_declared(const Value& value);
  Import finish();

  const ModelFile& file_;
  const ImportOptions& options_;
  ReshapeReading reading_;
  Bindings bindings_;

  Arena memory_;
  std::pmr::deque<Value> values_{&memory_};
  std::size_t given_values_ = 0;  // inputs and initializers of the model, which come first
  std::vector<Layer> layers_;
  std::vector<TensorId> inputs_;
  NameMap<const ValueInfo*> declared_;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const FunctionProto*>>
      functions_;
  std::map<std::string_view, std::int64_t> opsets_;
  NameMap<const Operator*> operators_;  // cache: thousands of nodes use few operators

  std::vector<std::string> modules_;
  NameMap<std::size_t> module_indices_;
  std::string_view scopes_;  // of the last node, and its module
  std::size_t module_ = no_index;

  Scope* scope_ = nullptr;
  const FunctionCall* call_ = nullptr;
  std::span<const OpsetImport> function_opsets_;
  double repeats_ = 1;
  std::string path_;
  int depth_ = 0;
  bool in_trial_ = false;
  std::size_t nodes_walked_ = 0;

  std::optional<FileShapes> file_shapes_;
  std::map<std::string_view, std::size_t> replaced_batches_;  // operator → nodes
  std::string batch_lost_at_;                                 // the first node
  std::size_t constant_products_ = 0;
  bool loses_work_ = false;  // a product of data of one batch element instead of all

  std::vector<std::string> warnings_;
};

}  // namespace ridgeline::onnx
