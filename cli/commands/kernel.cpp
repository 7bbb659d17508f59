// `ridgeline kernel NAME`: run one kernel with explicit sizes, for a profiler or a disassembler.
// Without a name it lists the kernels and the work that each declares.
#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "base/csv.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/statistics.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "cli/answer.h"
#include "devices/machine/this_machine.h"
#include "devices/machine/topology.h"
#include "kernels/cpu/bench.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/single_run.h"

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

std::uint64_t positive_count(const Options& options, const char* name, std::uint64_t fallback) {
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

// "sm_80 or newer", "sm_80 to sm_89".
std::string architectures_text(const cuda::Kernel& kernel) {
  const cuda::Architectures& runs = kernel.architectures;
  std::string text = runs.first == 0 ? "CUDA" : fmt::format("sm_{}", runs.first);
  if (runs.last != 0)
    text += fmt::format(" to sm_{}", runs.last);
  else if (runs.first != 0)
    text += " or newer";
  if (runs.emulated_first != 0)
    text += fmt::format(", not sm_{} to sm_{}", runs.emulated_first, runs.emulated_last);
  return text;
}

// Why a CUDA kernel cannot run on this machine; empty where it can. Asks the device once.
std::string why_not_here(const cuda::Kernel& kernel) {
  static const std::string reason = cuda::why_no_gpu();
  if (!reason.empty()) return "no CUDA device: " + reason;
  static const std::unique_ptr<cuda::Gpu> gpu = cuda::open_gpu();
  return cuda::why_missing(kernel, gpu->facts().architecture,
                           [](const cuda::Kernel& asked) { return gpu->support(asked); });
}

Json gpu_descriptor_json(const cuda::Kernel& kernel) {
  const std::string missing = why_not_here(kernel);
  return {{"name", kernel.name},
          {"role", to_string(kernel.role)},
          {"isa", architectures_text(kernel)},
          {"dtype", to_string(kernel.dtype)},
          {"flop_per_trip", kernel.flop_per_trip()},
          {"bytes_per_trip", kernel.bytes_per_trip()},
          {"chains", kernel.chains},
          {"arithmetic_instructions", kernel.arithmetic},
          {"loads", kernel.loads},
          {"stores", kernel.stores},
          {"access_bytes", kernel.arrays > 0 ? 16 : 0},
          {"missing", missing.empty() ? Json() : Json(missing)}};
}

Json list_json() {
  Json kernels = Json::array();
  for (const cpu::Kernel& kernel : cpu::kernel_table()) kernels.push_back(descriptor_json(kernel));
  for (const cuda::Kernel& kernel : cuda::kernel_table())
    kernels.push_back(gpu_descriptor_json(kernel));
  return {{"schema", "ridgeline.kernels/1"}, {"kernels", kernels}};
}

TextTable list_table() {
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
  return table;
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
  const std::uint64_t threads = positive_count(options, "threads", 1);
  if (threads > static_cast<std::uint64_t>(topology.cores))
    throw usage_error(fmt::format("--threads {}", threads),
                      fmt::format("this machine has {} cores for this process", topology.cores));
  const std::string text = options.word("bytes").value_or("64MiB");
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

std::uint32_t size_option(const Options& options, const char* name) {
  if (!options.has(name)) return 0;
  const auto& text = options.text(name);
  const std::string where = fmt::format("--{} {}", name, text);
  const std::uint64_t value = parse_count(text, where);
  if (value == 0) throw usage_error(where, "must be at least 1");
  if (value > 0x7fffffff) throw usage_error(where, "is too large for one launch");
  return static_cast<std::uint32_t>(value);
}

cuda::SingleRunSizes sizes_of(const Options& options) {
  if (options.has("threads"))
    throw usage_error("--threads", "is for kernels of the CPU", "use --blocks and --block-threads");
  cuda::SingleRunSizes sizes;
  sizes.blocks = size_option(options, "blocks");
  sizes.block_threads = size_option(options, "block-threads");
  sizes.iterations = size_option(options, "iterations");
  if (options.has("samples")) sizes.samples = size_option(options, "samples");
  if (options.has("bytes")) {
    const auto& text = options.text("bytes");
    sizes.bytes = parse_bytes(text, "--bytes " + text);
  }
  return sizes;
}

// A kernel without FLOP or bytes has no such rate: an empty field, not a zero.
std::string rate_csv(double work, double taken_s) {
  return work > 0 && taken_s > 0 ? csv_number(work / taken_s) : std::string();
}

std::string rate_text(double work, double taken_s, const std::string& unit) {
  return work > 0 && taken_s > 0 ? format_si(work / taken_s, unit, 4) : std::string();
}

void run_gpu_kernel(const cuda::Kernel& kernel, const Options& options, Console& console) {
  const cuda::SingleRunSizes sizes = sizes_of(options);
  const auto gpu = cuda::open_gpu();
  const std::string missing =
      cuda::why_missing(kernel, gpu->facts().architecture,
                        [&](const cuda::Kernel& asked) { return gpu->support(asked); });
  if (!missing.empty()) throw Error(std::string(kernel.name), missing);
  const cuda::SingleRun run = cuda::run_alone(*gpu, kernel, sizes);
  const cuda::Setup& setup = run.setup;
  const std::string unit = is_integer(kernel.dtype) ? "OP" : "FLOP";

  Answer answer;
  answer.json = [&](std::ostream& out) {
    std::vector<double> seconds, clocks;
    for (const cuda::Timed& sample : run.samples) {
      seconds.push_back(sample.seconds);
      if (sample.clock_hz > 0) clocks.push_back(sample.clock_hz);
    }
    out << dump_json(
        {{"schema", "ridgeline.kernel/1"},
         {"kernel", gpu_descriptor_json(kernel)},
         {"threads", setup.grid.blocks * setup.grid.threads},
         {"blocks", setup.grid.blocks},
         {"block_threads", setup.grid.threads},
         {"iterations", setup.repeats},
         {"working_set_bytes", setup.set_bytes},
         {"flop", setup.flop()},
         {"bytes", setup.bytes()},
         {"seconds", seconds},
         {"time_s", to_json(median_estimate(seconds, Source::measured))},
         {"clock_hz",
          clocks.empty() ? Json() : to_json(median_estimate(clocks, Source::measured))}});
  };
  answer.csv = [&](std::ostream& out) {
    out << csv_row({"sample", "time_s", "flops_per_s", "bytes_per_s", "clock_hz"});
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      const cuda::Timed& sample = run.samples[i];
      out << csv_row({std::to_string(i + 1), csv_number(sample.seconds),
                      rate_csv(setup.flop(), sample.seconds),
                      rate_csv(setup.bytes(), sample.seconds), rate_csv(sample.clock_hz, 1)});
    }
  };
  answer.text = [&](std::ostream& out) {
    TextTable table{{{"sample", Align::right},
                     {"time", Align::right},
                     {"rate", Align::right},
                     {"bandwidth", Align::right},
                     {"clock", Align::right}},
                    {}};
    for (std::size_t i = 0; i < run.samples.size(); ++i) {
      const cuda::Timed& sample = run.samples[i];
      table.rows.push_back({std::to_string(i + 1), format_seconds(sample.seconds, 4),
                            rate_text(setup.flop(), sample.seconds, unit + "/s"),
                            rate_text(setup.bytes(), sample.seconds, "B/s"),
                            rate_text(sample.clock_hz, 1, "Hz")});
    }
    out << wrap(fmt::format("{}: {} iterations of {} blocks of {} threads on {}, {:.6g} {} "
                            "and {:.6g} bytes a sample (declared), times measured",
                            kernel.name, setup.repeats, setup.grid.blocks, setup.grid.threads,
                            gpu->facts().name, setup.flop(), unit, setup.bytes()),
                console.width, 2)
        << "\n"
        << render_text(table, console.width);
  };
  write_answer(answer, options, console);
}

void run_cpu_kernel(const cpu::Kernel& kernel, const Options& options, Console& console) {
  for (const char* const name : {"blocks", "block-threads"})
    refuse(options, name, "is for CUDA kernels", "use --threads");
  const Topology topology = read_topology();
  const std::vector plan{plan_one(kernel, options, topology)};
  const std::uint64_t iterations =
      options.has("iterations") ? positive_count(options, "iterations", 1) : 0;
  const std::uint64_t samples = positive_count(options, "samples", 5);
  cpu::Bench bench(plan, {}, topology);
  std::vector<double> seconds;
  cpu::Bench::ExactRun last;
  for (std::uint64_t i = 0; i < samples; ++i) {
    last = bench.run_exactly(0, iterations);
    seconds.push_back(last.seconds);
  }
  const Estimate time = median_estimate(seconds, Source::measured);

  Answer answer;
  answer.json = [&](std::ostream& out) {
    out << dump_json({{"schema", "ridgeline.kernel/1"},
                      {"kernel", descriptor_json(kernel)},
                      {"threads", plan.front().threads},
                      {"iterations", last.repeats},
                      {"working_set_bytes", bench.working_set_bytes(0)},
                      {"flop", last.flop},
                      {"bytes", last.bytes},
                      {"seconds", seconds},
                      {"time_s", to_json(time)}});
  };
  answer.csv = [&](std::ostream& out) {
    out << csv_row({"sample", "time_s", "flops_per_s", "bytes_per_s"});
    for (std::size_t i = 0; i < seconds.size(); ++i)
      out << csv_row({std::to_string(i + 1), csv_number(seconds[i]),
                      rate_csv(last.flop, seconds[i]), rate_csv(last.bytes, seconds[i])});
  };
  answer.text = [&](std::ostream& out) {
    const std::string unit = is_integer(kernel.dtype) ? "OP" : "FLOP";
    const bool chase = kernel.role == cpu::Role::latency;
    TextTable table{{{"sample", Align::right},
                     {"time", Align::right},
                     {"rate", Align::right},
                     {chase ? "per load" : "bandwidth", Align::right}},
                    {}};
    const auto add = [&](const std::string& name, double taken_s) {
      const double loads = last.bytes / kernel.access_bytes;
      table.rows.push_back(
          {name, format_seconds(taken_s, 4), rate_text(last.flop, taken_s, unit + "/s"),
           chase ? format_seconds(taken_s / loads, 4) : rate_text(last.bytes, taken_s, "B/s")});
    };
    for (std::size_t i = 0; i < seconds.size(); ++i) add(std::to_string(i + 1), seconds[i]);
    add("median", time.value);
    out << wrap(fmt::format("{}: {} iterations on {} thread{}, {:.6g} {} and {:.6g} bytes a "
                            "sample (declared), times measured",
                            kernel.name, last.repeats, plan.front().threads,
                            plan.front().threads == 1 ? "" : "s", last.flop, unit, last.bytes),
                console.width, 2)
        << "\n"
        << render_text(table, console.width);
  };
  write_answer(answer, options, console);
}

void list_kernels(const Options& options, Console& console) {
  Answer answer;
  answer.text = [&](std::ostream& out) { out << render_text(list_table(), console.width); };
  answer.json = [](std::ostream& out) { out << dump_json(list_json()); };
  answer.csv = [](std::ostream& out) { out << render_csv(list_table()); };
  write_answer(answer, options, console);
}

// Both processors have a kernel "chase".
bool is_for_gpu(const Options& options) {
  return options.has("blocks") || options.has("block-threads");
}

ExitCode run_kernel(const Options& options, Console& console) {
  const auto words = positional(options);
  if (words.empty())
    list_kernels(options, console);
  else if (const cuda::Kernel* const kernel = cuda::find_kernel(words.front());
           kernel != nullptr && (is_for_gpu(options) || cpu::find_kernel(words.front()) == nullptr))
    run_gpu_kernel(*kernel, options, console);
  else
    run_cpu_kernel(kernel_named(words.front()), options, console);
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
              "CUDA devices; their trips are those of a warp. A name that both have (chase) is the "
              "CPU's, with --blocks or --block-threads the GPU's.",
          .examples = {{"kernel fma_avx2_fp32 --iterations 1000000 --samples 1", "one window"},
                       {"kernel read_avx2 --bytes 1GiB --threads 2", "stream through memory"},
                       {"kernel mma_fp16_8 --blocks 20 --iterations 64 --samples 1",
                        "a few microseconds of a GPU's tensor cores"},
                       {"kernel", "list the kernels and their declared work"}},
          .add_options = declare_kernel,
          .run = run_kernel};
}

}  // namespace ridgeline::cli
