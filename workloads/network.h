// A network as the user requests it: NetworkRequest is the name of a workload or the path of a
// file, with sizes, type and control flow; load_network() builds or reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/frontend.h"
#include "base/tokens.h"
#include "workloads/options.h"

namespace ridgeline {

// As an exporter would write it, for rule sets that are defined on exports: shapes of the file or
// batch 1, free dimensions 1, batch normalisation folded, quantisation steps kept.
enum class NetworkForm { as_given, as_exported };

// Options for files are usage errors for networks by name, and vice versa.
struct NetworkRequest {
  std::string word;  // name or path; a known name takes precedence over a file of that name
  std::optional<std::int64_t> batch = {};
  std::optional<DType> dtype = {};    // of a file: the precision that it is built in
  std::optional<DType> weights = {};  // of products, stored narrower than they are computed
  std::optional<DType> caches = {};   // of language models
  WorkloadOptions options = {};       // for a network by name; batch and dtype are those above
  ReadOptions reading = {};           // for a file; its batch is the one above
  NetworkForm form = NetworkForm::as_given;
  bool allow_unknown = false;  // operators without a rule count as moving data only
  // The options also apply to a network of the other kind, which this one is compared with.
  bool shares_options = false;
};

bool is_file(const NetworkRequest& request);

Network load_network(const NetworkRequest& request);

}  // namespace ridgeline
