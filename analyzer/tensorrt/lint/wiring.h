// Wiring: which layer of an engine reads what another one wrote. By tensor names in the order of
// the layers, since TensorRT reuses names; layers that do nothing are looked through.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/tensorrt/engine.h"

namespace ridgeline::tensorrt {

class Wiring {
 public:
  explicit Wiring(const Engine& engine);

  // The layer that wrote this input; nothing for inputs of the network and constants.
  std::optional<std::size_t> producer(std::size_t layer, std::size_t input = 0) const {
    return producers_[layer][input];
  }
  // Of any of its outputs, in order, each once.
  const std::vector<std::size_t>& readers(std::size_t layer) const { return readers_[layer]; }

  // Whether the network's own inputs or outputs are among the layer's.
  bool reads_input(std::size_t layer) const { return reads_input_[layer]; }
  bool writes_output(std::size_t layer) const { return writes_output_[layer]; }

 private:
  std::vector<std::vector<std::optional<std::size_t>>> producers_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<bool> reads_input_, writes_output_;
};

}  // namespace ridgeline::tensorrt
