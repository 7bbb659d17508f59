// If, Loop and Scan: sub-graphs are walked in place, for their number of trips. The branch not
// taken is kept as an alternative; trip counts that depend on data raise a warning.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/walk.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

const GraphProto& body_of(const NodeContext& context, std::string_view name) {
  const Attribute* attribute = context.attribute(name);
  if (attribute == nullptr || !attribute->graph)
    context.fail(fmt::format("its sub-graph {} is missing", quote(name)));
  return *attribute->graph;
}

std::string own_name(NodeContext& context) {
  // The walk prepends the path to this node.
  const Node& node = context.node();
  if (!node.name.empty()) return std::string(node.name);
  return std::string(node.outputs.empty() ? node.op_type : node.outputs.front());
}

// --- If ---

struct BranchTrial {
  std::vector<Value*> outputs;
  std::size_t first = 0, last = 0;  // range of its layers
  std::optional<Error> error;
};

BranchTrial try_branch(NodeContext& context, std::string_view attribute, std::string_view label) {
  Walk& walk = context.walk();
  BranchTrial trial;
  trial.first = walk.layer_count();
  try {
    trial.outputs = walk.run_body(body_of(context, attribute), {}, 1,
                                  fmt::format("{}/{}", own_name(context), label));
    if (trial.outputs.size() < context.output_count())
      context.fail(fmt::format("its {} branch has {} outputs, the node {}", label,
                               trial.outputs.size(), context.output_count()));
  } catch (const Error& error) {
    trial.error = error;
    walk.drop_layers(trial.first);
  }
  trial.last = walk.layer_count();
  return trial;
}

std::optional<bool> known_condition(const NodeContext& context) {
  const Contents* condition = context.contents(0);
  if (condition == nullptr || condition->size() != 1 || !condition->front()) return std::nullopt;
  return *condition->front() != 0;
}

// Both branches are walked; failures in the one not taken are ignored.
void take_branch(NodeContext& context, bool then_branch) {
  Walk& walk = context.walk();
  const char* const labels[] = {"else", "then"};
  const char* const attributes[] = {"else_branch", "then_branch"};
  const BranchTrial taken = try_branch(context, attributes[then_branch], labels[then_branch]);
  if (taken.error) throw *taken.error;
  const BranchTrial other = try_branch(context, attributes[!then_branch], labels[!then_branch]);
  walk.mark_alternative(other.first, other.last);
  for (std::size_t i = 0; i < context.output_count(); ++i) context.adopt(i, taken.outputs[i]);
}

void take_larger_branch(NodeContext& context) {
  Walk& walk = context.walk();
  const BranchTrial then_trial = try_branch(context, "then_branch", "then");
  const BranchTrial else_trial = try_branch(context, "else_branch", "else");
  bool take_then = !then_trial.error.has_value();
  if (then_trial.error && else_trial.error) throw *then_trial.error;
  if (then_trial.error || else_trial.error) {
    // A branch that does not fit the input's shapes cannot be the one that runs.
    context.warn(fmt::format("its {} branch does not fit these shapes; the other is counted",
                             take_then ? "else" : "then"));
  } else {
    take_then = walk.flop_of_layers(then_trial.first, then_trial.last) >=
                walk.flop_of_layers(else_trial.first, else_trial.last);
    context.warn(
        fmt::format("its condition depends on data; the {} branch is counted, which "
                    "computes more (--branch chooses)",
                    take_then ? "then" : "else"));
  }
  const BranchTrial& taken = take_then ? then_trial : else_trial;
  const BranchTrial& other = take_then ? else_trial : then_trial;
  walk.mark_alternative(other.first, other.last);
  for (std::size_t i = 0; i < context.output_count(); ++i) context.adopt(i, taken.outputs[i]);
}

void if_rule(NodeContext& context) {
  context.input(0);
  context.emit(View{});
  const auto condition = known_condition(context);
  const Branch wish = context.walk().options().branch;
  if (condition)
    take_branch(context, *condition);
  else if (wish != Branch::larger)
    take_branch(context, wish == Branch::then_branch);
  else
    take_larger_branch(context);
}

// --- Loop ---

// A loop-carried value as the body sees it: type and shape. Elements only if a certain trip is
// meant.
Value* carried(NodeContext& context, std::string_view name, const Value* from,
               bool with_elements = false) {
  Value* value = context.walk().make_value(name);
  if (from == nullptr) return value;
  value->type = from->type;
  value->shape = from->shape;
  value->source = from->source;
  value->is_sequence = from->is_sequence;
  if (with_elements) {
    value->contents = from->contents;
    value->proto = from->proto;
    value->sequence_length = from->sequence_length;
  }
  return value;
}

// A number that the loop gives its body; some bodies declare a vector of one.
Value* scalar(NodeContext& context, const ValueInfo& info, ElementType type,
              std::optional<long double> element) {
  Value* value = context.walk().make_value(info.name);
  value->type = type;
  value->shape = info.type.dims && info.type.dims->size() == 1 ? Shape{1} : Shape{};
  value->source = ShapeSource::fixed;
  if (element) value->contents = Contents{*element};
  return value;
}

bool same_shape(const Value& a, const Value& b) {
  return a.is_sequence || b.is_sequence || a.shape == b.shape;
}

struct LoopRun {
  std::vector<Value*> outputs;  // of the body's last trip: condition, carried, scanned
  bool shapes_change = false;
};

LoopRun run_loop_body(NodeContext& context, const GraphProto& body,
                      const std::vector<Value*>& state, double repeats,
                      std::optional<long double> iteration) {
  std::vector<Value*> inputs;
  const auto name = [&](std::size_t i) { return body.inputs[i].name; };
  if (!body.inputs.empty())
    inputs.push_back(scalar(context, body.inputs[0], ElementType::int64, iteration));
  if (body.inputs.size() > 1) {
    // The first trip runs, so its condition is true, and a body that passes it through keeps it
    // true.
    inputs.push_back(scalar(context, body.inputs[1], ElementType::boolean, 1));
  }
  for (std::size_t i = 0; i < state.size() && i + 2 < body.inputs.size(); ++i)
    inputs.push_back(carried(context, name(i + 2), state[i], iteration.has_value()));
  LoopRun run;
  run.outputs = context.walk().run_body(body, inputs, repeats, own_name(context));
  if (run.outputs.size() < state.size() + 1)
    context.fail(fmt::format("its body has {} outputs, {} are needed", run.outputs.size(),
                             state.size() + 1));
  for (std::size_t i = 0; i < state.size(); ++i)
    if (state[i] != nullptr && !same_shape(*state[i], *run.outputs[i + 1]))
      run.shapes_change = true;
  return run;
}

std::optional<bool> known_truth(const Value* value) {
  if (value == nullptr || !value->contents || value->contents->size() != 1 ||
      !value->contents->front())
    return std::nullopt;
  return *value->contents->front() != 0;
}

// Trips of a loop whose condition follows from constants, such as a counter: its body is walked
// until the condition is false.
struct Simulation {
  std::int64_t trips = 0;
  bool are_alike = true;      // every trip does the same work
  std::vector<Value*> state;  // after the last trip
};

// Nothing if the condition depends on data or does not end soon.
std::optional<Simulation> simulated_loop(NodeContext& context, const GraphProto& body,
                                         const std::vector<Value*>& state) {
  constexpr std::int64_t most = 1024;
  Walk& walk = context.walk();
  if (walk.in_trial()) return std::nullopt;
  Simulation simulation{0, true, state};
  if (context.has(1)) {
    context.contents(1);  // reads it
    if (known_truth(context.input_value(1)) == false) return simulation;
  }
  const Walk::Trial trial(walk);
  for (std::size_t i = 0; i < state.size(); ++i) context.contents(i + 2);
  const std::size_t first = walk.layer_count();
  std::size_t of_one_trip = 0;
  while (simulation.trips < most) {
    const std::size_t begin = walk.layer_count();
    const LoopRun run = run_loop_body(context, body, simulation.state, 1,
                                      static_cast<long double>(simulation.trips));
    if (simulation.trips++ == 0) of_one_trip = walk.layer_count() - begin;
    simulation.are_alike = simulation.are_alike && walk.layer_count() - begin == of_one_trip &&
                           walk.same_work(first, begin, of_one_trip);
    simulation.state.assign(run.outputs.begin() + 1,
                            run.outputs.begin() + 1 + static_cast<std::ptrdiff_t>(state.size()));
    const auto goes_on = known_truth(run.outputs.front());
    if (!goes_on) return std::nullopt;
    if (!*goes_on) return simulation;
    // Only a state with known elements can end it.
    if (std::none_of(simulation.state.begin(), simulation.state.end(), [](const Value* value) {
          return value != nullptr && value->contents && !value->contents->empty();
        }))
      return std::nullopt;
  }
  return std::nullopt;
}

struct Trips {
  std::int64_t count = 1;
  bool is_known = false;                    // false: one trip is assumed
  std::optional<Simulation> followed = {};  // its condition was followed to the end
};

Trips trips_of(NodeContext& context, const GraphProto& body, const std::vector<Value*>& state) {
  const auto& given = context.walk().options().trips;
  const std::string name = context.walk().layer_name(context.node());
  if (const auto found = given.find(name); found != given.end()) return {found->second, true};
  // A larger limit means "until the condition is false".
  constexpr std::int64_t max_trips = std::int64_t{1} << 31;
  const auto limit = context.known_integers(0);
  if (limit && limit->size() == 1 && limit->front() >= 0 && limit->front() < max_trips)
    return {limit->front(), true};
  if (const auto found = given.find(""); found != given.end()) return {found->second, true};
  if (auto simulation = simulated_loop(context, body, state)) {
    const std::int64_t trips = simulation->trips;
    return {trips, true, std::move(simulation)};
  }
  context.warn("its number of trips depends on data and is counted as one (give --trips)");
  context.set_is_bound();
  return {};
}

// The state after the last trip, of a loop whose body was walked for the first one only.
void take_last_state(LoopRun& run, const std::vector<Value*>& last) {
  for (std::size_t i = 0; i < last.size(); ++i) {
    Value* value = run.outputs[i + 1];
    if (value == nullptr || last[i] == nullptr) continue;
    value->contents = last[i]->contents;
    if (!value->is_sequence) continue;
    value->shape = last[i]->shape;
    value->sequence_length = last[i]->sequence_length;
  }
}

void set_scanned(NodeContext& context, std::size_t index, const Value& one, std::int64_t trips,
                 std::size_t axis) {
  if (!one.shape) return;
  Shape shape = *one.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(std::min(axis, shape.size())), trips);
  context.set(index, one.type, shape);
}

void loop_rule(NodeContext& context) {
  Walk& walk = context.walk();
  context.emit(View{});
  const GraphProto& body = body_of(context, "body");
  std::vector<Value*> state;
  for (std::size_t i = 2; i < context.input_count(); ++i) state.push_back(context.input_value(i));
  const Trips trips = trips_of(context, body, state);

  // A loop with growing tensors is walked trip by trip, unless that makes too many rows to read.
  constexpr std::int64_t max_unrolled = 64;
  const bool is_alike = trips.followed && trips.followed->are_alike && trips.count > 0;
  const bool is_unlike =
      trips.followed && !trips.followed->are_alike && trips.count <= max_unrolled;
  const std::size_t first = walk.layer_count();
  LoopRun run;
  if (!is_unlike)
    run = run_loop_body(context, body, state, static_cast<double>(trips.count),
                        is_alike ? std::optional(0.0L) : std::nullopt);
  if (is_alike) take_last_state(run, trips.followed->state);
  if (is_unlike || (run.shapes_change && trips.count > 1)) {
    if (trips.count <= max_unrolled) {
      walk.drop_layers(first);
      std::vector<Value*> now = state;
      for (std::int64_t trip = 0; trip < trips.count; ++trip) {
        run = run_loop_body(context, body, now, 1, static_cast<long double>(trip));
        now.assign(run.outputs.begin() + 1,
                   run.outputs.begin() + 1 + static_cast<std::ptrdiff_t>(state.size()));
      }
    } else {
      context.warn("shapes change from trip to trip; counted with those of the first");
      context.set_is_bound();
    }
  }
  const Value& condition = *run.outputs.front();
  const bool goes_on = condition.contents && condition.contents->size() == 1 &&
                       condition.contents->front() && *condition.contents->front() != 0;
  if (trips.is_known && !trips.followed && !goes_on && trips.count > 1) {
    context.warn(
        fmt::format("its condition depends on data; counted with the most trips, {}", trips.count));
    context.set_is_bound();
  }
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    if (i < state.size()) {
      Value* last = trips.count == 0 && state[i] != nullptr ? state[i] : run.outputs[i + 1];
      context.adopt(i, last);
    } else if (i + 1 < run.outputs.size()) {
      set_scanned(context, i, *run.outputs[i + 1], trips.count, 0);
    } else {
      context.fail(fmt::format("its body does not make output {}", i));
    }
  }
}

// --- Scan ---

std::int64_t entry(const std::optional<std::vector<std::int64_t>>& list, std::size_t index) {
  return list && index < list->size() ? (*list)[index] : 0;
}

// Opset 8 has a leading batch dimension everywhere and lengths as first input.
void scan_rule(NodeContext& context) {
  context.emit(View{});
  const GraphProto& body = body_of(context, "body");
  const bool batched = context.opset() < 9;
  const std::size_t skip = batched ? 1 : 0;
  const auto scanned = context.integer("num_scan_inputs", 0);
  const std::size_t given = context.input_count() - std::min(context.input_count(), skip);
  if (scanned < 1 || static_cast<std::size_t>(scanned) > given)
    context.fail(fmt::format("num_scan_inputs is {}, the node has {} inputs", scanned, given));
  const std::size_t states = given - static_cast<std::size_t>(scanned);
  const auto input_axes = context.integers("scan_input_axes");
  const auto output_axes = context.integers("scan_output_axes");

  std::vector<Value*> inputs;
  std::optional<std::int64_t> length;
  std::int64_t batch = 1;
  for (std::size_t i = 0; i < given; ++i) {
    Shape shape = context.shape(i + skip);
    if (batched) {
      batch = context.dimension(i + skip, 0);
      shape.erase(shape.begin());
    }
    if (i >= states) {
      const std::size_t axis = context.axis(entry(input_axes, i - states), shape.size());
      if (length && *length != shape[axis])
        context.fail(fmt::format("it scans {} and {} steps at once", *length, shape[axis]));
      length = shape[axis];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    const std::string_view name = i < body.inputs.size() ? body.inputs[i].name : std::string_view();
    Value* value = carried(context, name, &context.input(i + skip));
    value->shape = shape;
    inputs.push_back(value);
  }
  const double trips = static_cast<double>(*length) * static_cast<double>(batch);
  const auto outputs = context.walk().run_body(body, inputs, trips, own_name(context));
  if (outputs.size() < context.output_count())
    context.fail(fmt::format("its body has {} outputs, the node {}", outputs.size(),
                             context.output_count()));
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    const Value& one = *outputs[i];
    if (!one.shape) continue;
    Shape shape = *one.shape;
    if (i >= states) {
      const std::size_t axis = context.axis(entry(output_axes, i - states), shape.size() + 1);
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), *length);
    } else if (!batched) {
      context.adopt(i, outputs[i]);
      continue;
    }
    if (batched) shape.insert(shape.begin(), batch);
    context.set(i, one.type, shape);
  }
}

}  // namespace

std::span<const Operator> control_flow_operators() {
  static constexpr Operator rows[] = {
      {"", "If", if_rule},
      {"", "Loop", loop_rule},
      {"", "Scan", scan_rule},
  };
  return rows;
}

}  // namespace ridgeline::onnx
