// Small ONNX models that between them hold a bit of everything that a file can hold.
// For property tests and as first inputs of the fuzz target; what they count is tested elsewhere.
#pragma once

#include <string>
#include <vector>

namespace ridgeline::testing {

struct SampleModel {
  std::string name;
  std::string bytes;
};

// Every message and every way to store elements; not meant to be counted.
std::string varied_model();

// Models that can be counted: convolutions, attention, control flow, functions, quantisation …
std::vector<SampleModel> sample_models();

// One model per operator that has a rule, with a few inputs of a plausible kind.
std::vector<SampleModel> operator_models();

}  // namespace ridgeline::testing
