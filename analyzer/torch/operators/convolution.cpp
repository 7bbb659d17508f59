// Convolutions, plain, transposed and deformable. Strides, padding and dilation are in the shapes
// of the tensors already.
#include <algorithm>

#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

Shape after(const Shape& shape, std::size_t first) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(std::min(first, shape.size())), shape.end()};
}

void add_convolution(Call& call, bool transposed, bool deformable = false) {
  const Shape& data = call.shape("input");
  const Shape& weight = call.shape("weight");
  const Shape& out = call.output().shape;
  const std::size_t spatial = weight.size() < 2 ? 0 : weight.size() - 2;
  // Without a batch, data has one dimension less.
  const std::size_t lead = spatial + 2 == data.size() ? 2 : 1;
  if (spatial == 0 || data.size() != spatial + lead || out.size() != data.size())
    Call::fail("its input, weight and output are " + to_string(data) + ", " + to_string(weight) +
               " and " + to_string(out));
  Convolution op;
  op.batch = lead == 2 ? data[0] : 1;
  op.in_channels = data[lead - 1];
  op.out_channels = out[lead - 1];
  op.groups = std::max<std::int64_t>(1, call.integer("groups", 1));
  if (deformable && weight[1] > 0) op.groups = std::max<std::int64_t>(1, data[1] / weight[1]);
  op.kernel = after(weight, 2);
  op.in_spatial = after(data, lead);
  op.out_spatial = after(out, lead);
  op.transposed = transposed;
  op.deformable = deformable;
  op.bias = call.tensor("bias") != nullptr;
  call.order({"input", "weight", "bias"});
  call.emit(op);
}

void conv(Call& call) { add_convolution(call, false); }
void conv_transpose(Call& call) { add_convolution(call, true); }
void any_convolution(Call& call) { add_convolution(call, call.flag("transposed", false)); }
void deform_conv2d(Call& call) { add_convolution(call, false, true); }

}  // namespace

std::span<const Operator> convolution_operators() {
  static constexpr Operator rows[] = {
      {"aten::conv1d", conv},
      {"aten::conv2d", conv},
      {"aten::conv3d", conv},
      {"aten::conv_transpose1d", conv_transpose},
      {"aten::conv_transpose2d", conv_transpose},
      {"aten::conv_transpose3d", conv_transpose},
      {"aten::convolution", any_convolution},
      {"aten::_convolution", any_convolution},
      {"aten::_convolution_mode", conv},
      {"aten::mkldnn_convolution", conv},
      {"aten::thnn_conv2d", conv},
      {"aten::_slow_conv2d_forward", conv},
      {"torchvision::deform_conv2d", deform_conv2d},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
