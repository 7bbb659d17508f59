// Activations and softmax.
#include "analyzer/torch/operators/families.h"

namespace ridgeline::pytorch {
namespace {

template <Function function>
void activation(Call& call) {
  call.elementwise(function);
}

void gelu(Call& call) {
  call.elementwise(call.text("approximate", "none") == "tanh" ? Function::gelu_tanh
                                                              : Function::gelu);
}

// Half of the input gates the other half.
void glu(Call& call) {
  call.elementwise(Function::sigmoid);
  call.elementwise(Function::multiply);
}

void log_sigmoid(Call& call) {
  call.elementwise(Function::sigmoid);
  call.elementwise(Function::log);
}

void softmax(Call& call) { call.emit(Softmax{call.out_elements(), false}); }
void log_softmax(Call& call) { call.emit(Softmax{call.out_elements(), true}); }

}  // namespace

std::span<const Operator> activation_operators() {
  static constexpr Operator rows[] = {
      {"aten::relu", activation<Function::relu>},
      {"aten::relu6", activation<Function::clip>},
      {"aten::hardtanh", activation<Function::clip>},
      {"aten::leaky_relu", activation<Function::leaky_relu>},
      {"aten::rrelu", activation<Function::leaky_relu>},
      {"aten::prelu", activation<Function::leaky_relu>},
      {"aten::_prelu_kernel", activation<Function::leaky_relu>},
      {"aten::threshold", activation<Function::relu>},
      {"aten::elu", activation<Function::elu>},
      {"aten::selu", activation<Function::elu>},
      {"aten::celu", activation<Function::elu>},
      {"aten::gelu", gelu},
      {"aten::silu", activation<Function::swish>},
      {"aten::hardswish", activation<Function::hard_swish>},
      {"aten::hardsigmoid", activation<Function::hard_sigmoid>},
      {"aten::hardshrink", activation<Function::clip>},
      {"aten::softshrink", activation<Function::clip>},
      {"aten::mish", activation<Function::mish>},
      {"aten::softplus", activation<Function::softplus>},
      {"aten::sigmoid", activation<Function::sigmoid>},
      {"aten::special_expit", activation<Function::sigmoid>},
      {"aten::tanh", activation<Function::tanh>},
      {"aten::glu", glu},
      {"aten::log_sigmoid", log_sigmoid},
      {"aten::log_sigmoid_forward", log_sigmoid},
      {"aten::softmax", softmax},
      {"aten::_softmax", softmax},
      {"aten::_safe_softmax", softmax},
      {"aten::special_softmax", softmax},
      {"aten::log_softmax", log_softmax},
      {"aten::_log_softmax", log_softmax},
      {"aten::special_log_softmax", log_softmax},
  };
  return rows;
}

}  // namespace ridgeline::pytorch
