// Puts the pieces of this folder together.
#include "analyzer/torch/import.h"

#include <fmt/format.h>

#include "analyzer/fusion/absorb_quantization.h"
#include "analyzer/torch/archive.h"
#include "analyzer/torch/program.h"
#include "analyzer/torch/program_walk.h"
#include "analyzer/torch/symbol_sizes.h"
#include "base/error.h"

namespace ridgeline::pytorch {
namespace {

std::string producer_of(const Program& program) {
  const std::string schema = fmt::format("export schema {}.{}", program.major, program.minor);
  if (program.torch_version.empty()) return "PyTorch, " + schema;
  return fmt::format("PyTorch {}, {}", program.torch_version, schema);
}

// --shape without a name is that of the only input.
ReadOptions with_named_shape(ReadOptions options, const Program& program, const std::string& path) {
  const auto unnamed = options.shapes.find("");
  if (unnamed == options.shapes.end()) return options;
  std::string only, names;
  for (const InputSpec& spec : program.inputs)
    if (spec.kind == InputKind::user) {
      only = spec.graph_name;
      (names += names.empty() ? "" : ", ") += only;
    }
  if (names != only || only.empty())
    throw usage_error("--shape", fmt::format("needs a name: the inputs of {} are {}", path, names),
                      "write for example --shape input=1x3x224x224");
  options.shapes[only] = unnamed->second;
  options.shapes.erase("");
  return options;
}

}  // namespace

bool looks_like_archive(std::string_view beginning) { return beginning.starts_with("PK\x03\x04"); }

Import import_program(std::string_view text, const std::string& path, const ReadOptions& given) {
  const Program program = parse_program(text, path);
  const ReadOptions options = with_named_shape(given, program, path);
  SymbolSizes sizes(program, options, path);
  Import result;
  result.producer = producer_of(program);
  result.opsets = program.opsets;
  result.batch = sizes.batch();
  result.warnings = sizes.warnings();
  result.graph = walk_program(program, sizes, options, path, result.warnings);
  if (options.absorb_quantization) absorb_quantization(result.graph);
  return result;
}

Import import_archive(const std::string& path, const ReadOptions& options) {
  return import_program(read_exported_program(path), path, options);
}

}  // namespace ridgeline::pytorch
