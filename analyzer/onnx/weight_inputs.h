// Inputs of a graph that are weights in truth: nodes read them only where weights stand.
// They have no batch, whatever number they begin with.
#pragma once

#include <set>
#include <string_view>

#include "analyzer/onnx/model.h"

namespace ridgeline::onnx {

std::set<std::string_view> weight_inputs(const GraphProto& graph);

}  // namespace ridgeline::onnx
