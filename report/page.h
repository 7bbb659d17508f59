// The page of `ridgeline report`: networks on devices as one self-contained HTML file that draws
// itself from the JSON inside it. How it looks and acts is in the files of report/page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/observation.h"
#include "planner/choosable.h"
#include "planner/planner.h"
#include "roofline/explain/explanation.h"
#include "roofline/explain/timeline.h"

namespace ridgeline {

// One mode of a run, in each type of the run.
struct PageMode {
  std::string name;     // label of a stock mode, else the vector
  std::string request;  // the vector in the grammar of --mode
  std::string command;  // that enters it; empty if there is none
  Reach reach = Reach::live;
  bool stock = false;
  std::vector<Explanation> runs;  // by type, as PageRun::dtypes
  Timeline timeline;              // in the first type
};

// One network on one machine.
struct PageRun {
  PlanProblem problem;
  PlanResult result;
  std::vector<ChoosableRow> choosable;
  Explanation explanation;              // of the chosen mode, with advice
  std::vector<DType> dtypes;            // that of the choice first
  std::vector<PageMode> modes;          // stock modes, then the choice and its alternatives
  std::vector<Observation> calibrated;  // rows that the machine's model was fitted to
};

// A combination of network and device that cannot run.
struct PageFailure {
  std::string network, device, why;
};

struct Page {
  static constexpr std::string_view schema = "ridgeline.report/1";
  std::string program;  // name and version
  std::vector<PageRun> runs;
  std::vector<PageFailure> failures;
  std::string validation;  // JSON text of `validate --json`; empty: none was given
};

// Sentences about one run: the first is something to do.
std::vector<std::string> page_summary(const PageRun& run);

Json to_json(const Page& page);
std::string page_html(const Page& page);

}  // namespace ridgeline
