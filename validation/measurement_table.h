// Measured runs of networks as people exchange them: a CSV table, one run per row.
// Reads and judges the rows; what a model says of them is validation's and calibration's.
//
// Columns (others are ignored): source, device, mode, gpu_units, gpu_mhz, memory_mhz, cpu_mhz,
// cpu_cores, locked, model, options, batch, dtype, runtime, task, time_ms, power_w, power_kind. An
// empty cell is not stated; a knob that is not stated stands as in the stock mode of that label,
// else at its ceiling.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/observation.h"

namespace ridgeline {

// A row that says nothing we could compare, and why.
struct SkippedRow {
  int line = 0;
  std::string reason;
};

struct MeasurementTable {
  std::string file;
  std::vector<Observation> rows;
  std::vector<SkippedRow> skipped;
};

struct MeasurementOptions {
  std::string device{};  // of every row where the table has no such column; empty: it is required
  // Only rows with one of these words in each of these columns; others are not even skipped.
  std::map<std::string, std::vector<std::string>> where{};
};

// A missing column, a cell that is no number, or one in another unit is an Error with its place;
// an unknown device, network, runtime or task and a row without a time or batch is skipped.
MeasurementTable read_measurement_table(const std::string& path,
                                        const MeasurementOptions& options = {});
MeasurementTable parse_measurement_table(std::string_view text, const std::string& name,
                                         const MeasurementOptions& options = {});

}  // namespace ridgeline
