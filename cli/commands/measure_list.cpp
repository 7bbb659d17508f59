// The plan as a table, as CSV and as JSON (docs/schemas/measure_plan.schema.json).
#include "cli/commands/measure_list.h"

#include <ostream>

#include "base/json.h"
#include "base/text_table.h"

namespace ridgeline::cli {

ExitCode list_trials(const std::vector<ListedTrial>& plan, const Options& options,
                     Console& console) {
  if (flag(options, "json")) {
    Json rows = Json::array();
    for (const ListedTrial& trial : plan)
      rows.push_back({{"section", trial.section},
                      {"kernel", trial.kernel},
                      {"what", trial.what},
                      {"threads", trial.threads},
                      {"missing", trial.missing.empty() ? Json() : Json(trial.missing)}});
    console.out << dump_json({{"schema", "ridgeline.measure_plan/1"}, {"rows", rows}});
    return ExitCode::ok;
  }
  TextTable table{{{"section"},
                   {"kernel"},
                   {"what"},
                   {"threads", Align::right},
                   {"cannot run because", Align::left, true}},
                  {}};
  for (const ListedTrial& trial : plan)
    table.rows.push_back(
        {trial.section, trial.kernel, trial.what, std::to_string(trial.threads), trial.missing});
  console.out << (flag(options, "csv") ? render_csv(table) : render_text(table, console.width));
  return ExitCode::ok;
}

}  // namespace ridgeline::cli
