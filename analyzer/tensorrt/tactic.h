// Tactic: what the name of a kernel says about it, such as
// "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x64x32_…_tensor16x8x16":
// architecture, type of the arithmetic, tile and tensor cores. What a name leaves out is absent.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/tokens.h"

namespace ridgeline::tensorrt {

struct Tactic {
  std::optional<int> architecture;         // compute capability × 10: 80; built for, not run on
  std::optional<DType> dtype;              // of its products
  std::optional<std::array<int, 3>> tile;  // m, n, k
  std::optional<bool> tensor_cores;
  bool winograd = false;  // multiplies less often than the convolution is counted

  friend bool operator==(const Tactic&, const Tactic&) = default;
};

Tactic parse_tactic(std::string_view name);

}  // namespace ridgeline::tensorrt
