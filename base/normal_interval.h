// The 90 % intervals of this project, where what is measured or fitted is taken to be normal.
#pragma once

namespace ridgeline {

inline constexpr double sigma_of_90 = 1.645;  // half-width in standard deviations

}  // namespace ridgeline
