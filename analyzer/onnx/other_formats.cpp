// Formats by their first bytes, archives by the names of their members, and what has no mark by its
// extension.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzer/onnx/reader.h"
#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

constexpr const char* export_from_torch =
    "export the network: torch.onnx.export(model, (sample,), \"model.onnx\")";
constexpr const char* export_language_model =
    "export the model itself: optimum-cli export onnx --model MODEL FOLDER; or take a network by "
    "name, `ridgeline workloads` lists them";

struct Format {
  std::size_t at;
  std::string_view mark;
  const char* what;
  const char* fix;
};

constexpr Format formats[] = {
    {0, "version https://git-lfs", "a Git LFS pointer, not the model itself", "run `git lfs pull`"},
    {0, "\x1f\x8b", "compressed with gzip", "unpack it"},
    {4, "ORTM", "in the ORT format, not ONNX", "name the .onnx file it was made from"},
    {4, "TFL3", "a TensorFlow Lite model, not ONNX",
     "python -m tf2onnx.convert --tflite FILE --output model.onnx"},
    {0, "GGUF", "a GGUF file: weights for llama.cpp without a graph", export_language_model},
    {0, "\x89HDF", "an HDF5 file, as older Keras writes them, not ONNX",
     "python -m tf2onnx.convert --keras FILE --output model.onnx"},
    {0, "ftrt", "a TensorRT engine, which names no layers by itself",
     "trtexec --loadEngine=FILE --profilingVerbosity=detailed --exportLayerInfo=layers.json lists "
     "them; or name the ONNX file it was built from"},
    {0, "&&&& RUNNING TensorRT", "the log of trtexec, not a model",
     "name the ONNX file that trtexec built"},
    {0, "\x80\x02", "a pickle of torch: weights without a graph", export_from_torch},
    {0, "\x80\x04", "a pickle: weights without a graph", export_from_torch},
};

// Archives hold their list of members at the end. The first row whose member is there.
struct Archive {
  std::string_view member;
  const char* what;
  const char* fix;
};

constexpr Archive archives[] = {
    {"archive_format", "a program of torch.export (.pt2), not ONNX",
     "torch.onnx.export(torch.export.load(FILE), (sample,), \"model.onnx\")"},
    {"serialized_exported_program.json", "a program of torch.export (.pt2), not ONNX",
     "torch.onnx.export(torch.export.load(FILE), (sample,), \"model.onnx\")"},
    {"constants.pkl", "a TorchScript archive, not ONNX",
     "export the module that was traced: torch.onnx.export(model, (sample,), \"model.onnx\")"},
    {"data.pkl", "an archive of torch.save: weights without a graph", export_from_torch},
    {"model.weights.h5", "a Keras model, not ONNX",
     "python -m tf2onnx.convert --keras FILE --output model.onnx"},
    {"", "a zip archive, not an ONNX model", "unpack it"},
};

struct Extension {
  std::string_view extension;
  const char* what;
  const char* fix;
};

constexpr Extension extensions[] = {
    {".mlmodel", "a Core ML model, not ONNX", "export the network that it was converted from"},
    {".pb", "a TensorFlow graph, not ONNX",
     "python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"},
    {".engine", "not a TensorRT engine that is recognised, nor ONNX",
     "name the ONNX file it was built from"},
    {".plan", "not a TensorRT engine that is recognised, nor ONNX",
     "name the ONNX file it was built from"},
};

// A length of eight bytes, then the header as JSON.
bool is_safetensors(std::string_view head) {
  constexpr std::size_t length_bytes = 8;
  if (head.size() < length_bytes + 2) return false;
  const bool is_short = std::all_of(head.begin() + 5, head.begin() + length_bytes,
                                    [](char byte) { return byte == '\0'; });
  return is_short && head.substr(length_bytes, 2) == "{\"";
}

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](unsigned char c) {
    return (c >= ' ' && c < 127) || c == '\n' || c == '\r' || c == '\t';
  });
}

[[noreturn]] void refuse(const WireSource& source, const char* what, const char* fix) {
  throw Error(source.name, fmt::format("is {}", what), fix);
}

void explain_archive(const WireSource& source) {
  constexpr std::size_t most = 1 << 16;
  const std::string_view tail =
      source.bytes.substr(source.bytes.size() - std::min(most, source.bytes.size()));
  source.load(tail.data(), tail.size());
  for (const Archive& row : archives)
    if (tail.find(row.member) != std::string_view::npos) refuse(source, row.what, row.fix);
}

void explain_text(const WireSource& source, std::string_view head) {
  const auto begin = head.find_first_not_of(" \t\r\n");
  const std::string_view text = begin == std::string_view::npos ? head : head.substr(begin);
  if (text.starts_with("<?xml") || text.starts_with("<net"))
    refuse(source, "XML, as OpenVINO writes it, not ONNX", "name the ONNX file it was made from");
  if (text.starts_with("{") && text.find("\"Layers\"") != std::string_view::npos)
    refuse(source, "a list of TensorRT layers, not ONNX", "name the ONNX file of the engine");
  throw Error(source.name, "is text, needs the binary form of ONNX",
              "convert ONNX text with Python's onnx.load and onnx.save");
}

}  // namespace

void explain_other_format(const WireSource& source) {
  const std::string_view head = source.bytes.substr(0, 256);
  source.load(head.data(), head.size());
  if (head.starts_with("PK\x03\x04")) explain_archive(source);
  if (is_safetensors(head))
    refuse(source, "a safetensors file: weights without a graph", export_language_model);
  for (const Format& format : formats)
    if (head.substr(std::min(format.at, head.size())).starts_with(format.mark))
      refuse(source, format.what, format.fix);
  if (is_text(head)) explain_text(source, head);
  for (const Extension& row : extensions)
    if (lower(source.name).ends_with(row.extension)) refuse(source, row.what, row.fix);
}

}  // namespace ridgeline::onnx
