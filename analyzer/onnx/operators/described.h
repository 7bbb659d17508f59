// The rule of an operator that a user described by formulas.
#pragma once

#include "analyzer/graph/operator_description.h"
#include "analyzer/onnx/node_context.h"

namespace ridgeline::onnx {

void apply_description(NodeContext& context, const OperatorDescription& description);

}  // namespace ridgeline::onnx
