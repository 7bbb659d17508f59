// YOLOv8n: a backbone of partial residual blocks, two ways across scales, an anchor-free head.
// After Ultralytics' published configuration, with boxes decoded as in its exports, but not
// suppressed.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/builder.h"
#include "workloads/families.h"

namespace ridgeline {
namespace yolov8_parts {

constexpr std::int64_t bins = 16;  // of the distribution for each side of a box

Operand unit(NetworkBuilder& net, std::string_view name, Operand x, std::int64_t channels,
             std::int64_t kernel, std::int64_t stride = 1) {
  const auto scope = net.scope(name);
  x = net.conv("conv", x, channels, {.kernel = kernel, .stride = stride, .padding = kernel / 2});
  return net.swish("act", net.batch_norm("bn", x));
}

// C2f: half of the channels pass through bottlenecks, and all stages are joined at the end.
Operand partial_block(NetworkBuilder& net, int index, Operand x, std::int64_t channels, int depth,
                      bool residual) {
  const auto scope = net.scope(fmt::format("{}", index));
  const std::int64_t half = channels / 2;
  std::vector<Operand> stages =
      net.split("chunk", unit(net, "cv1", x, channels, 1), {half, half}, 1);
  for (int i = 0; i < depth; ++i) {
    const auto names = net.scope(fmt::format("m.{}", i));
    const Operand before = stages.back();
    Operand y = unit(net, "cv2", unit(net, "cv1", before, half, 3), half, 3);
    if (residual) y = net.add("add", before, y);
    stages.push_back(y);
  }
  return unit(net, "cv2", net.concat("cat", stages, 1), channels, 1);
}

// SPPF: successive pooling over ever wider windows.
Operand pyramid_pool(NetworkBuilder& net, int index, Operand x, std::int64_t channels) {
  const auto scope = net.scope(fmt::format("{}", index));
  std::vector<Operand> stages{unit(net, "cv1", x, channels / 2, 1)};
  for (int i = 0; i < 3; ++i)
    stages.push_back(net.max_pool("m", stages.back(), {.kernel = 5, .stride = 1, .padding = 2}));
  return unit(net, "cv2", net.concat("cat", stages, 1), channels, 1);
}

Operand doubled(NetworkBuilder& net, int index, Operand x) {
  return net.resize(fmt::format("{}", index), x, {2 * net.dimension(x, 2), 2 * net.dimension(x, 3)},
                    Interpolation::nearest);
}

Operand head_branch(NetworkBuilder& net, const std::string& name, Operand x, std::int64_t width,
                    std::int64_t channels) {
  const auto scope = net.scope(name);
  x = unit(net, "1", unit(net, "0", x, width, 3), width, 3);
  return net.conv("2", x, channels, {.bias = true});
}

// Distances of the four sides from each position, as the mean of their distributions.
Operand distances(NetworkBuilder& net, Operand x, std::int64_t positions) {
  const std::int64_t batch = net.dimension(x, 0);
  const auto scope = net.scope("dfl");
  x = net.reshape("view", x, {batch, 4, bins, positions});
  x = net.transpose_view("transpose", x, {batch, bins, 4, positions});
  x = net.conv("conv", net.softmax("softmax", x), 1, {});
  return net.reshape("view", x, {batch, 4, positions});
}

// Centre, width and height in pixels, from the distances and the position of each anchor.
Operand boxes(NetworkBuilder& net, Operand x, std::int64_t positions) {
  const Operand anchors = net.constant("anchors", {1, 2, positions});
  const auto sides = net.split("chunk", x, {2, 2}, 1);
  const Operand near = net.combine("sub", anchors, sides[0], Function::subtract);
  const Operand far = net.add("add", anchors, sides[1]);
  const Operand centre = net.activation("div", net.add("add", near, far), Function::divide);
  const Operand extent = net.combine("sub", far, near, Function::subtract);
  return net.multiply("mul", net.concat("cat", {centre, extent}, 1),
                      net.constant("strides", {1, positions}));
}

void detect(NetworkBuilder& net, const std::array<Operand, 3>& features) {
  const auto scope = net.scope("22");
  const std::int64_t batch = net.settings().batch, classes = net.settings().classes;
  const std::int64_t first = net.dimension(features[0], 1);
  const std::int64_t box_width = std::max<std::int64_t>({16, first / 4, 4 * bins});
  const std::int64_t class_width = std::max(first, std::min<std::int64_t>(classes, 100));
  std::vector<Operand> scales;
  std::int64_t positions = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Operand box =
        head_branch(net, fmt::format("cv2.{}", i), features[i], box_width, 4 * bins);
    const Operand score =
        head_branch(net, fmt::format("cv3.{}", i), features[i], class_width, classes);
    const Operand both = net.concat("cat", {box, score}, 1);
    const std::int64_t here = net.dimension(both, 2) * net.dimension(both, 3);
    scales.push_back(net.reshape("view", both, {batch, 4 * bins + classes, here}));
    positions += here;
  }
  const Operand all = net.concat("cat", scales, 2);
  const auto parts = net.split("split", all, {4 * bins, classes}, 1);
  const Operand box = boxes(net, distances(net, parts[0], positions), positions);
  const Operand score = net.activation("sigmoid", parts[1], Function::sigmoid);
  net.output(net.concat("cat", {box, score}, 1));
}

void yolov8n(NetworkBuilder& net) {
  const Operand image = net.image_input();
  const auto scope = net.scope("model");
  Operand x = unit(net, "1", unit(net, "0", image, 16, 3, 2), 32, 3, 2);
  x = partial_block(net, 2, x, 32, 1, true);
  const Operand p3 = partial_block(net, 4, unit(net, "3", x, 64, 3, 2), 64, 2, true);
  const Operand p4 = partial_block(net, 6, unit(net, "5", p3, 128, 3, 2), 128, 2, true);
  x = partial_block(net, 8, unit(net, "7", p4, 256, 3, 2), 256, 1, true);
  const Operand p5 = pyramid_pool(net, 9, x, 256);

  x = net.concat("11", {doubled(net, 10, p5), p4}, 1);
  const Operand middle = partial_block(net, 12, x, 128, 1, false);
  x = net.concat("14", {doubled(net, 13, middle), p3}, 1);
  const Operand fine = partial_block(net, 15, x, 64, 1, false);
  x = net.concat("17", {unit(net, "16", fine, 64, 3, 2), middle}, 1);
  const Operand medium = partial_block(net, 18, x, 128, 1, false);
  x = net.concat("20", {unit(net, "19", medium, 128, 3, 2), p5}, 1);
  const Operand coarse = partial_block(net, 21, x, 256, 1, false);
  detect(net, {fine, medium, coarse});
}

}  // namespace yolov8_parts

std::span<const Workload> yolov8_workloads() {
  using namespace yolov8_parts;
  static constexpr Workload rows[] = {{
      .name = "yolov8n",
      .family = "yolo",
      .source = "Ultralytics",
      .address = "https://docs.ultralytics.com/models/yolov8/",
      .options = image_options,
      .image = 640,
      .classes = 80,
      .build = yolov8n,
      .is_folded = true,  // AutoBackend calls fuse(): the "fused" summary of every prediction
  }};
  return rows;
}

}  // namespace ridgeline
