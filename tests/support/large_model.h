// Models with gigabytes of weights, written quickly: chains of matrix products.
// For tests of memory and time; the weights are zeros.
#pragma once

#include <string>

namespace ridgeline::testing {

// The weights on disk: a hole that takes no space, or written, so that the page cache holds them as
// for a file that was just downloaded.
enum class Weights { hole, written };

// x [1, 1024] times `layers` matrices of 1024 × 1024 fp32, 4 MiB each, in the file itself.
void write_large_model(const std::string& path, int layers, Weights weights);

// The same, with the weights in `data_name` beside the model.
void write_large_external_model(const std::string& path, const std::string& data_name, int layers);

}  // namespace ridgeline::testing
