// The rows of the formats, and the choice among them.
#include "analyzer/frontend.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analyzer/onnx/import.h"
#include "analyzer/tensorrt/engine_file.h"
#include "analyzer/tensorrt/import.h"
#include "analyzer/torch/archive.h"
#include "analyzer/torch/import.h"
#include "analyzer/torch/script.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"

namespace ridgeline {
namespace {

namespace fs = std::filesystem;

// Options that only a list of kernels has.
void refuse_kernel_options(const std::string& path, const ReadOptions& options) {
  const auto refuse = [&](bool given, const char* option) {
    if (given)
      throw usage_error(option, path + " holds layers, not the kernels of an engine",
                        "give layer information of TensorRT as MODEL");
  };
  refuse(!options.onnx.empty(), "--onnx");
  refuse(!options.times.empty(), "--times");
  refuse(options.opt_profile.has_value(), "--opt-profile");
}

// Where inputs are told apart by name only.
void require_named_shapes(const ReadOptions& options) {
  if (const auto unnamed = options.shapes.find(""); unnamed != options.shapes.end())
    throw usage_error("--shape " + to_string(unnamed->second), "needs a name and a value",
                      "write for example --shape input=1x3x224x224");
}

Network read_onnx(const std::string& path, const ReadOptions& options) {
  refuse_kernel_options(path, options);
  const onnx::ModelFile file(path);
  require_named_shapes(options);
  onnx::Import imported = onnx::import_graph(file, options);
  return {std::move(imported.graph),
          {path, "onnx", imported.producer, imported.ir_version, imported.opsets, file.bytes()},
          imported.batch,
          std::move(imported.warnings)};
}

// Formulas are in terms of an ONNX node's inputs and attributes.
void refuse_described_operators(const std::string& path, const ReadOptions& options) {
  if (!options.operators.empty())
    throw usage_error("--ops", "describes operators of ONNX files, and " + path + " is none",
                      "leave it out, or give an .onnx file as MODEL");
}

Network kernels_of_engine(const std::string& path, const char* format, const ReadOptions& options) {
  refuse_described_operators(path, options);
  tensorrt::Import imported = tensorrt::import_engine(path, options);
  std::error_code fault;
  const std::uintmax_t bytes = fs::file_size(path, fault);
  Network network{std::move(imported.kernels),
                  {path, format, imported.producer, {}, {}, fault ? 0 : bytes},
                  imported.batch,
                  std::move(imported.warnings)};
  network.source.options = std::move(imported.options);
  return network;
}

Network read_tensorrt(const std::string& path, const ReadOptions& options) {
  require_named_shapes(options);
  return kernels_of_engine(path, "tensorrt", options);
}

Network read_engine_file(const std::string& path, const ReadOptions& options) {
  return kernels_of_engine(path, "tensorrt-engine", options);
}

Network read_export(const std::string& path, const ReadOptions& options) {
  refuse_kernel_options(path, options);
  refuse_described_operators(path, options);
  pytorch::Import imported = pytorch::import_archive(path, options);
  std::error_code fault;
  const std::uintmax_t bytes = fs::file_size(path, fault);
  return {std::move(imported.graph),
          {path, "torch-export", imported.producer, {}, imported.opsets, fault ? 0 : bytes},
          imported.batch,
          std::move(imported.warnings)};
}

Network read_script(const std::string& path, const ReadOptions& options) {
  refuse_kernel_options(path, options);
  pytorch::Import imported = pytorch::import_script(path, options).import;
  std::error_code fault;
  const std::uintmax_t bytes = fs::file_size(path, fault);
  return {std::move(imported.graph),
          {path, "torchscript", imported.producer, {}, {}, fault ? 0 : bytes},
          imported.batch,
          std::move(imported.warnings)};
}

using FilePath = const std::string&;
using Beginning = std::string_view;

constexpr FrontEnd rows[] = {
    {"tensorrt", ".json", "layer information of TensorRT",
     [](FilePath, Beginning bytes) { return tensorrt::looks_like_engine(bytes); }, read_tensorrt,
     Runtime::tensorrt},
    {"tensorrt-engine", ".engine", "an engine of TensorRT",
     [](FilePath, Beginning bytes) { return tensorrt::is_engine_file(bytes); }, read_engine_file,
     Runtime::tensorrt},
    {"torchscript", ".pt", "a TorchScript file",
     [](FilePath path, Beginning bytes) {
       return pytorch::looks_like_archive(bytes) && pytorch::is_script_archive(path);
     },
     read_script},
    {"torch-export", ".pt2", "a torch.export archive",
     [](FilePath, Beginning bytes) { return pytorch::looks_like_archive(bytes); }, read_export},
    {"onnx", ".onnx", "an ONNX file", [](FilePath, Beginning) { return true; }, read_onnx},
};

// The first bytes of a plain file; empty for a pipe, which can be read only once.
std::string beginning(const std::string& path) {
  constexpr std::streamsize most = 4096;
  std::error_code fault;
  if (!fs::is_regular_file(path, fault)) return {};
  std::string bytes(most, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(bytes.data(), most);
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

const FrontEnd& front_end_for(const std::string& path) {
  constexpr const FrontEnd& last = rows[std::size(rows) - 1];
  const std::string bytes = beginning(path);
  const auto found = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const FrontEnd& row) { return row.recognizes(path, bytes); });
  return found == std::end(rows) ? last : *found;
}

// Suggests a file in the same folder for a mistyped path.
std::string hint(const std::string& path) {
  const fs::path given(path);
  const fs::path folder = given.has_parent_path() ? given.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code fault;
  for (fs::directory_iterator entry(folder, fault), end; !fault && entry != end;
       entry.increment(fault))
    if (std::any_of(std::begin(rows), std::end(rows), [&](const FrontEnd& row) {
          return entry->path().extension() == row.extension;
        }))
      names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  if (const auto near = nearest(given.filename().string(), names))
    return "did you mean " + quote((given.parent_path() / *near).string()) + "?";
  std::string known;
  for (auto row = std::rbegin(rows); row != std::rend(rows); ++row)
    known += (known.empty() ? "" : ", ") + std::string(row->title);
  return "MODEL is " + known + " or a name";
}

}  // namespace

Graph& Network::graph() {
  if (Graph* graph = std::get_if<Graph>(&content)) return *graph;
  throw Error(source.path, "lists the kernels of one runtime, not the layers of a network");
}

std::string to_text(const NodeMapping& mapping) {
  const double share = mapping.flop > 0 ? mapping.mapped_flop / mapping.flop : 1;
  return fmt::format(
      "{} of {} ONNX nodes run in kernels ({} of the FLOP; {} by metadata, {} by name, {} by "
      "tensor), {} {} folded at build time",
      mapping.all_nodes - mapping.folded, mapping.all_nodes, format_percent(share, 1),
      mapping.by_metadata, mapping.by_name, mapping.by_tensor, mapping.folded,
      mapping.folded == 1 ? "is" : "are");
}

std::span<const FrontEnd> front_ends() { return rows; }

std::optional<Runtime> listed_runtime(const std::string& path) {
  std::error_code fault;
  if (!fs::is_regular_file(path, fault)) return std::nullopt;
  return front_end_for(path).runtime;
}

Network read_network(const std::string& path, const ReadOptions& options) {
  std::error_code fault;
  if (!fs::exists(path, fault) && !fault) throw Error(path, "no such file", hint(path));
  if (fs::is_directory(path, fault) &&
      (path.ends_with(".mlpackage") || path.ends_with(".mlpackage/")))
    throw Error(path, "is a Core ML package, not ONNX",
                "export the network that it was converted from");
  if (fs::is_directory(path, fault) && fs::exists(fs::path(path) / "saved_model.pb", fault))
    throw Error(path, "is a TensorFlow SavedModel, not ONNX",
                "python -m tf2onnx.convert --saved-model " + path + " --output model.onnx");
  return front_end_for(path).read(path, options);
}

bool has_model_extension(std::string_view word) {
  return std::any_of(std::begin(rows), std::end(rows), [&](const FrontEnd& row) {
    return word.find(row.extension) != std::string_view::npos;
  });
}

}  // namespace ridgeline
