// Mutates an ONNX model for a fuzzer: fields are dropped, doubled, swapped or replaced, and all
// enclosing lengths are corrected.
// Random byte changes mostly break a length, and then only the reader is tested.
#pragma once

#include <functional>
#include <string>

namespace ridgeline::testing {

// Changes bytes at random; their length may grow up to the limit.
using ByteMutator = std::function<void(std::string& bytes, std::size_t limit)>;

// The model with one to three changes; empty if the bytes are not a protobuf message.
std::string mutated_model(const std::string& bytes, unsigned seed, const ByteMutator& mutate);

}  // namespace ridgeline::testing
