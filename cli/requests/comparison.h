// Lists in options: `--on a,b`, `--modes all`, `--runtime a,b` … ask for a table with one row per
// value instead of one answer. One option may vary at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/answer.h"
#include "cli/options.h"
#include "cli/requests/plan.h"
#include "planner/comparison.h"

namespace ridgeline::cli {

struct VariedOption {
  Varied what = Varied::mode;
  std::string option;               // its name
  std::vector<std::string> values;  // as typed; of --modes all: empty
};

void add_modes_option(OptionsDescription& options);

// Nothing if every option has one value. Two lists are a usage error. `lists`: the options in which
// a list asks for a table.
std::optional<VariedOption> varied_option(const Options& options,
                                          const std::vector<const char*>& lists);

// Makes the request of one row from options in which the varied one has one value.
using MakeRequest = std::function<PlanRequest(const Options& options)>;

// Rows that cannot run say why; if none can, the Error of the first is thrown. The mode of all rows
// but those of devices is that of --mode; without it the default one, or the one that suits the
// first row best if `best_mode` is set.
ComparedRuns compare(const Options& options, const VariedOption& varied, const MakeRequest& make,
                     bool best_mode);

// As text, JSON or CSV, with pictures where there are any; options of one answer (blocks, reasons,
// pictures without `pictures`) are usage errors.
ExitCode write_comparison(const ComparedRuns& comparison, const Options& options, Console& console,
                          std::vector<AnswerFile> pictures = {});

}  // namespace ridgeline::cli
