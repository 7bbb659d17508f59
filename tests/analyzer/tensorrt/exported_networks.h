// ONNX files as torch's exporter wrote them for engines of the corpus, whose own files are not
// public: the same nodes, names and sizes, rebuilt from torchvision's definition. Weights have
// sizes and no elements.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ridgeline::testing {

enum class NodeNames {
  numbered,  // "Conv_3", as torch wrote them up to 1.12
  modules    // "/layer1/layer1.0/conv1/Conv", as it does since
};

struct ExportedNetwork {
  std::string bytes;
  // Every node's name in both styles, in the order of the file.
  std::vector<std::pair<std::string, std::string>> names;
};

// ResNet-18 at batch 32, as trex' examples for the A100 export it: with its batch normalisations
// folded into the convolutions, or with quantisation steps and batch normalisations as nodes.
ExportedNetwork exported_resnet18(NodeNames style, bool quantized);

// The digits network of NVIDIA's cookbook, whose engine has Myelin kernels.
std::string exported_digits();

}  // namespace ridgeline::testing
