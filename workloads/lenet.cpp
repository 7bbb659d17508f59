// LeNet-5 as drawn in the paper, with plain average pooling and a fully connected output.
// Like later implementations, without the trainable pooling, sparse C3 and radial-basis output.
#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace lenet_parts {

void lenet5(NetworkBuilder& net) {
  Operand x = net.image_input(1);
  x = net.activation("tanh1", net.conv("conv1", x, 6, {.kernel = 5, .bias = true}), Function::tanh);
  x = net.average_pool("pool1", x, {.kernel = 2, .stride = 2});
  x = net.activation("tanh2", net.conv("conv2", x, 16, {.kernel = 5, .bias = true}),
                     Function::tanh);
  x = net.flatten("flatten", net.average_pool("pool2", x, {.kernel = 2, .stride = 2}));
  x = net.activation("tanh3", net.linear("fc1", x, 120), Function::tanh);
  x = net.activation("tanh4", net.linear("fc2", x, 84), Function::tanh);
  net.output(net.linear("fc3", x, net.settings().classes));
}

}  // namespace lenet_parts

std::span<const Workload> lenet_workloads() {
  using namespace lenet_parts;
  static constexpr Workload rows[] = {{
      .name = "lenet5",
      .family = "lenet",
      .source = "paper, LeCun et al. 1998",
      .address = "https://doi.org/10.1109/5.726791",
      // No image option: the first fully connected layer only fits 32x32.
      .options = {WorkloadOption::batch, WorkloadOption::dtype, WorkloadOption::precision,
                  WorkloadOption::classes},
      .image = 32,
      .classes = 10,
      .build = lenet5,
  }};
  return rows;
}

}  // namespace ridgeline
