// The corpus of public ONNX models: $RIDGELINE_DATA/onnx, where a tester has it.
// It is no part of the repository; tests that need it say so and skip where it is missing.
#pragma once

#include <string>
#include <vector>

namespace ridgeline::testing {

// The folder, or "" where there is none.
std::string corpus_folder();

// Every .onnx file of it, sorted; names are relative to the folder ("ort_nets/mnist.onnx").
std::vector<std::string> corpus_files();

}  // namespace ridgeline::testing

#define RIDGELINE_SKIP_WITHOUT_CORPUS()              \
  if (::ridgeline::testing::corpus_folder().empty()) \
  GTEST_SKIP() << "RIDGELINE_DATA is not set, "      \
                  "or has no folder onnx"
