// `ridgeline kernel NAME`: run one kernel with explicit sizes, for a profiler or a disassembler.
// Without a name it lists the kernels and the work that each declares.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/csv.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/statistics.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cli/command.h"
#include "cli/commands/kernel_cuda.h"
#include "devices/machine/this_machine.h"
#include "devices/machine/topology.h"
#include "kernels/cpu/bench.h"

namespace ridgeline::cli {
namespace {

void declare_kernel(OptionsDescription& options) {
  options.add_text(
      "iterations", "N",
      "trips of a compute or latency kernel, passes of a memory kernel, per thread and sample "
      "(default: about 3 ms)");
  options.add_text("bytes", "SIZE",
                   "working set of all threads together, for example 4MiB (default: 64MiB)");
  options.add_text("threads", "N", "threads (default: 1)");
  options.add_text("blocks", "N", "blocks of a CUDA kernel (default: one per multiprocessor)");
  options.add_text("block-threads", "N", "threads of each block of a CUDA kernel (default: 128)");
  options.add_text("samples", "N", "timed windows (default: 5)");
}

std::uint64_t count_option(const Options& options, const char* name, std::uint64_t fallback) {
  if (!options.has(name)) return fallback;
  const auto& text = options.text(name);
  const std::string where = fmt::format("--{} {}", name, text);
  const std::uint64_t value = parse_count(text, where);
  if (value == 0) throw usage_error(where, "must be at least 1");
  return value;
}

std::string_view role_name(cpu::Role role) {
  switch (role) {
    case cpu::Role::compute:
      return "compute";
    case cpu::Role::memory:
      return "memory";
    case cpu::Role::sweep:
      return "sweep";
    case cpu::Role::latency:
      return "latency";
    case cpu::Role::clock:
      return "clock";
  }
  return "?";
}

Json descriptor_json(const cpu::Kernel& kernel) {
  const auto& support = cpu::isa_support(kernel.isa);
  return {{"name", kernel.name},
          {"role", role_name(kernel.role)},
          {"isa", to_string(kernel.isa)},
          {"dtype", to_string(kernel.dtype)},
          {"flop_per_trip", kernel.flop_per_trip()},
          {"bytes_per_trip", kernel.bytes_per_trip()},
          {"chains", kernel.chains},
          {"arithmetic_instructions", kernel.arithmetic},
          {"loads", kernel.loads},
          {"stores", kernel.stores},
          {"access_bytes", kernel.access_bytes},
          {"missing", support.runs ? Json() : Json(support.reason)}};
}

ExitCode list(const Options& options, Console& console) {
  if (flag(options, "json")) {
    Json kernels = Json::array();
    for (const cpu::Kernel& kernel : cpu::kernel_table())
      kernels.push_back(descriptor_json(kernel));
    for (const cuda::Kernel& kernel : cuda::kernel_table())
      kernels.push_back(gpu_descriptor_json(kernel));
    console.out << dump_json({{"schema", "ridgeline.kernels/1"}, {"kernels", kernels}});
    return ExitCode::ok;
  }
  TextTable table{{{"kernel"},
                   {"role"},
                   {"isa"},
                   {"FLOP/trip", Align::right},
                   {"bytes/trip", Align::right},
                   {"runs here", Align::left, true}},
                  {}};
  for (const cpu::Kernel& kernel : cpu::kernel_table()) {
    const auto& support = cpu::isa_support(kernel.isa);
    table.rows.push_back({std::string(kernel.name), std::string(role_name(kernel.role)),
                          std::string(to_string(kernel.isa)),
                          fmt::format("{:.0f}", kernel.flop_per_trip()),
                          fmt::format("{:.0f}", kernel.bytes_per_trip()),
                          support.runs ? "yes" : "no: " + support.reason});
  }
  for (const cuda::Kernel& kernel : cuda::kernel_table()) {
    const std::string missing = why_not_here(kernel);
    table.rows.push_back({std::string(kernel.name), std::string(to_string(kernel.role)),
                          architectures_text(kernel), fmt::format("{:.0f}", kernel.flop_per_trip()),
                          fmt::format("{:.0f}", kernel.bytes_per_trip()),
                          missing.empty() ? "yes" : "no: " + missing});
  }
  console.out << (flag(options, "csv") ? render_csv(table) : render_text(table, console.width));
  return ExitCode::ok;
}

const cpu::Kernel& kernel_named(const std::string& name) {
  if (const cpu::Kernel* kernel = cpu::find_kernel(name)) return *kernel;
  std::vector<std::string> names;
  for (const cpu::Kernel& kernel : cpu::kernel_table()) names.emplace_back(kernel.name);
  for (const cuda::Kernel& kernel : cuda::kernel_table()) names.emplace_back(kernel.name);
  const auto near = nearest(name, names);
  throw usage_error("kernel '" + name + "'", "no kernel has this name",
                    near ? "did you mean '" + *near + "'?" : "'ridgeline kernel' lists them");
}

cpu::Section section_of(const cpu::Kernel& kernel) {
  switch (kernel.role) {
    case cpu::Role::memory:
      return cpu::Section::memory;
    case cpu::Role::sweep:
      return cpu::Section::sweep;
    case cpu::Role::latency:
      return cpu::Section::latency;
    default:
      return cpu::Section::compute;
  }
}

cpu::PlannedTrial plan_one(const cpu::Kernel& kernel, const Options& options,
                           const Topology& topology) {
  const auto& support = cpu::isa_support(kernel.isa);
  if (!support.runs) throw Error(std::string(kernel.name), support.reason);
  const std::uint64_t threads = count_option(options, "threads", 1);
  if (threads > static_cast<std::uint64_t>(topology.cores))
    throw usage_error(fmt::format("--threads {}", threads),
                      fmt::format("this machine has {} cores for this process", topology.cores));
  const std::string text = options.has("bytes") ? options.text("bytes") : std::string("64MiB");
  const std::uint64_t bytes = parse_bytes(text, "--bytes " + text);
  const bool uses_memory = kernel.role != cpu::Role::compute && kernel.role != cpu::Role::clock;
  if (uses_memory && bytes > available_memory_bytes())
    throw Error("--bytes " + text, "no memory for the buffers: " +
                                       format_bytes(static_cast<double>(available_memory_bytes())) +
                                       " are available");
  return {section_of(kernel),
          &kernel,
          static_cast<int>(threads),
          {Level::dram, bytes / threads, false},
          {}};
}

ExitCode run_kernel(const Options& options, Console& console) {
  const auto words = positional(options);
  if (words.empty()) return list(options, console);
  if (const cuda::Kernel* const kernel = cuda::find_kernel(words.front()))
    return run_gpu_kernel(*kernel, options, console);
  const cpu::Kernel& kernel = kernel_named(words.front());
  for (const char* const name : {"blocks", "block-threads"})
    if (options.has(name))
      throw usage_error(fmt::format("--{}", name), "is for CUDA kernels", "use --threads");
  const Topology topology = read_topology();
  const std::vector plan{plan_one(kernel, options, topology)};
  const std::uint64_t iterations =
      options.has("iterations") ? count_option(options, "iterations", 1) : 0;
  const std::uint64_t samples = count_option(options, "samples", 5);
  cpu::Bench bench(plan, {}, topology);
  std::vector<cpu::Bench::ExactRun> runs;
  for (std::uint64_t i = 0; i < samples; ++i) runs.push_back(bench.run_exactly(0, iterations));

  std::vector<double> seconds;
  for (const auto& one : runs) seconds.push_back(one.seconds);
  const Estimate time = median_estimate(seconds, Source::measured);
  const auto& last = runs.back();
  const char* const unit = is_integer(kernel.dtype) ? "OP" : "FLOP";
  if (flag(options, "json")) {
    console.out << dump_json({{"schema", "ridgeline.kernel/1"},
                              {"kernel", descriptor_json(kernel)},
                              {"threads", plan.front().threads},
                              {"iterations", last.repeats},
                              {"working_set_bytes", bench.working_set_bytes(0)},
                              {"flop", last.flop},
                              {"bytes", last.bytes},
                              {"seconds", seconds},
                              {"time_s", to_json(time)}});
    return ExitCode::ok;
  }
  // A kernel without FLOP or bytes has no such rate: an empty field, not a zero.
  const auto rate = [](double work, double taken) {
    return work > 0 ? csv_number(work / taken) : std::string();
  };
  if (flag(options, "csv")) {
    console.out << csv_row({"sample", "time_s", "flops_per_s", "bytes_per_s"});
    for (std::size_t i = 0; i < seconds.size(); ++i)
      console.out << csv_row({std::to_string(i + 1), csv_number(seconds[i]),
                              rate(last.flop, seconds[i]), rate(last.bytes, seconds[i])});
    return ExitCode::ok;
  }
  const bool chase = kernel.role == cpu::Role::latency;
  TextTable table{{{"sample", Align::right},
                   {"time", Align::right},
                   {"rate", Align::right},
                   {chase ? "per load" : "bandwidth", Align::right}},
                  {}};
  const auto row = [&](const std::string& name, double taken) {
    const double loads = last.bytes / kernel.access_bytes;
    table.rows.push_back(
        {name, format_seconds(taken, 4),
         last.flop > 0 ? format_si(last.flop / taken, std::string(unit) + "/s", 4) : "",
         chase            ? format_seconds(taken / loads, 4)
         : last.bytes > 0 ? format_si(last.bytes / taken, "B/s", 4)
                          : ""});
  };
  for (std::size_t i = 0; i < seconds.size(); ++i) row(std::to_string(i + 1), seconds[i]);
  row("median", time.value);
  console.out << wrap(
                     fmt::format("{}: {} iterations on {} thread{}, {:.6g} {} and {:.6g} bytes a "
                                 "sample (declared), times measured",
                                 kernel.name, last.repeats, plan.front().threads,
                                 plan.front().threads == 1 ? "" : "s", last.flop, unit, last.bytes),
                     console.width, 2)
              << "\n"
              << render_text(table, console.width);
  return ExitCode::ok;
}

}  // namespace

Command kernel_command() {
  return {.name = "kernel",
          .summary = "run one kernel with explicit sizes, or list the kernels",
          .positional = "[NAME]",
          .max_positional = 1,
          .description =
              "Runs one kernel alone, without warm-up, lead-in or clock probe, so that it can be "
              "profiled, counted or disassembled. The work of a sample is what the kernel's "
              "descriptor declares. Without a name, lists all kernels of this architecture and of "
              "CUDA devices; their trips are those of a warp.",
          .examples = {{"kernel fma_avx2_fp32 --iterations 1000000 --samples 1", "one window"},
                       {"kernel read_avx2 --bytes 1GiB --threads 2", "stream through memory"},
                       {"kernel mma_fp16_8 --blocks 20 --iterations 64 --samples 1",
                        "a few microseconds of a GPU's tensor cores"},
                       {"kernel", "list the kernels and their declared work"}},
          .add_options = declare_kernel,
          .run = run_kernel};
}

}  // namespace ridgeline::cli
