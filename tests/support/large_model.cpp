// Writes the messages around the weights and leaves room for the weights.
// protozero's writer would build the whole file in memory, so lengths are computed here.
#include "tests/support/large_model.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>
#include <stdexcept>
#include <vector>

#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {
namespace {

constexpr std::int64_t side = 1024;
constexpr std::size_t weight_bytes = side * side * sizeof(float);

std::string layer_name(const char* prefix, int i) { return prefix + std::to_string(i); }

void add_chain(GraphBuilder& graph, int layers) {
  graph.input("x0", ElementType::fp32, {1, side});
  for (int i = 0; i < layers; ++i)
    graph.node("MatMul", {layer_name("x", i), layer_name("w", i)}, {layer_name("x", i + 1)});
  graph.output(layer_name("x", layers), ElementType::fp32, {1, side});
}

// The header of a length-delimited field.
std::string field_head(std::uint32_t number, std::size_t length) {
  std::string head;
  protozero::add_varint_to_buffer(&head, number << 3 | 2);
  protozero::add_varint_to_buffer(&head, length);
  return head;
}

class Writer {
 public:
  explicit Writer(const std::string& path)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {
    if (file_ < 0) throw std::runtime_error("cannot write " + path);
  }
  ~Writer() { ::close(file_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void write(const std::string& bytes) {
    if (::write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("cannot write a large model; is the disk full?");
  }
  void skip(std::size_t bytes) {
    const off_t end = ::lseek(file_, static_cast<off_t>(bytes), SEEK_CUR);
    if (end < 0 || ::ftruncate(file_, end) != 0) throw std::runtime_error("cannot make a hole");
  }

 private:
  int file_;
};

}  // namespace

void write_large_model(const std::string& path, int layers, Weights weights) {
  GraphBuilder chain;
  add_chain(chain, layers);
  const std::string nodes = chain.graph_bytes();
  std::vector<std::string> heads;  // of the initializers, up to the weights
  std::size_t graph_bytes = nodes.size();
  for (int i = 0; i < layers; ++i) {
    const std::string tensor =
        TensorBuilder(layer_name("w", i), ElementType::fp32, {side, side}).bytes() +
        field_head(9, weight_bytes);
    heads.push_back(field_head(5, tensor.size() + weight_bytes) + tensor);
    graph_bytes += heads.back().size() + weight_bytes;
  }
  OnnxBuilder empty;
  empty.opset(17);
  std::string head = empty.bytes();
  head.resize(head.size() - 2);  // drops the empty graph

  Writer file(path);
  file.write(head + field_head(7, graph_bytes) + nodes);
  const std::string zeros(weights == Weights::written ? weight_bytes : 0, '\0');
  for (const std::string& tensor : heads) {
    file.write(tensor);
    if (weights == Weights::written)
      file.write(zeros);
    else
      file.skip(weight_bytes);
  }
}

void write_large_external_model(const std::string& path, const std::string& data_name, int layers) {
  OnnxBuilder model;
  model.opset(17);
  add_chain(model, layers);
  for (int i = 0; i < layers; ++i)
    model.initializer(layer_name("w", i), ElementType::fp32, {side, side})
        .external(data_name, static_cast<std::uint64_t>(i) * weight_bytes, weight_bytes);
  std::ofstream(path, std::ios::binary) << model.bytes();
  const std::filesystem::path data = std::filesystem::path(path).parent_path() / data_name;
  Writer(data.string()).skip(static_cast<std::size_t>(layers) * weight_bytes);
}

}  // namespace ridgeline::testing
