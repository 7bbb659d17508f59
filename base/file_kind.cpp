// Magic numbers and the "schema" of our own files; no file is parsed.
#include "base/file_kind.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string_view>

namespace ridgeline {
namespace {

constexpr std::size_t looked_at = 4096;

std::string beginning_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(looked_at, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

struct OwnFile {
  std::string_view noun;
  FileKind kind;
  std::string_view hint;
};

constexpr std::array<OwnFile, 3> own_files{
    {{"profile", FileKind::profile, "it is a profile: give it to --on, or to 'ridgeline roofline'"},
     {"machine_model", FileKind::fitted_model, "it is a fitted model: give it to --on"},
     {"device", FileKind::other, "it is an entry of the catalog: give --on its name"}}};

// The noun of "schema": "ridgeline.<noun>/1".
std::string_view schema_noun(std::string_view text) {
  constexpr std::string_view prefix = "\"ridgeline.";
  const std::size_t at = text.find(prefix);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + prefix.size());
  return text.substr(0, text.find('/'));
}

KnownFile exported_program() {
  return {FileKind::network,
          "it is a network of torch.export: 'ridgeline explain' and 'plan' take it"};
}

KnownFile json_kind(std::string_view text) {
  const std::string_view noun = schema_noun(text);
  for (const OwnFile& file : own_files)
    if (file.noun == noun) return {file.kind, std::string(file.hint)};
  if (!noun.empty())
    return {FileKind::other, fmt::format("it is the JSON of a {} that ridgeline printed", noun)};
  const auto has = [&](std::string_view member) {
    return text.find(member) != std::string_view::npos;
  };
  if (has("\"Layers\"") || has("\"LayerType\""))
    return {FileKind::network,
            "it is the layer information of a TensorRT engine: 'ridgeline explain' takes it"};
  if (has("\"averageMs\"") || has("\"timeMs\"") || has("\"computeMs\""))
    return {FileKind::other,
            "it holds times of trtexec: 'ridgeline explain ENGINE --times' takes it"};
  if (has("\"graph_module\"") && has("\"graph\"")) return exported_program();
  return {};
}

bool looks_like_table(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find(',') != std::string_view::npos &&
         line.find_first_of("{}[]\"") == std::string_view::npos &&
         line.find('\0') == std::string_view::npos;
}

}  // namespace

KnownFile file_kind(const std::string& path) {
  const std::string text = beginning_of(path);
  if (text.empty()) return {};
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '['))
    return json_kind(text);
  if (text.starts_with("PK\x03\x04")) {
    if (path.ends_with(".pt2")) return exported_program();
    return {FileKind::other,
            "it is a PyTorch or zip archive: export the network with torch.export or "
            "torch.onnx.export"};
  }
  if (path.ends_with(".onnx") || text.front() == '\x08')
    return {FileKind::network, "it is an ONNX network: 'ridgeline explain' and 'plan' take it"};
  if (looks_like_table(text))
    return {FileKind::table, "it is a table: 'ridgeline calibrate' and 'validate' take it"};
  return {};
}

}  // namespace ridgeline
