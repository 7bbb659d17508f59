// Changes an ONNX model the way a fuzzer wants it: fields are dropped, doubled, exchanged or
// replaced, and all lengths around them are right again.
// Random changes of bytes mostly break a length, and then no more than the reader is tested.
#pragma once

#include <functional>
#include <string>

namespace ridgeline::testing {

// Changes bytes at random; they may become as long as the limit.
using ByteMutator = std::function<void(std::string& bytes, std::size_t limit)>;

// The model with one to three changes; empty where the bytes are no protobuf message.
std::string mutated_model(const std::string& bytes, unsigned seed, const ByteMutator& mutate);

}  // namespace ridgeline::testing
