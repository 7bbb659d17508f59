// Normalisations, raw and in the forms that decompositions leave.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

std::int64_t channels(const Shape& data) { return data.size() > 1 ? data[1] : 1; }

void emit_normalization(Call& call, Normalization kind, std::int64_t rows, bool training = false) {
  const Tensor& data = call.first();
  call.emit(Normalize{kind, element_count(data.shape), rows, call.tensor("weight") != nullptr,
                      training, 0});
}

// `train` and `training` are the same argument of two forms. Without running statistics those of
// the batch are used.
void batch_norm(Call& call) {
  const bool training =
      call.flag("training", call.flag("train", false)) || call.tensor("running_mean") == nullptr;
  const Shape& data = call.first().shape;
  emit_normalization(call, Normalization::batch, training ? channels(data) : 0, training);
}

std::int64_t rows_outside(Call& call, const Shape& data) {
  const std::size_t inside = call.integers("normalized_shape").value_or(Shape{1}).size();
  if (inside > data.size()) Call::fail("it normalises more dimensions than its input has");
  return element_count(std::span(data).first(data.size() - inside));
}

void layer_norm(Call& call) {
  emit_normalization(call, Normalization::layer, rows_outside(call, call.first().shape));
}

void rms_norm(Call& call) {
  emit_normalization(call, Normalization::rms, rows_outside(call, call.first().shape));
}

void group_norm(Call& call) {
  const Shape& data = call.first().shape;
  const std::int64_t groups = call.integer("num_groups", call.integer("group", 1));
  std::int64_t rows = data.empty() ? 1 : data[0];
  if (__builtin_mul_overflow(rows, groups, &rows)) Call::fail("it has too many groups");
  emit_normalization(call, Normalization::group, rows);
}

void instance_norm(Call& call) {
  const Shape& data = call.first().shape;
  const std::size_t lead = std::min<std::size_t>(2, data.size());
  emit_normalization(call, Normalization::instance, element_count(std::span(data).first(lead)));
}

// Rows of a weight by their lengths: g · v / |v|.
void weight_norm(Call& call) {
  const std::int64_t elements = element_count(call.shape("v"));
  call.emit(Reduce{Reduction::l2, elements, element_count(call.shape("g"))});
  call.emit(Elementwise{Function::divide, elements});
  call.emit(Elementwise{Function::multiply, elements});
}

}  // namespace

std::span<const Operator> normalization_operators() {
  static constexpr Operator rows[] = {
      {"aten::batch_norm", batch_norm},
      {"aten::native_batch_norm", batch_norm},
      {"aten::_native_batch_norm_legit", batch_norm},
      {"aten::_native_batch_norm_legit_functional", batch_norm},
      {"aten::_native_batch_norm_legit_no_training", batch_norm},
      {"aten::_batch_norm_no_update", batch_norm},
      {"aten::_batch_norm_with_update", batch_norm},
      {"aten::cudnn_batch_norm", batch_norm},
      {"aten::miopen_batch_norm", batch_norm},
      {"aten::layer_norm", layer_norm},
      {"aten::native_layer_norm", layer_norm},
      {"aten::rms_norm", rms_norm},
      {"aten::_fused_rms_norm", rms_norm},
      {"aten::group_norm", group_norm},
      {"aten::native_group_norm", group_norm},
      {"aten::instance_norm", instance_norm},
      {"aten::_weight_norm", weight_norm},
      {"aten::_weight_norm_interface", weight_norm},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
