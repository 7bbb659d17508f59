// What a layer does, in the classes that lint rules ask for, and the types it works on.
// Names of layer types differ between versions; they are matched here and nowhere else in lint/.
#pragma once

#include "analyzer/tensorrt/engine.h"

namespace ridgeline::tensorrt {

bool does_nothing(const EngineLayer& layer);  // NoOp, or a mark between streams
bool is_constant(const EngineLayer& layer);
bool is_product(const EngineLayer& layer);       // convolution or matrix product
bool is_depthwise(const EngineLayer& layer);     // a product that no tensor core takes
bool is_pointwise(const EngineLayer& layer);     // one result per element, no other neighbours
bool is_quantization(const EngineLayer& layer);  // a quantize or dequantize step by itself
bool is_conversion(const EngineLayer& layer);    // of type or layout, not asked for by the network
bool is_copy(const EngineLayer& layer);          // moves elements, as the network asks

// Of the data that it reads and writes; unknown if it has none.
ElementType input_type(const EngineLayer& layer);
ElementType output_type(const EngineLayer& layer);

// That it multiplies in, as it lies in memory: TF32 is fp32.
ElementType product_type(const EngineLayer& layer);

}  // namespace ridgeline::tensorrt
