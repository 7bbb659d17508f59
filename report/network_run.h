// A network that was executed, for people and programs: its time beside the predicted one, layers
// beside their roofs, operators of the library; a timeline of what ran and what was predicted; a
// row of a measurement table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/observation.h"
#include "base/runtime.h"
#include "execution/network_run.h"
#include "roofline/explain/explanation.h"

namespace ridgeline {

struct ReportedRun {
  static constexpr std::string_view schema = "ridgeline.run/1";
  std::string network;  // name, or file name
  std::string options;  // "seq=128", as in measurement tables
  Task task = Task::inference;
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  Runtime runtime = Runtime::torch_eager;
  std::string device;  // id in the catalog
  NetworkRun run;
  std::optional<Explanation> explanation;  // with the measured times; absent: nothing is predicted
  std::vector<std::string> notes;
};

std::string run_text(const ReportedRun& reported, bool all, int width);
Json to_json(const ReportedRun& reported);
std::string to_csv(const ReportedRun& reported);  // one row per layer

// Chrome's trace format, which Perfetto opens: what ran, and what was predicted below it.
Json run_trace(const ReportedRun& reported);

// The table with a row for this run on the CPU: a new table if `existing` is empty. Columns that
// `existing` lacks are an Error with `name`.
std::string with_run_row(const std::string& existing, const std::string& name,
                         const ReportedRun& reported);

}  // namespace ridgeline
