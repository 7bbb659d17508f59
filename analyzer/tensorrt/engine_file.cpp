// Tag and version stand where trtexec looks for them (--getPlanVersionOnly): bytes 0 to 3, and
// bytes 24 to 27 if bytes 4 to 7 are zero. Nothing else of the file is read here.
#include "analyzer/tensorrt/engine_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "analyzer/tensorrt/inspector.h"
#include "analyzer/tensorrt/trtexec.h"
#include "base/child_process.h"
#include "base/error.h"
#include "base/temporary_folder.h"

namespace ridgeline::tensorrt {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view plan_tag = "ftrt";
// Far more than a description of an engine takes.
constexpr std::size_t longest_description = 1 << 20;
constexpr std::size_t longest_beginning = longest_description + 64;

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Where the tag is, as far as these bytes show it; absent if this is no engine.
std::optional<std::size_t> engine_offset(std::string_view beginning) {
  if (beginning.starts_with(plan_tag)) return 0;
  if (beginning.size() < 6 || beginning.substr(4, 2) != "{\"") return std::nullopt;
  const std::size_t offset = 4 + std::size_t{little_endian(beginning)};
  if (offset > longest_description) return std::nullopt;
  if (offset + plan_tag.size() > beginning.size()) return offset;
  return beginning.substr(offset).starts_with(plan_tag) ? std::optional(offset) : std::nullopt;
}

std::string read_bytes(const std::string& path, std::size_t offset, std::size_t most) {
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(offset));
  std::string bytes(most, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

void copy_from(const std::string& path, std::size_t offset, const std::string& copy) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  std::ofstream out(copy, std::ios::binary);
  out << in.rdbuf();
  out.close();
  if (!in || !out)
    throw Error(path, "cannot be copied without its description to " + copy,
                "free some space there, or set TMPDIR");
}

// What to type where the engine can be opened.
std::string export_elsewhere(const std::string& path) {
  const std::string stem = fs::path(path).stem().string();
  return fmt::format(
      "where it was built, run trtexec --loadEngine={} --exportLayerInfo={}.graph.json "
      "--exportProfile={}.profile.json, then analyze {}.graph.json",
      fs::path(path).filename().string(), stem, stem, stem);
}

}  // namespace

bool is_engine_file(std::string_view beginning) { return engine_offset(beginning).has_value(); }

bool holds_engine(const std::string& path) {
  constexpr std::size_t looked_at = 4096;
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && is_engine_file(read_bytes(path, 0, looked_at));
}

std::optional<std::string> engine_version(std::string_view beginning) {
  const auto offset = engine_offset(beginning);
  constexpr std::size_t header = 28;
  if (!offset || beginning.size() < *offset + header) return std::nullopt;
  const std::string_view bytes = beginning.substr(*offset, header);
  if (little_endian(bytes.substr(4)) != 0) return std::nullopt;
  const auto number = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  return fmt::format("{}.{}.{}.{}", number(24), number(25), number(26), number(27));
}

std::string engine_in_file(const std::string& path) {
  const auto offset = engine_offset(read_bytes(path, 0, longest_beginning));
  if (!offset) throw Error(path, "is not a TensorRT engine");
  return read_bytes(path, *offset, static_cast<std::size_t>(fs::file_size(path)) - *offset);
}

EngineTools engine_tools_here() {
  EngineTools tools;
  if (const char* const named = std::getenv("RIDGELINE_NVINFER_LIBRARY")) tools.library = named;
  if (const char* const named = std::getenv("RIDGELINE_TRTEXEC")) {
    if (*named != '\0') tools.trtexec = {named};
    return tools;
  }
  if (const auto found = find_in_path("trtexec")) tools.trtexec.push_back(*found);
  constexpr const char* installed = "/usr/src/tensorrt/bin/trtexec";
  std::error_code ignored;
  if (fs::is_regular_file(installed, ignored)) tools.trtexec.emplace_back(installed);
  return tools;
}

ExportedEngine export_engine(const std::string& path, const InputShapes& shapes, int profile,
                             const EngineTools& tools) {
  const std::string beginning = read_bytes(path, 0, longest_beginning);
  const auto offset = engine_offset(beginning);
  if (!offset) throw Error(path, "is not a TensorRT engine");
  const EngineFacts facts{path, engine_version(beginning), export_elsewhere(path)};

  if (!tools.trtexec.empty()) {
    if (shapes.contains(""))
      throw usage_error("--shape", "trtexec needs the name of the input",
                        "write --shape NAME=1x3x224x224");
    const TemporaryFolder folder("engine");
    std::string engine = path;
    if (*offset > 0) {
      engine = folder.file("engine.plan");
      copy_from(path, *offset, engine);
    }
    return run_trtexec(
        {tools.trtexec.front(), engine, folder.path(), shapes, profile, tools.limit_s}, facts);
  }
  std::string why_not;
  if (const auto inspector = EngineInspector::open(tools.library, why_not)) {
    const Inspection inspection = inspector->inspect(engine_in_file(path), shapes, profile);
    if (inspection.layers.empty()) throw engine_error(facts, inspection.log, inspector->name());
    return {inspection.layers, {}, inspection.log, inspector->name()};
  }
  const std::string version = facts.version ? " by TensorRT " + *facts.version : "";
  throw Error(path,
              fmt::format("is an engine{}, and nothing here can open it: no trtexec in PATH or "
                          "/usr/src/tensorrt/bin; {}",
                          version.empty() ? "" : " built" + version, why_not),
              facts.elsewhere);
}

}  // namespace ridgeline::tensorrt
