// `ridgeline counters -- PROGRAM`: FLOP, DRAM bytes and times of another program's CUDA kernels.
// Parses, runs the program, writes; what runs inside of the program is in kernels/cuda/cupti.
#include "report/counters.h"

#include <fmt/format.h>

#include <ostream>

#include "base/json.h"
#include "base/units.h"
#include "cli/answer.h"
#include "kernels/cuda/profiler.h"
#include "kernels/cuda/program_counts.h"

namespace ridgeline::cli {
namespace {
using cuda::CountedKernel;
using cuda::ProgramCounts;
using cuda::Quantity;

void declare_counters(OptionsDescription& options) {
  options.add_text("only", "counters|times",
                   "one run of the program instead of two: counters or times");
}

ProgramCounts runs_of(const std::vector<std::string>& command, const Options& options) {
  if (!options.has("only")) {
    ProgramCounts counts = cuda::count_program(command);  // first: it may be forbidden
    return cuda::merge_runs(std::move(counts), cuda::time_program(command));
  }
  const auto& only = options.text("only");
  if (only == "counters") return cuda::count_program(command);
  if (only == "times") return cuda::time_program(command);
  throw usage_error("--only " + only, "is neither counters nor times");
}

// Older toolkits count instructions of tensor cores, and not what they do.
void remark_on_tensor_instructions(const CountedKernel& total, const Console& console) {
  const auto found = total.counts.find(Quantity::tensor_instructions);
  if (found == total.counts.end() || found->second <= 0 ||
      total.counts.contains(Quantity::tensor_int8))
    return;
  std::string shapes;
  for (const auto& [shape, flop] : cuda::tensor_shapes())
    shapes += fmt::format("{}{} for {}", shapes.empty() ? "" : ", ", flop, shape);
  console.talk(
      fmt::format("{} tensor instructions are not in the FLOP, since this CUPTI does not "
                  "count their operations; one is, by shape: {}",
                  format_si(found->second, "", 4), shapes));
}

ExitCode run_counters(const Options& options, Console& console) {
  const std::vector<std::string> command = positional(options);
  if (command.empty())
    throw usage_error({}, "no program to run", "for example: ridgeline counters -- ./program");
  if (const std::string reason = cuda::why_no_cupti(); !reason.empty()) throw Error({}, reason);
  const ProgramCounts counts = runs_of(command, options);
  Answer answer;
  answer.text = [&](std::ostream& out) { out << to_text(counts, console.width); };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(counts, command)); };
  answer.csv = [&](std::ostream& out) { out << to_csv(counts); };
  write_answer(answer, options, console);
  remark_on_tensor_instructions(total_of(counts), console);
  if (counts.lost > 0)
    throw Error("counters",
                fmt::format("{} records of kernel times were lost: times are too low", counts.lost),
                "run a shorter part of the program");
  if (counts.exit_code != 0)
    throw Error(command[0], fmt::format("ended with exit code {}", counts.exit_code));
  return ExitCode::ok;
}

}  // namespace

Command counters_command() {
  return {.name = "counters",
          .summary = "FLOP, DRAM bytes and times of another program's CUDA kernels",
          .positional = "-- PROGRAM [ARGUMENT ...]",
          .max_positional = 100'000,
          .description =
              "Runs a program twice with NVIDIA's profiling library (CUPTI) loaded into it: once "
              "to time its kernels undisturbed, and once to read counters, for which the driver "
              "replays each kernel. FLOP are those the GPU executed; a multiply-add counts as two. "
              "On Jetson, DRAM bytes are L2 fills and writes to L2. The program's output goes to "
              "standard error. Reading counters may need sudo.",
          .examples = {{"counters -- ./program --batch 8", "work and time of its kernels"},
                       {"counters --only times -- python3 train.py", "times alone, in one run"},
                       {"counters --json -- ./program", "every quantity, with metric and source"}},
          .add_options = declare_counters,
          .run = run_counters};
}

}  // namespace ridgeline::cli
