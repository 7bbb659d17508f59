// Small ONNX models that together cover everything that a file can contain.
// For property tests and as seeds of the fuzz target; their counts are tested elsewhere.
#pragma once

#include <string>
#include <vector>

namespace ridgeline::testing {

struct SampleModel {
  std::string name;
  std::string bytes;
};

// All messages and all ways to store elements; not meant to be counted.
std::string varied_model();

// Models that can be counted: convolutions, attention, control flow, functions, quantisation …
std::vector<SampleModel> sample_models();

// One model per operator that has a rule, with a few plausible inputs.
std::vector<SampleModel> operator_models();

}  // namespace ridgeline::testing
