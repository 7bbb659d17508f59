// MODEL on the command line: an ONNX file or the name of a workload, loaded as a Graph.
// Shared by every command that takes a MODEL; options that only one kind has are refused for the
// other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis/analysis.h"
#include "analyzer/graph/graph.h"
#include "cli/command.h"

namespace ridgeline::cli {

struct Network {
  Graph graph;
  ModelSource source;
  std::optional<std::int64_t> batch;
  std::vector<std::string> warnings;
};

void add_network_options(OptionsDescription& options);

// As an exporter would write it, for rule sets that are defined on exports: shapes of the file or
// batch 1, free dimensions 1, batch normalisation folded, quantisation steps left alone.
enum class NetworkForm { as_given, as_exported };

Network load_network(const std::string& word, const Options& options, NetworkForm form);

}  // namespace ridgeline::cli
