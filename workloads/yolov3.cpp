// YOLOv3-tiny as in darknet's configuration file, with its section numbers as names.
// Ends with the raw predictions of both scales after their logistic functions; boxes are neither
// decoded nor suppressed.
#include <fmt/format.h>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace yolov3_parts {

Operand convolutional(NetworkBuilder& net, int section, Operand x, std::int64_t filters,
                      std::int64_t size) {
  const auto scope = net.scope(fmt::format("{}", section));
  x = net.conv("conv", x, filters, {.kernel = size, .padding = size / 2});
  return net.activation("leaky", net.batch_norm("bn", x), Function::leaky_relu);
}

// Darknet pads so that a stride of 1 keeps the size; odd sizes are rounded up.
Operand maxpool(NetworkBuilder& net, int section, Operand x, std::int64_t stride) {
  return net.max_pool(fmt::format("{}.maxpool", section), x,
                      {.kernel = 2, .stride = stride, .same = true});
}

// Three anchors of four coordinates, one objectness and the classes. Width and height stay
// unchanged; all others go through a logistic function.
void predict(NetworkBuilder& net, int section, Operand x) {
  const std::int64_t values = net.settings().classes + 5;
  x = net.conv(fmt::format("{}.conv", section), x, 3 * values, {.bias = true});
  const Elementwise logistic{Function::sigmoid,
                             element_count(net.shape(x)) / values * (values - 2)};
  net.output(
      net.layer(fmt::format("{}.yolo", section + 1), "Sigmoid", logistic, {x}, net.shape(x)));
}

void yolov3_tiny(NetworkBuilder& net) {
  Operand x = net.image_input();
  Operand route = x;
  int section = 0;
  for (const std::int64_t filters : {16, 32, 64, 128, 256, 512}) {
    x = convolutional(net, section++, x, filters, 3);
    if (filters == 256) route = x;
    x = maxpool(net, section++, x, filters == 512 ? 1 : 2);
  }
  x = convolutional(net, 12, x, 1024, 3);
  const Operand coarse = convolutional(net, 13, x, 256, 1);
  predict(net, 15, convolutional(net, 14, coarse, 512, 3));

  x = convolutional(net, 18, coarse, 128, 1);
  x = net.resize("19.upsample", x, {2 * net.dimension(x, 2), 2 * net.dimension(x, 3)},
                 Interpolation::nearest);
  x = net.concat("20.route", {x, route}, 1);
  predict(net, 22, convolutional(net, 21, x, 256, 3));
}

}  // namespace yolov3_parts

std::span<const Workload> yolov3_workloads() {
  using namespace yolov3_parts;
  static constexpr Workload rows[] = {{
      .name = "yolov3_tiny",
      .family = "yolo",
      .source = "darknet",
      .address = "https://github.com/pjreddie/darknet/blob/master/cfg/yolov3-tiny.cfg",
      .options = image_options,
      .image = 416,
      .classes = 80,
      .build = yolov3_tiny,
  }};
  return rows;
}

}  // namespace ridgeline
