// Decoding takes the place of a kernel's body, so that windows, calibration and the probe of the
// clock under the same load are those of all CPU kernels. One trip decodes a set of samples.
#include "kernels/input/decode_probe.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "kernels/cpu/page_buffer.h"
#include "kernels/cpu/runner.h"
#include "kernels/cpu/state.h"
#include "kernels/input/jpeg.h"
#include "kernels/input/photo.h"
#include "kernels/verdict.h"

namespace ridgeline::input {
namespace {

constexpr int samples_per_trip = 2;
constexpr double window_s = 20e-3;

using Samples = std::vector<std::vector<std::uint8_t>>;

Samples make_samples() {
  Samples samples;
  for (int i = 0; i < samples_per_trip; ++i)
    samples.push_back(encode_jpeg(
        make_photo(photo_width, photo_height, static_cast<std::uint64_t>(i) + 1), photo_quality));
  return samples;
}

// What a thread decodes, and where to.
struct Desk {
  const Samples* samples = nullptr;
  std::vector<std::uint8_t> pixels;
};

void decode_all(std::uint64_t repeats, void* data, std::uint64_t, std::uint64_t) {
  Desk& desk = *static_cast<Desk*>(data);
  for (std::uint64_t i = 0; i < repeats; ++i)
    for (const auto& sample : *desk.samples) decode_jpeg(sample, desk.pixels);
}

// The "FLOP" of this kernel are samples.
constexpr cpu::Kernel decode_kernel{
    .name = "jpeg", .arithmetic = samples_per_trip, .flop_each = 1, .body = decode_all};

// The clock kernel of the narrowest unit: it must not draw more power than decoding does.
const cpu::Kernel* lightest_probe() {
  const cpu::Kernel* best = nullptr;
  for (const cpu::Kernel& kernel : cpu::kernel_table()) {
    const bool runs = kernel.role == cpu::Role::clock && kernel.arrays == 0 && kernel.loads == 0 &&
                      cpu::isa_support(kernel.isa).runs;
    if (runs && (!best || kernel.access_bytes < best->access_bytes)) best = &kernel;
  }
  return best;
}

// One job per thread count, with the memory that it needs.
class DecodeBench {
 public:
  DecodeBench(const Samples& samples, const Topology& topology, int most_threads)
      : team_({topology.cpus.begin(), topology.cpus.begin() + most_threads}),
        desks_(static_cast<std::size_t>(most_threads)),
        probe_(lightest_probe()) {
    for (std::size_t i = 0; i < desks_.size(); ++i) {
      desks_[i].samples = &samples;
      desks_[i].pixels.resize(std::size_t{3} * photo_width * photo_height);
      if (!probe_) continue;
      states_.emplace_back(cpu::state_bytes(*probe_));
      cpu::prepare_state(*probe_, states_.back().data(), i + 1);
    }
  }

  Trial trial(int threads) {
    cpu::Job job;
    job.kernel = &decode_kernel;
    job.probe = probe_;
    for (std::size_t i = 0; i < static_cast<std::size_t>(threads); ++i) {
      job.threads.push_back({&desks_[i], 0, 0});
      if (probe_) job.probe_data.push_back(states_[i].data());
    }
    return {"jpeg", [this, job, calibrated = false]() mutable {
              if (!calibrated) cpu::calibrate(team_, job, window_s);
              calibrated = true;
              const cpu::Window window = cpu::run_window(team_, job);
              return Reading{job.flop() / window.seconds, window.clock_hz};
            }};
  }

  bool threads_bound() const { return team_.bound(); }

 private:
  cpu::Team team_;
  std::vector<Desk> desks_;
  const cpu::Kernel* probe_;
  std::vector<cpu::PageBuffer> states_;
};

DecodeRow row_of(int threads) {
  DecodeRow row;
  row.format = "jpeg";
  row.library = jpeg_library();
  row.width = photo_width;
  row.height = photo_height;
  row.threads = threads;
  return row;
}

}  // namespace

void measure_decode(const DecodeOptions& options, const Topology& topology,
                    const SamplerWorld& world, ProfileMode& mode, RowCounts& counts) {
  const int most = *std::ranges::max_element(options.threads);
  if (!why_no_jpeg().empty()) {
    DecodeRow row = row_of(most);
    row.status = Status::unsupported;
    row.note = why_no_jpeg();
    mode.decode.push_back(std::move(row));
    return;
  }
  const Samples samples = make_samples();
  const std::size_t bytes =
      std::accumulate(samples.begin(), samples.end(), std::size_t{0},
                      [](std::size_t sum, const auto& sample) { return sum + sample.size(); });
  DecodeBench bench(samples, topology, most);
  std::vector<Trial> trials;
  for (const int threads : options.threads) trials.push_back(bench.trial(threads));
  SamplerOptions sampling;
  sampling.budget_s = options.budget_s;
  sampling.keep_all = true;
  const Sampling sampled = sample(trials, sampling, world);
  add_sampling(mode.conditions, sampled);
  if (mode.conditions.rounds == 0) mode.conditions.rounds = sampled.rounds;
  if (!bench.threads_bound())
    mode.conditions.warnings.push_back({"threads could not be bound to cores", ""});

  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Verdict verdict = judge(sampled.series[i], {});
    if (!verdict.rate) continue;  // interrupted before its first round
    counts.add(verdict);
    DecodeRow row = row_of(options.threads[i]);
    row.bytes = bytes / samples.size();
    row.status = verdict.status;
    row.note = verdict.note;
    row.time_s = inverse(scaled(verdict.rate, 1.0 / options.threads[i]));
    row.clock_hz = verdict.clock_hz;
    mode.decode.push_back(std::move(row));
  }
}

}  // namespace ridgeline::input
