// Subject: what measurements can teach about the time of kernels: the rate of a kind of kernel, a
// type, a runtime, a chip. Which of them were taught is listed in roofline/model/familiarity.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/tokens.h"

namespace ridgeline {

// Kinds of kernels first, then the host that launches them; the last three hold for all kernels of
// a type, a runtime or a chip.
enum class Subject {
  depthwise,
  attention,
  recurrent,
  gather,
  resize,
  other,
  window_attention,
  grid_sample,
  region_align,
  deformable,
  volumetric,
  grouped,
  transposed,
  sort,
  fourier,
  scatter,
  small_int8,
  host,
  dtype,
  runtime,
  device
};

template <>
struct TokenTable<Subject> {
  static constexpr std::string_view noun = "subject";
  static constexpr std::array<std::pair<Subject, std::string_view>, 21> rows{
      {{Subject::depthwise, "depthwise"},
       {Subject::attention, "attention"},
       {Subject::recurrent, "recurrent"},
       {Subject::gather, "gather"},
       {Subject::resize, "resize"},
       {Subject::other, "other"},
       {Subject::window_attention, "window_attention"},
       {Subject::grid_sample, "grid_sample"},
       {Subject::region_align, "region_align"},
       {Subject::deformable, "deformable"},
       {Subject::volumetric, "volumetric"},
       {Subject::grouped, "grouped"},
       {Subject::transposed, "transposed"},
       {Subject::sort, "sort"},
       {Subject::fourier, "fourier"},
       {Subject::scatter, "scatter"},
       {Subject::small_int8, "small_int8"},
       {Subject::host, "host"},
       {Subject::dtype, "dtype"},
       {Subject::runtime, "runtime"},
       {Subject::device, "device"}}};
};
inline constexpr std::size_t subject_count = TokenTable<Subject>::rows.size();
constexpr std::size_t index_of(Subject subject) { return static_cast<std::size_t>(subject); }

}  // namespace ridgeline
