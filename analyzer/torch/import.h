// From a torch.export archive (.pt2) to a Graph: reads the graph inside, gives symbolic sizes their
// numbers, translates calls of ATen into Ops. PyTorch is not needed. The folder's only public
// interface for files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/frontend.h"
#include "analyzer/graph/graph.h"

namespace ridgeline::pytorch {

struct Import {
  Graph graph;
  std::vector<std::string> warnings;
  std::string producer;  // "PyTorch 2.15.0, export schema 8.20"
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  std::optional<std::int64_t> batch;  // of the first input that has one, as counted
};

// A zip archive. Other formats of torch are zip archives too; TorchScript has a row of its own.
bool looks_like_archive(std::string_view beginning);

// Throws Error; if a size is missing, with exit code `incomplete` and the name of the symbol.
Import import_archive(const std::string& path, const ReadOptions& options);

// The same from the JSON text inside an archive.
Import import_program(std::string_view text, const std::string& path, const ReadOptions& options);

}  // namespace ridgeline::pytorch
