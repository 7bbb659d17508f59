// A network as a user asks for it: NetworkRequest is the name of a workload or the path of a file,
// with sizes, type and control flow; load_network() builds or reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/frontend.h"
#include "base/tokens.h"
#include "workloads/options.h"

namespace ridgeline {

// As an exporter would write it, for rule sets that are defined on exports: shapes of the file or
// batch 1, free dimensions 1, batch normalisation folded, quantisation steps left alone.
enum class NetworkForm { as_given, as_exported };

// Options that only a file has, or only a network by name, are usage errors for the other kind.
struct NetworkRequest {
  std::string word;  // name or path; a known name wins over a file of that name
  std::optional<std::int64_t> batch = {};
  std::optional<DType> dtype = {};
  WorkloadOptions options = {};  // of a network by name; its batch and dtype are those above
  ReadOptions reading = {};      // of a file; its batch is the one above
  NetworkForm form = NetworkForm::as_given;
  bool allow_unknown = false;  // operators that no rule describes count as moving data only
  // The options are also meant for a network of the other kind, which this one is compared with.
  bool shares_options = false;
};

bool is_file(const NetworkRequest& request);

Network load_network(const NetworkRequest& request);

}  // namespace ridgeline
