// Reads the table, and compares one row.
#include "tests/support/published_epochs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text_file.h"
#include "tests/support/measured_tables.h"

namespace ridgeline::testing {
namespace {

std::optional<double> seconds_in(const std::string& cell) {
  if (cell.empty()) return std::nullopt;
  return std::stod(cell);
}

bool is_near_published(std::optional<double> published, double predicted) {
  return !published || std::abs(predicted - *published) <= std::max(0.1 * *published, 10.0);
}

}  // namespace

std::vector<PublishedEpoch> published_epochs() {
  const std::string path = measured_table("../hipc21_training.csv");
  if (path.empty()) return {};
  std::vector<PublishedEpoch> epochs;
  const std::vector<CsvRow> rows = parse_csv(read_text_file(path), path);
  for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
    const auto& cells = row->cells;  // device,mode,storage,workers,epoch,stall_s,e2e_s
    epochs.push_back({cells.at(0), cells.at(1), cells.at(2), std::stoi(cells.at(3)),
                      cells.at(4) == "first", seconds_in(cells.at(5)), seconds_in(cells.at(6))});
  }
  return epochs;
}

bool is_close(const PublishedEpoch& published, const PredictedEpoch& predicted) {
  return is_near_published(published.stall_s, predicted.stall_s) &&
         is_near_published(published.time_s, predicted.time_s);
}

std::string compared(const PublishedEpoch& published, const PredictedEpoch& predicted) {
  std::string text =
      fmt::format("{}, {}, {} workers, {} epoch:", published.device, published.storage,
                  published.workers, published.first ? "first" : "median");
  const auto add = [&](const char* what, std::optional<double> seen, double value) {
    if (seen) text += fmt::format(" {} {:.0f} s (published {:.1f})", what, value, *seen);
  };
  add("stall", published.stall_s, predicted.stall_s);
  add("time", published.time_s, predicted.time_s);
  return text + (is_close(published, predicted) ? "" : "  FAR") + "\n";
}

}  // namespace ridgeline::testing
