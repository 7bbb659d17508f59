// Display names of roofs and slopes: "FP32 AVX-512", "DRAM read".
// The tokens in files are in base/tokens.h.
#pragma once

#include <string>
#include <string_view>

#include "base/tokens.h"

namespace ridgeline {

std::string upper_case(std::string_view text);

// "avx512f" → "AVX-512"; an instruction set without a row here is upper-cased.
std::string isa_name(std::string_view isa);

std::string roof_name(DType dtype, Unit unit, std::string_view isa);
// For datasheet peaks and every GPU row: "FP16 tensor cores", "INT8 tensor cores sparse".
std::string datasheet_roof_name(Processor processor, DType dtype, Unit unit, bool sparse);
std::string slope_name(Level level, Direction direction);

// "FLOP/s", or "OP/s" for integer dtypes.
std::string_view rate_unit(DType dtype);

}  // namespace ridgeline
