// Measured runs of networks as people exchange them: a CSV table, one run per row.
// Reads and judges the rows; what a model says of them is validation's and calibration's.
//
// Columns (others are ignored): source, device, mode, gpu_units, gpu_mhz, memory_mhz, cpu_mhz,
// cpu_cores, locked, model, options, batch, dtype, runtime, task, time_ms, power_w, power_kind,
// note. An empty cell is not stated; a knob that is not stated stands as in the stock mode of that
// label, else at its ceiling.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tokens.h"
#include "roofline/model/conditions.h"
#include "workloads/options.h"

namespace ridgeline {

enum class Task { inference, training };

template <>
struct TokenTable<Task> {
  static constexpr std::string_view noun = "task";
  static constexpr std::array<std::pair<Task, std::string_view>, 2> rows{
      {{Task::inference, "inference"}, {Task::training, "training"}}};
};

}  // namespace ridgeline

namespace ridgeline {

struct Measurement {
  int line = 0;            // in the file
  std::string source;      // who measured; the file's name where no column says so
  std::string device;      // id of the catalog
  Conditions conditions;   // the label of the point is the mode's name
  std::string model;       // name of a workload
  std::string options;     // as written: "seq=128;attention=eager"
  std::string dtype;       //
  WorkloadOptions wanted;  // options, batch and dtype, for workloads/registry.h
  Task task = Task::inference;
  double time_s = 0;
  std::optional<double> power_w;
  std::string note;

  std::int64_t batch() const { return wanted.batch.value_or(1); }
};

// A row that says nothing we could compare, and why.
struct SkippedRow {
  int line = 0;
  std::string reason;
};

struct MeasurementTable {
  std::string file;
  std::vector<Measurement> rows;
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

// "resnet50 batch 8 fp16 at 30W", for messages.
std::string name_of(const Measurement& measurement);

}  // namespace ridgeline
