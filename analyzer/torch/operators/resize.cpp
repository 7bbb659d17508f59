// Resizing of images, and sampling at given positions.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

template <Interpolation kind, int axes>
void resize(Call& call) {
  call.emit(Resize{kind, axes, call.out_elements(), 1});
}

// interpolation_mode 0 linear, 1 nearest, 2 cubic.
void grid_sample(Call& call) {
  const std::int64_t mode = call.integer("interpolation_mode", 0);
  const Interpolation kind = mode == 0   ? Interpolation::linear
                             : mode == 1 ? Interpolation::nearest
                                         : Interpolation::cubic;
  call.emit(Resize{kind, call.output().shape.size() == 5 ? 3 : 2, call.out_elements(), 1});
}

// Positions of an affine grid: a product of every position with a small matrix.
void affine_grid(Call& call) {
  const Shape& theta = call.shape("theta");
  if (theta.size() != 3) Call::fail("its matrix is " + to_string(theta));
  std::int64_t rows = 0;
  if (__builtin_mul_overflow(theta[0], theta[1], &rows)) Call::fail("its matrix is too large");
  const std::int64_t positions = call.out_elements() / std::max<std::int64_t>(1, rows);
  call.emit(MatMul{theta[0], positions, theta[1], theta[2]});
}

}  // namespace

std::span<const Operator> resize_operators() {
  static constexpr Operator rows[] = {
      {"aten::upsample_nearest1d", resize<Interpolation::nearest, 1>},
      {"aten::upsample_nearest2d", resize<Interpolation::nearest, 2>},
      {"aten::upsample_nearest3d", resize<Interpolation::nearest, 3>},
      {"aten::_upsample_nearest_exact1d", resize<Interpolation::nearest, 1>},
      {"aten::_upsample_nearest_exact2d", resize<Interpolation::nearest, 2>},
      {"aten::_upsample_nearest_exact3d", resize<Interpolation::nearest, 3>},
      {"aten::upsample_linear1d", resize<Interpolation::linear, 1>},
      {"aten::upsample_bilinear2d", resize<Interpolation::linear, 2>},
      {"aten::_upsample_bilinear2d_aa", resize<Interpolation::linear, 2>},
      {"aten::upsample_trilinear3d", resize<Interpolation::linear, 3>},
      {"aten::upsample_bicubic2d", resize<Interpolation::cubic, 2>},
      {"aten::_upsample_bicubic2d_aa", resize<Interpolation::cubic, 2>},
      {"aten::grid_sampler", grid_sample},
      {"aten::grid_sampler_2d", grid_sample},
      {"aten::grid_sampler_3d", grid_sample},
      {"aten::affine_grid_generator", affine_grid},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
