// Each row is planned as if it had been asked for alone.
#include "cli/requests/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ostream>

#include "base/error.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/requests/plan_problem.h"
#include "cli/requests/values.h"
#include "devices/catalog/catalog.h"
#include "report/comparison.h"

namespace ridgeline::cli {
namespace {

// Fewer than a plan's: a table of devices is to be quick, and shows half widths only.
constexpr int draws_of_devices = 60;

constexpr std::array<std::pair<const char*, Varied>, 7> varied_options{
    {{"modes", Varied::mode},
     {"on", Varied::device},
     {"dtype", Varied::dtype},
     {"runtime", Varied::runtime},
     {"batch", Varied::batch},
     {"storage", Varied::storage},
     {"workers", Varied::workers}}};

// The devices of a group: "jetson", "gpu" (cards) or "all"; empty for any other word.
std::vector<std::string> devices_of(const std::string& word) {
  std::vector<std::string> ids;
  const bool is_all = same_name(word, "all");
  const auto kind = same_name(word, "cards") ? std::optional(catalog::Kind::gpu)
                                             : lenient_token<catalog::Kind>(word);
  if (!is_all && (!kind || kind == catalog::Kind::cpu)) return ids;
  for (const catalog::IndexRow& row : catalog::index()) {
    const catalog::Device device = catalog::load(row.id);
    if (device.gpu && (is_all || device.kind == kind)) ids.push_back(device.id);
  }
  return ids;
}

bool begins_with_digit(const std::string& word) {
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())) != 0;
}

// Words between commas; "90MB/s,0.2ms" is one medium.
std::vector<std::string> values_of(const std::string& name, const std::string& text) {
  if (name == "on")
    if (auto devices = devices_of(text); !devices.empty()) return devices;
  std::vector<std::string> values;
  for (std::string& word : list_of(text, as_typed(name.c_str(), text))) {
    const bool is_access = name == "storage" && !values.empty() && begins_with_digit(word) &&
                           word.ends_with("s") && !word.ends_with("/s");
    if (is_access)
      values.back() += "," + word;
    else
      values.push_back(std::move(word));
  }
  return values;
}

class Comparing {
 public:
  Comparing(const Options& options, const VariedOption& varied, const MakeRequest& make,
            bool best_mode)
      : options_(options), varied_(varied), make_(make), best_mode_(best_mode) {
    result_.varied = varied.what;
    held_ = options.text_or_empty("mode");
  }

  ComparedRuns run() {
    if (varied_.what == Varied::mode)
      add_modes();
    else
      for (const std::string& value : varied_.values) add(value);
    const bool any = std::any_of(result_.rows.begin(), result_.rows.end(),
                                 [](const ComparedRow& row) { return row.run.has_value(); });
    if (!any && fault_) throw *fault_;
    if (varied_.what != Varied::mode) rank(result_.rows);
    if (varied_.what != Varied::mode && varied_.what != Varied::device) result_.held_mode = held_;
    return std::move(result_);
  }

 private:
  void describe(const PlanRequest& request, const PlanSetup& setup) {
    for (const std::string& note : setup.problem.notes)
      if (std::find(result_.notes.begin(), result_.notes.end(), note) == result_.notes.end() &&
          varied_.what != Varied::device)
        result_.notes.push_back(note);
    if (!result_.run.network.empty()) return;
    result_.run.network = setup.problem.network;
    result_.run.device = setup.problem.model.device;
    result_.run.machine = setup.problem.machine;
    result_.run.runtime = setup.problem.conditions.runtime;
    result_.run.objective = request.objective;
    result_.run.scenario = setup.problem.scenario;
  }

  void add_modes() {
    Options one = options_;
    one.erase("modes");
    PlanRequest request = make_(one);
    request.modes.stock_only = true;
    const PlanSetup setup = plan_setup(request);
    describe(request, setup);
    result_.rows = compare_modes(setup.problem, request.objective, setup.options);
    if (varied_.values.empty()) return;
    std::vector<ComparedRow> wanted;
    for (const std::string& value : varied_.values) {
      const auto found =
          std::find_if(result_.rows.begin(), result_.rows.end(),
                       [&](const ComparedRow& row) { return same_name(row.label, value); });
      if (found == result_.rows.end()) {
        std::vector<std::string> labels;
        for (const ComparedRow& row : result_.rows) labels.push_back(row.label);
        throw usage_error("--modes " + value,
                          setup.problem.machine + " has no stock mode of this name",
                          fmt::format("it has {}; or write --modes all", fmt::join(labels, ", ")));
      }
      wanted.push_back(*found);
      wanted.back().rank.reset();
    }
    result_.rows = std::move(wanted);
    rank(result_.rows);
  }

  void add(const std::string& value) {
    Options one = options_;
    one.set(varied_.option, value);
    PlanRequest request = make_(one);
    try {
      result_.rows.push_back(varied_.what == Varied::device ? device_row(request, value)
                                                            : held_row(request, value));
    } catch (const Error& error) {
      if (error.code() == ExitCode::usage) throw;
      if (!fault_) fault_ = error;
      result_.rows.push_back({.label = value, .run = {}, .why_not = error.cause()});
    }
  }

  ComparedRow device_row(PlanRequest& request, const std::string& value) {
    request.modes.stock_only = true;
    request.machine.mode.clear();
    PlanSetup setup = setup_of_device(request);
    describe(request, setup);
    setup.options.draws = draws_of_devices;
    return best_row_of(setup.problem, request.objective, setup.options, value);
  }

  // A device without stock modes is compared in its default one.
  static PlanSetup setup_of_device(PlanRequest& request) {
    try {
      return plan_setup(request);
    } catch (const Error& error) {
      if (error.code() != ExitCode::infeasible) throw;
      request.modes.stock_only = false;
      return plan_setup(request);
    }
  }

  ComparedRow held_row(PlanRequest& request, const std::string& value) {
    request.why = held_;
    const PlanSetup setup = plan_setup(request);
    describe(request, setup);
    if (held_.empty()) hold_mode(request, setup);
    return row_in_mode(setup.problem, request.objective, setup.options, value,
                       held_index_in(setup));
  }

  // The first row decides in which mode the others are compared.
  void hold_mode(const PlanRequest& request, const PlanSetup& setup) {
    const CandidateModes& modes = setup.problem.candidates;
    const std::size_t other = modes.default_mode.value_or(0);
    held_ = mode_name(modes.modes[other].point);
    first_ = other;
    if (!best_mode_) return;
    const ComparedRow best =
        best_row_of(setup.problem, request.objective, setup.options, std::string());
    held_ = name_of(*best.run);
    for (std::size_t mode = 0; mode < modes.modes.size(); ++mode)
      if (modes.modes[mode].point == best.run->point) first_ = mode;
  }

  std::size_t held_index_in(const PlanSetup& setup) {
    if (setup.options.why) return *setup.options.why;
    return first_.value_or(setup.problem.candidates.default_mode.value_or(0));
  }

  const Options& options_;
  const VariedOption& varied_;
  const MakeRequest& make_;
  bool best_mode_;
  ComparedRuns result_;
  std::string held_;
  std::optional<std::size_t> first_;  // index of the held mode in the first row
  std::optional<Error> fault_;
};

}  // namespace

void add_modes_option(OptionsDescription& options) {
  options.add_text("modes", "all|MODE,...", "a table of the stock modes instead of one answer");
}

std::optional<VariedOption> varied_option(const Options& options,
                                          const std::vector<const char*>& lists) {
  std::optional<VariedOption> found;
  for (const auto& [name, what] : varied_options) {
    const bool counts = std::any_of(lists.begin(), lists.end(), [&](const char* list) {
      return std::string_view(list) == name;
    });
    if (!counts || !options.has(name)) continue;
    const std::string text = options.text(name);
    const bool all_modes = what == Varied::mode && same_name(text, "all");
    std::vector<std::string> values =
        all_modes ? std::vector<std::string>() : values_of(name, text);
    if (what != Varied::mode && values.size() < 2) continue;
    if (found)
      throw usage_error(as_typed(name, text), "cannot vary beside --" + found->option,
                        "give one of the two one value");
    found = VariedOption{what, name, std::move(values)};
  }
  return found;
}

ComparedRuns compare(const Options& options, const VariedOption& varied, const MakeRequest& make,
                     bool best_mode) {
  return Comparing(options, varied, make, best_mode).run();
}

ExitCode write_comparison(const ComparedRuns& comparison, const Options& options, Console& console,
                          std::vector<AnswerFile> pictures) {
  std::vector<const char*> names;
  if (pictures.empty()) names = picture_options();
  if (pictures.empty()) names.push_back("format");
  for (const char* name : {"nvpmodel", "probes-csv", "why", "trace"}) names.push_back(name);
  for (const char* name : names)
    refuse(options, name, "has no place in a table", "give every option one value");
  Answer answer;
  answer.name = "comparison";
  answer.files = std::move(pictures);
  answer.text = [&](std::ostream& out) { out << comparison_text(comparison, console.width); };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(comparison)); };
  answer.csv = [&](std::ostream& out) { out << to_csv(comparison); };
  answer.beside_csv = as_notes(comparison.notes);
  write_answer(answer, options, console);
  return ExitCode::ok;
}

}  // namespace ridgeline::cli
