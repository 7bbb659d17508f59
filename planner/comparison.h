// ComparedRuns: one run with one thing varied (mode, device, type, runtime, batch, storage,
// workers), a row for each value. A value with a JSON form; nothing is chosen, only ranked.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/tokens.h"
#include "planner/plan.h"
#include "planner/planner.h"
#include "planner/problem.h"

namespace ridgeline {

enum class Varied { mode, device, dtype, runtime, batch, storage, workers };

template <>
struct TokenTable<Varied> {
  static constexpr std::string_view noun = "varied option";
  static constexpr std::array<std::pair<Varied, std::string_view>, 7> rows{
      {{Varied::mode, "mode"},
       {Varied::device, "device"},
       {Varied::dtype, "dtype"},
       {Varied::runtime, "runtime"},
       {Varied::batch, "batch"},
       {Varied::storage, "storage"},
       {Varied::workers, "workers"}}};
};

struct ComparedRow {
  std::string label;                  // the value that is varied
  std::optional<PlannedMode> run;     // absent: it cannot run
  std::string why_not;                // then the reason
  std::optional<MemoryFit> memory{};  //
  std::vector<std::string> broken{};  // limits that do not hold with the required probability
  std::optional<std::size_t> rank{};  // 1 is the best; only rows that keep the limits have one
  double score = 0;                   // the quantity that the goal minimises
  std::optional<PlannedTraining> training{};
};

struct ComparedRuns {
  static constexpr std::string_view schema = "ridgeline.comparison/1";
  Varied varied = Varied::mode;
  PlannedRun run;         // of the first row that can run
  std::string held_mode;  // of all rows; empty if the rows have different modes
  std::vector<ComparedRow> rows;
  std::vector<std::string> notes;
};

// Every stock mode of the problem; of a device without stock modes its default.
std::vector<ComparedRow> compare_modes(const PlanProblem& problem, const Objective& objective,
                                       const PlanOptions& options);

// The best mode of the problem; if none keeps the limits, the fastest with the limits it breaks.
ComparedRow best_row_of(const PlanProblem& problem, const Objective& objective,
                        const PlanOptions& options, std::string label);

// One mode of the problem, in the variant that suits it best.
ComparedRow row_in_mode(const PlanProblem& problem, const Objective& objective,
                        const PlanOptions& options, std::string label, std::size_t mode);

// The rows that keep their limits by score, the best first.
void rank(std::vector<ComparedRow>& rows);

Json to_json(const ComparedRow& row);
Json to_json(const ComparedRuns& comparison);

}  // namespace ridgeline
