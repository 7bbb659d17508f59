// Walks the nodes of an exported program and builds the Graph: nested graphs are walked in place.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/frontend.h"
#include "analyzer/graph/graph.h"
#include "analyzer/torch/program.h"
#include "analyzer/torch/symbol_sizes.h"

namespace ridgeline::pytorch {

// `node_layers`: for every node of the outer graph its layer, no_index if it has none.
Graph walk_program(const Program& program, SymbolSizes& sizes, const ReadOptions& options,
                   const std::string& path, std::vector<std::string>& warnings,
                   std::vector<std::size_t>* node_layers = nullptr);

}  // namespace ridgeline::pytorch
