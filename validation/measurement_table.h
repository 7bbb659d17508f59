// Measurement tables: measured runs of networks in a CSV file, one Observation per row.
//
// Columns (others are ignored): source, device, mode, gpu_units, gpu_mhz, memory_mhz, cpu_mhz,
// cpu_cores, locked, model, options, batch, dtype, runtime, task, time_ms, power_w, power_kind,
// note. An empty cell is not stated. A note that begins with "autocast" stands for the option
// precision=autocast. If time_ms or power_w is empty, time_file and power_file name outputs
// of trtexec, and of tegrastats or jtop, beside the table. A knob that is not stated is as in the
// stock mode of that label, else at its ceiling.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/observation.h"
#include "devices/catalog/catalog.h"

namespace ridgeline {

// A row that cannot be compared with a prediction, and why.
struct SkippedRow {
  int line = 0;
  std::string reason;
};

// Entries of the catalog by id, each loaded once.
using LoadedDevices = std::map<std::string, catalog::Device>;

struct MeasurementTable {
  std::string file;
  std::vector<Observation> rows;
  std::vector<SkippedRow> skipped;
  LoadedDevices devices{};  // those of the rows
};

struct MeasurementOptions {
  std::string device{};  // of every row if the table has no such column; empty: it is required
  // Only rows with one of these words in each of these columns; others are not even skipped.
  std::map<std::string, std::vector<std::string>> where{};
};

// A missing column, a cell that is not a number, or one in another unit is an Error with its place.
// A row with an unknown device, network, runtime or task or without a time or batch is skipped.
MeasurementTable read_measurement_table(const std::string& path,
                                        const MeasurementOptions& options = {});
MeasurementTable parse_measurement_table(std::string_view text, const std::string& name,
                                         const MeasurementOptions& options = {});

}  // namespace ridgeline
