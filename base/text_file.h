// Reading a whole file into memory, with an Error that says why it cannot be read.
// Not for model weights: those are mapped, never read.
#pragma once

#include <cstddef>
#include <string>

namespace ridgeline {

// The largest text (JSON, CSV, nvpmodel.conf) that makes sense, and the largest model in a pipe.
inline constexpr std::size_t max_text_bytes = std::size_t{64} << 20;
inline constexpr std::size_t max_piped_model_bytes = std::size_t{1} << 30;

// Works for pipes such as /dev/stdin too; a longer file is an Error, not an allocation.
std::string read_text_file(const std::string& path, std::size_t max_bytes = max_text_bytes);

}  // namespace ridgeline
