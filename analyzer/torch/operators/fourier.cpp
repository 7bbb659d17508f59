// Fourier transforms along one or several dimensions, and the short-time one.
#include <algorithm>

#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

// One transform per dimension, of the longer of input and output.
void transform(Call& call, bool real, std::size_t default_axes) {
  const Shape& in = call.first().shape;
  const Shape& out = call.output().shape;
  if (in.empty() || out.size() != in.size()) Call::fail("its input is " + to_string(in));
  Shape axes;
  for (std::size_t i = in.size() - std::min(default_axes, in.size()); i < in.size(); ++i)
    axes.push_back(static_cast<std::int64_t>(i));
  if (const auto given = call.integers("dim")) axes = *given;
  const std::int64_t elements = std::max(element_count(in), element_count(out));
  for (const std::int64_t given : axes) {
    const auto axis = normalized_axis(given, in.size());
    if (!axis) Call::fail("it has no dimension " + std::to_string(given));
    const std::int64_t length = std::max<std::int64_t>(1, std::max(in[*axis], out[*axis]));
    call.emit(FourierTransform{std::max<std::int64_t>(1, elements / length), length, real});
  }
}

template <bool real, std::size_t axes>
void fft(Call& call) {
  transform(call, real, axes);
}

// A transform per frame: [… frequencies, frames].
void stft(Call& call) {
  const Shape& out = call.output().shape;
  const std::int64_t length = std::max<std::int64_t>(1, call.integer("n_fft", 1));
  const bool onesided = call.flag("onesided", true);
  const std::int64_t frequencies = onesided ? length / 2 + 1 : length;
  std::int64_t frames = element_count(out) / std::max<std::int64_t>(1, frequencies);
  if (!call.flag("return_complex", true)) frames /= 2;
  std::int64_t samples = 0;
  if (__builtin_mul_overflow(frames, length, &samples)) Call::fail("its frames are too large");
  if (call.has("window")) call.emit(Elementwise{Function::multiply, samples});
  call.emit(FourierTransform{frames, length, onesided});
}

}  // namespace

std::span<const Operator> fourier_operators() {
  static constexpr Operator rows[] = {
      {"aten::fft_fft", fft<false, 1>},  {"aten::fft_ifft", fft<false, 1>},
      {"aten::fft_rfft", fft<true, 1>},  {"aten::fft_irfft", fft<true, 1>},
      {"aten::fft_fft2", fft<false, 2>}, {"aten::fft_ifft2", fft<false, 2>},
      {"aten::fft_rfft2", fft<true, 2>}, {"aten::fft_irfft2", fft<true, 2>},
      {"aten::fft_fftn", fft<false, 8>}, {"aten::fft_ifftn", fft<false, 8>},
      {"aten::_fft_c2c", fft<false, 1>}, {"aten::_fft_r2c", fft<true, 1>},
      {"aten::_fft_c2r", fft<true, 1>},  {"aten::stft", stft},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
