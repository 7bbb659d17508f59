// One CUDA kernel with explicit sizes: times by the device's own marks, work as declared.
// The clock is that of the multiprocessors during the sample, where it was long enough to tell.
#include "cli/commands/kernel_cuda.h"

#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "base/csv.h"
#include "base/statistics.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "kernels/cuda/plan.h"
#include "kernels/cuda/single_run.h"

namespace ridgeline::cli {
namespace {

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

}  // namespace

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

ExitCode run_gpu_kernel(const cuda::Kernel& kernel, const Options& options, Console& console) {
  const cuda::SingleRunSizes sizes = sizes_of(options);
  const auto gpu = cuda::open_gpu();
  const std::string missing =
      cuda::why_missing(kernel, gpu->facts().architecture,
                        [&](const cuda::Kernel& asked) { return gpu->support(asked); });
  if (!missing.empty()) throw Error(std::string(kernel.name), missing);
  const cuda::SingleRun run = cuda::run_alone(*gpu, kernel, sizes);
  const cuda::Setup& setup = run.setup;
  std::vector<double> seconds, clocks;
  for (const cuda::Timed& sample : run.samples) {
    seconds.push_back(sample.seconds);
    if (sample.clock_hz > 0) clocks.push_back(sample.clock_hz);
  }
  const Estimate time = median_estimate(seconds, Source::measured);
  const auto threads = setup.grid.blocks * setup.grid.threads;
  if (flag(options, "json")) {
    console.out << dump_json(
        {{"schema", "ridgeline.kernel/1"},
         {"kernel", gpu_descriptor_json(kernel)},
         {"threads", threads},
         {"blocks", setup.grid.blocks},
         {"block_threads", setup.grid.threads},
         {"iterations", setup.repeats},
         {"working_set_bytes", setup.set_bytes},
         {"flop", setup.flop()},
         {"bytes", setup.bytes()},
         {"seconds", seconds},
         {"time_s", to_json(time)},
         {"clock_hz",
          clocks.empty() ? Json() : to_json(median_estimate(clocks, Source::measured))}});
    return ExitCode::ok;
  }
  const char* const unit = is_integer(kernel.dtype) ? "OP" : "FLOP";
  TextTable table{{{"sample", Align::right},
                   {"time", Align::right},
                   {"rate", Align::right},
                   {"bandwidth", Align::right},
                   {"clock", Align::right}},
                  {}};
  const bool csv = flag(options, "csv");
  const auto rate = [&](double work, double taken, const std::string& of) {
    if (work <= 0 || taken <= 0) return std::string();  // absent, not zero
    return csv ? csv_number(work / taken) : format_si(work / taken, of, 4);
  };
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    const cuda::Timed& sample = run.samples[i];
    table.rows.push_back({std::to_string(i + 1),
                          csv ? csv_number(sample.seconds) : format_seconds(sample.seconds, 4),
                          rate(setup.flop(), sample.seconds, std::string(unit) + "/s"),
                          rate(setup.bytes(), sample.seconds, "B/s"),
                          rate(sample.clock_hz, 1, "Hz")});
  }
  if (csv) {
    console.out << csv_row({"sample", "time_s", "flops_per_s", "bytes_per_s", "clock_hz"});
    for (const auto& row : table.rows) console.out << csv_row(row);
    return ExitCode::ok;
  }
  console.out << wrap(fmt::format("{}: {} iterations of {} blocks of {} threads on {}, {:.6g} {} "
                                  "and {:.6g} bytes a sample (declared), times measured",
                                  kernel.name, setup.repeats, setup.grid.blocks, setup.grid.threads,
                                  gpu->facts().name, setup.flop(), unit, setup.bytes()),
                      console.width, 2)
              << "\n"
              << render_text(table, console.width);
  return ExitCode::ok;
}

}  // namespace ridgeline::cli
