// The corpus of public ONNX models: $RIDGELINE_DATA/onnx, if the tester has it.
// It is not part of the repository; tests that need it skip with a message if it is missing.
#pragma once

#include <string>
#include <vector>

namespace ridgeline::testing {

// The folder, or "" if there is none.
std::string corpus_folder();

// All its .onnx files, sorted; names are relative to the folder ("ort_nets/mnist.onnx").
std::vector<std::string> corpus_files();

}  // namespace ridgeline::testing

#define RIDGELINE_SKIP_WITHOUT_CORPUS()              \
  if (::ridgeline::testing::corpus_folder().empty()) \
  GTEST_SKIP() << "RIDGELINE_DATA is not set, "      \
                  "or has no folder onnx"
