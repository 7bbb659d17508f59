// `ridgeline counters -- PROGRAM`: FLOP, DRAM bytes and times of another program's CUDA kernels.
// Options → runs → table; what runs inside of the program is in kernels/cuda/cupti.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/csv.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/units.h"
#include "cli/command.h"
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

constexpr Quantity floating[] = {
    Quantity::flop_fp64,   Quantity::flop_fp32,   Quantity::flop_fp16,   Quantity::tensor_fp64,
    Quantity::tensor_tf32, Quantity::tensor_fp16, Quantity::tensor_bf16, Quantity::tensor_fp8};
constexpr Quantity tensor_integer[] = {Quantity::tensor_int8, Quantity::tensor_int4};

// The sum of those that were counted; absent where none was.
template <std::size_t Count>
std::optional<double> sum(const CountedKernel& kernel, const Quantity (&quantities)[Count]) {
  std::optional<double> total;
  for (const Quantity quantity : quantities)
    if (const auto found = kernel.counts.find(quantity); found != kernel.counts.end())
      total = total.value_or(0) + found->second;
  return total;
}

std::optional<double> dram_bytes(const CountedKernel& kernel) {
  return sum(kernel, {Quantity::dram_read, Quantity::dram_write});
}

CountedKernel total_of(const ProgramCounts& counts) {
  CountedKernel total{.name = "total"};
  for (const CountedKernel& kernel : counts.kernels) {
    total.launches += kernel.launches;
    if (kernel.time_s) total.time_s = total.time_s.value_or(0) + *kernel.time_s;
    for (const auto& [quantity, value] : kernel.counts) total.counts[quantity] += value;
  }
  return total;
}

Json kernel_json(const CountedKernel& kernel) {
  Json quantities = Json::object();
  for (const auto& [quantity, value] : kernel.counts)
    quantities[std::string(facts_of(quantity).token)] = value;
  return {{"kernel", kernel.name},
          {"launches", kernel.launches},
          {"time_s", kernel.time_s ? Json(*kernel.time_s) : Json()},
          {"counts", quantities}};
}

Json to_json(const ProgramCounts& counts, const std::vector<std::string>& command) {
  Json kernels = Json::array(), metrics = Json::array();
  for (const CountedKernel& kernel : counts.kernels) kernels.push_back(kernel_json(kernel));
  for (const cuda::CounterRow& row : cuda::counter_table())
    if (counts.kernels.front().counts.contains(row.quantity) && counts.architecture >= row.first &&
        counts.architecture <= row.last)
      metrics.push_back({{"quantity", facts_of(row.quantity).token},
                         {"name", row.metric},
                         {"factor", row.factor},
                         {"source", row.source}});
  return {{"schema", "ridgeline.counters/1"},
          {"command", command},
          {"exit_code", counts.exit_code},
          {"architecture", counts.architecture == 0 ? Json() : Json(counts.architecture)},
          {"lost_records", counts.lost},
          {"metrics", metrics},
          {"kernels", kernels},
          {"total", kernel_json(total_of(counts))}};
}

std::string to_text(const ProgramCounts& counts, int width) {
  TextTable table{{{"kernel", Align::left, true},
                   {"launches", Align::right},
                   {"time", Align::right},
                   {"FLOP", Align::right},
                   {"tensor INT OP", Align::right, false, 1},
                   {"DRAM read", Align::right},
                   {"DRAM written", Align::right},
                   {"FLOP/byte", Align::right}},
                  {}};
  const auto count = [](std::optional<double> value) {
    return value ? format_si(*value, "", 4) : std::string();
  };
  const auto bytes = [](std::optional<double> value) {
    return value ? format_si(*value, "B", 4) : std::string();
  };
  auto kernels = counts.kernels;
  if (kernels.size() > 1) kernels.push_back(total_of(counts));
  for (const CountedKernel& kernel : kernels) {
    const auto flop = sum(kernel, floating), moved = dram_bytes(kernel);
    table.rows.push_back({kernel.name, std::to_string(kernel.launches),
                          kernel.time_s ? format_seconds(*kernel.time_s, 4) : "", count(flop),
                          count(sum(kernel, tensor_integer)),
                          bytes(sum(kernel, {Quantity::dram_read})),
                          bytes(sum(kernel, {Quantity::dram_write})),
                          flop && moved && *moved > 0 ? format_number(*flop / *moved) : ""});
  }
  return render_text(table, width);
}

std::string to_csv(const ProgramCounts& counts) {
  std::vector<std::string> head = {"kernel", "launches", "time_s"};
  for (const cuda::QuantityFacts& facts : cuda::quantity_table()) head.emplace_back(facts.token);
  std::string text = csv_row(head);
  for (const CountedKernel& kernel : counts.kernels) {
    std::vector<std::string> row = {kernel.name, std::to_string(kernel.launches),
                                    kernel.time_s ? csv_number(*kernel.time_s) : ""};
    for (const cuda::QuantityFacts& facts : cuda::quantity_table()) {
      const auto found = kernel.counts.find(facts.quantity);
      row.push_back(found == kernel.counts.end() ? "" : csv_number(found->second));
    }
    text += csv_row(row);
  }
  return text;
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
  if (flag(options, "json"))
    console.out << dump_json(to_json(counts, command));
  else
    console.out << (flag(options, "csv") ? to_csv(counts) : to_text(counts, console.width));
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
              "Runs a program twice with NVIDIA's profiling library (CUPTI) inside of it: once for "
              "the times of its kernels, which run as ever, and once for counters, for which the "
              "driver repeats each kernel. FLOP are those that the GPU executed: a multiply-add is "
              "two. On Jetson DRAM bytes are what L2 was filled with and what was written to it. "
              "The program's output goes to standard error. Reading counters may need sudo.",
          .examples = {{"counters -- ./program --batch 8", "what its kernels did"},
                       {"counters --only times -- python3 train.py", "times alone, in one run"},
                       {"counters --json -- ./program", "every quantity, with metric and source"}},
          .add_options = declare_counters,
          .run = run_counters};
}

}  // namespace ridgeline::cli
