// A layer that does nothing passes its writer on; a constant counts as no writer.
#include "analyzer/tensorrt/lint/wiring.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/tensorrt/lint/layer_role.h"

namespace ridgeline::tensorrt {

Wiring::Wiring(const Engine& engine)
    : producers_(engine.layers.size()),
      readers_(engine.layers.size()),
      reads_input_(engine.layers.size()),
      writes_output_(engine.layers.size()) {
  std::unordered_set<std::string_view> inputs, outputs;
  for (const IoTensor& io : engine.io) {
    if (io.is_input.value_or(false)) inputs.insert(io.tensor.name);
    if (!io.is_input.value_or(true)) outputs.insert(io.tensor.name);
  }
  // Absent: not written yet. Empty: a constant, or an input passed on.
  struct Writer {
    std::optional<std::size_t> layer;
    bool is_input = false;
  };
  std::unordered_map<std::string_view, Writer> writers;
  for (std::size_t index = 0; index < engine.layers.size(); ++index) {
    const EngineLayer& layer = engine.layers[index];
    Writer passed_on;
    for (const EngineTensor& input : layer.inputs) {
      const auto found = writers.find(input.name);
      // The oldest files do not list inputs: there, what no layer wrote is one.
      const Writer writer = found != writers.end()
                                ? found->second
                                : Writer{{}, engine.io.empty() || inputs.contains(input.name)};
      producers_[index].push_back(writer.layer);
      if (writer.is_input) reads_input_[index] = true;
      if (&input == &layer.inputs.front()) passed_on = writer;
      if (!writer.layer || does_nothing(layer)) continue;
      auto& readers = readers_[*writer.layer];
      if (std::ranges::find(readers, index) == readers.end()) readers.push_back(index);
    }
    for (const EngineTensor& output : layer.outputs) {
      if (outputs.contains(output.name)) {
        writes_output_[index] = true;
        if (does_nothing(layer) && passed_on.layer) writes_output_[*passed_on.layer] = true;
      }
      if (does_nothing(layer))
        writers[output.name] = passed_on;
      else
        writers[output.name] = {is_constant(layer) ? std::nullopt : std::optional(index), false};
    }
  }
  if (engine.io.empty())
    for (std::size_t index = 0; index < engine.layers.size(); ++index)
      writes_output_[index] = readers_[index].empty() && !engine.layers[index].outputs.empty();
}

}  // namespace ridgeline::tensorrt
