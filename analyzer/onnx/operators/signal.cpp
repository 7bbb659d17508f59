// Signal processing, such as spectrograms in front of a speech network: Fourier transforms,
// windows, mel weights, Col2Im, determinants and inverses.
#include <algorithm>
#include <string>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/operators/checks.h"
#include "analyzer/onnx/operators/emission.h"
#include "analyzer/onnx/operators/families.h"
#include "analyzer/onnx/operators/sizes.h"
#include "analyzer/onnx/operators/steering.h"

namespace ridgeline::onnx {
namespace {

// A length from a scalar input; an Error unless positive.
std::int64_t steering_length(NodeContext& context, std::size_t input, const char* noun) {
  const std::int64_t length = steering_integer(context, input);
  if (length < 1 || length > max_dimension)
    context.fail(std::string(noun) + " is " + std::to_string(length));
  return length;
}

// The transformed axis depends on data, the result's shape does not: the longest axis gives an
// upper bound on the cost.
void declared_fourier_transform(NodeContext& context, const Shape& declared) {
  const std::int64_t length = *std::max_element(declared.begin(), declared.end());
  context.set_is_bound();
  context.emit(FourierTransform{length == 0 ? 0 : element_count(declared) / length, length,
                                context.shape(0).back() == 1});
}

// The last axis holds real and imaginary part. The axis became an input in opset 20.
void discrete_fourier_transform(NodeContext& context) {
  want_rank_at_least(context, 0, 2);
  Shape shape = context.shape(0);
  if (const Shape* declared = context.declared_instead_of({1, 2}, 0);
      declared != nullptr && !declared->empty())
    return declared_fourier_transform(context, *declared);
  const std::int64_t given = context.opset() < 20 ? context.integer("axis", 1)
                             : context.has(2)     ? steering_integer(context, 2)
                                                  : -2;
  const std::size_t axis = context.axis(given, shape.size());
  if (axis + 1 == shape.size()) context.fail("a transform along the axis of complex parts");
  const bool onesided = context.integer("onesided", 0) != 0;
  const bool to_real = onesided && context.integer("inverse", 0) != 0;
  std::int64_t length = to_real ? 2 * (shape[axis] - 1) : shape[axis];
  if (context.has(1)) length = steering_length(context, 1, "the length of the transform");
  length = std::max<std::int64_t>(length, 0);
  const bool from_real = shape.back() == 1;
  shape[axis] = onesided && !to_real ? length / 2 + 1 : length;
  shape.back() = to_real ? 1 : 2;
  context.set(0, context.type(0), shape);
  const std::int64_t signals = multiplied(
      context,
      {extent(context, shape, 0, axis), extent(context, shape, axis + 1, shape.size() - 1)});
  context.emit(FourierTransform{signals, length, from_real || to_real});
}

// [signals, frames, bins, 2] as the file declares it. The length of a frame follows from its
// window, else from the bins; a one-sided transform of an odd length has the bins of the even one
// below.
void declared_frames(NodeContext& context, const Shape& result) {
  if (result.size() != 4) context.fail("its declared output does not have 4 dimensions");
  const Shape& signal = context.shape(0);
  const bool onesided = context.integer("onesided", 1) != 0;
  std::int64_t length = onesided ? std::max<std::int64_t>(2 * (result[2] - 1), 1) : result[2];
  if (context.has(2)) length = element_count(context.shape(2));
  const std::int64_t transforms = multiplied(context, {result[0], result[1]});
  if (context.has(2))
    emit_elementwise(context, ElementFunction::multiply, multiplied(context, {transforms, length}));
  context.emit(FourierTransform{transforms, length, signal.size() == 2 || signal.back() == 1});
}

void short_time_fourier_transform(NodeContext& context) {
  want_rank_at_least(context, 0, 2);
  if (const Shape* result = context.declared_instead_of({1, 3}, 0))
    return declared_frames(context, *result);
  const Shape& signal = context.shape(0);
  const std::int64_t step = steering_length(context, 1, "the step between frames");
  std::int64_t length = signal[1];
  if (context.has(2)) length = element_count(context.shape(2));
  if (context.has(3)) length = steering_length(context, 3, "the length of a frame");
  if (length < 1 || length > signal[1])
    context.fail("frames of " + std::to_string(length) + " samples in a signal of " +
                 std::to_string(signal[1]));
  const std::int64_t frames = (signal[1] - length) / step + 1;
  const bool onesided = context.integer("onesided", 1) != 0;
  context.set(0, context.type(0), {signal[0], frames, onesided ? length / 2 + 1 : length, 2});
  const std::int64_t transforms = multiplied(context, {signal[0], frames});
  if (context.has(2))
    emit_elementwise(context, ElementFunction::multiply, multiplied(context, {transforms, length}));
  context.emit(FourierTransform{transforms, length, signal.size() == 2 || signal.back() == 1});
}

// com.microsoft: transforms the last signal_ndim axes; the result is one-sided.
void real_fourier_transform(NodeContext& context) {
  want_rank_at_least(context, 0, 1);
  Shape shape = context.shape(0);
  const std::int64_t length = shape.back();
  const bool onesided = context.integer("onesided", 1) != 0;
  const std::int64_t count = element_count(shape);
  if (onesided) shape.back() = length / 2 + 1;
  shape.push_back(2);
  context.set(0, context.type(0), shape);
  context.emit(FourierTransform{length == 0 ? 0 : count / length, length, true});
}

void inverse_real_fourier_transform(NodeContext& context) {
  want_rank_at_least(context, 0, 2);
  Shape shape = context.shape(0);
  shape.pop_back();
  const bool onesided = context.integer("onesided", 1) != 0;
  const std::int64_t signals = extent(context, shape, 0, shape.size() - 1);
  if (onesided) shape.back() = std::max<std::int64_t>(2 * (shape.back() - 1), 0);
  context.set(0, context.type(0), shape);
  context.emit(FourierTransform{signals, shape.back(), true});
}

void window(NodeContext& context, std::int64_t cosines) {
  const std::int64_t size = steering_integer(context, 0);
  const ElementType type = element_type(context.integer("output_datatype", 1));
  context.set(0, type, {size});
  emit_in(context,
          Elementwise{ElementFunction::trigonometric, multiplied(context, {cosines, size})}, type);
}

void raised_cosine_window(NodeContext& context) { window(context, 1); }

void blackman_window(NodeContext& context) { window(context, 2); }

void mel_weight_matrix(NodeContext& context) {
  for (std::size_t i = 2; i < 5; ++i) context.not_data(i);
  const std::int64_t bins = steering_integer(context, 0);
  const std::int64_t length = steering_length(context, 1, "the length of the transform");
  const ElementType type = element_type(context.integer("output_datatype", 1));
  const Shape shape{length / 2 + 1, bins};
  context.set(0, type, shape);
  emit_in(context, Elementwise{ElementFunction::multiply, element_count(shape)}, type);
}

// Sums blocks [batch, channels·block, number] where they overlap in the image.
void col2im(NodeContext& context) {
  want_rank(context, 0, 3);
  const Shape& from = context.shape(0);
  context.not_data(1);
  context.not_data(2);
  if (context.declared_instead_of({1, 2}, 0) != nullptr)
    return context.emit(Elementwise{ElementFunction::add, element_count(from)});
  const auto image = context.needed_integers(1);
  const auto block = context.needed_integers(2);
  want_equal(context, "the rank of the block", static_cast<std::int64_t>(block.size()),
             static_cast<std::int64_t>(image.size()));
  std::int64_t taps = 1;
  for (const std::int64_t size : block) taps = multiplied(context, {taps, size});
  Shape shape{from[0], divided(context, "the number of channels", from[1], taps)};
  shape.insert(shape.end(), image.begin(), image.end());
  context.set(0, context.type(0), shape);
}

std::int64_t square_matrices(const NodeContext& context) {
  want_rank_at_least(context, 0, 2);
  const Shape& shape = context.shape(0);
  want_equal(context, "the height of the matrices", context.dimension(0, -2), shape.back());
  return extent(context, shape, 0, shape.size() - 2);
}

// Elimination takes 2/3 n³ operations, an inverse three times that.
void determinant(NodeContext& context) {
  const std::int64_t matrices = square_matrices(context);
  const Shape& shape = context.shape(0);
  const std::int64_t size = shape.back();
  context.set(0, context.type(0), Shape(shape.begin(), shape.end() - 2));
  context.emit(Elementwise{ElementFunction::multiply,
                           multiplied(context, {matrices, 2, size, size, size}) / 3});
}

void inverse(NodeContext& context) {
  const std::int64_t matrices = square_matrices(context);
  const std::int64_t size = context.shape(0).back();
  context.set(0, context.type(0), context.shape(0));
  context.emit(
      Elementwise{ElementFunction::multiply, multiplied(context, {matrices, 2, size, size, size})});
}

void image_decoder(NodeContext&) {
  throw CannotInfer{"the size of an encoded image stands in its data"};
}

}  // namespace

std::span<const Operator> signal_operators() {
  static constexpr Operator rows[] = {
      {"", "DFT", discrete_fourier_transform},
      {"", "STFT", short_time_fourier_transform},
      {"", "HannWindow", raised_cosine_window},
      {"", "HammingWindow", raised_cosine_window},
      {"", "BlackmanWindow", blackman_window},
      {"", "MelWeightMatrix", mel_weight_matrix},
      {"", "Col2Im", col2im},
      {"", "Det", determinant},
      {"", "ImageDecoder", image_decoder},
      {"com.microsoft", "Inverse", inverse},
      {"com.microsoft", "Rfft", real_fourier_transform},
      {"com.microsoft", "Irfft", inverse_real_fourier_transform},
  };
  return rows;
}

}  // namespace ridgeline::onnx
