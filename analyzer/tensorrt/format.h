// Format: how a tensor of an engine lies in memory, read from the phrases of TensorRT ("Thirty-two
// wide channel vectorized row major Int8 format", "Half"). Read by pattern, since every version
// words them a little differently. Padding counts as bytes, as it is moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/graph/element_type.h"
#include "analyzer/graph/shape.h"
#include "base/tokens.h"

namespace ridgeline::tensorrt {

enum class Layout {
  linear,          // NCHW
  channel_vector,  // NC/vHWv
  channel_last,    // NHWC
  unknown          // "Unknown format", "N/A due to dynamic shapes"
};

struct Format {
  ElementType type = ElementType::unknown;
  Layout layout = Layout::unknown;
  std::int64_t channel_multiple = 1;  // channels are padded to a multiple of it
  std::int64_t row_multiple = 1;      // rows are padded to a multiple of it (DLA)
  int spatial = 2;                    // axes behind the channels

  friend bool operator==(const Format&, const Format&) = default;
};

// The type and layout that a phrase names; what it does not name stays unknown.
Format parse_format(std::string_view phrase);

// "Float", "Half", "FP16", "Int8" …; unknown for any other word.
ElementType parse_element_type(std::string_view word);

// Elements including padding; nothing if a dimension is dynamic or the product overflows.
std::optional<std::int64_t> padded_elements(const Shape& shape, const Format& format);

}  // namespace ridgeline::tensorrt

namespace ridgeline {

template <>
struct TokenTable<tensorrt::Layout> {
  static constexpr std::string_view noun = "layout";
  static constexpr std::array<std::pair<tensorrt::Layout, std::string_view>, 4> rows{
      {{tensorrt::Layout::linear, "linear"},
       {tensorrt::Layout::channel_vector, "channel_vector"},
       {tensorrt::Layout::channel_last, "channel_last"},
       {tensorrt::Layout::unknown, "unknown"}}};
};

}  // namespace ridgeline
