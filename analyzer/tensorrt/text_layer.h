// A layer as the inspector's text output prints it, on one line:
// "Name: conv1 + relu1, LayerType: CaskConvolution, Inputs: [ { Name: x, …". Logs hold these.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/tensorrt/engine.h"
#include "analyzer/tensorrt/layer_members.h"

namespace ridgeline::tensorrt {

inline constexpr std::string_view text_layer_mark = "Name: ";

// Nothing if the line is cut off. `path` is for messages.
std::optional<EngineLayer> parse_text_layer(std::string_view line, LayerReader& reader,
                                            const std::string& path);

}  // namespace ridgeline::tensorrt
