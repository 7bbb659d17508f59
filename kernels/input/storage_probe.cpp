// Trials of the sampler are windows of reading. What the folder lies on, and whether the page cache
// could be emptied, stands in the notes of the rows.
#include "kernels/input/storage_probe.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "devices/machine/storage.h"
#include "kernels/input/read_set.h"
#include "kernels/verdict.h"

namespace ridgeline::input {
namespace {

constexpr std::uint64_t block_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t least_long_file = 4 * block_bytes;
constexpr std::size_t least_samples = 16;
constexpr double writing_share = 0.25;  // of the time, for both sets together
constexpr double window_share = 1.0 / 72, least_window_s = 0.02, most_window_s = 0.3;
constexpr double cached_above = 0.01;     // of the pages: a note
constexpr double good_half_width = 0.02;  // storage scatters: more rounds would not help

// Every sample is an open file; how many this process may have.
std::size_t open_files_allowed(std::size_t wanted) {
  constexpr rlim_t others = 64;  // that the process has open besides
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  if (limit.rlim_cur < wanted + others) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted + others);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return std::min<std::size_t>(wanted, limit.rlim_cur <= others ? 0 : limit.rlim_cur - others);
}

// Sizes that fit the free space, half of which is left.
StorageOptions fitted(StorageOptions options) {
  const std::uint64_t least = least_long_file + least_samples * options.sample_bytes;
  const std::uint64_t usable = free_bytes(options.folder) / 2;
  if (usable < least)
    throw Error(options.folder,
                fmt::format("{} are free, {} are needed for temporary files",
                            format_bytes(2 * static_cast<double>(usable)),
                            format_bytes(2 * static_cast<double>(least))),
                "free some space or give another --path");
  const auto wanted = static_cast<double>(options.long_file_bytes) +
                      static_cast<double>(options.samples * options.sample_bytes);
  const double share = std::min(1.0, static_cast<double>(usable) / wanted);
  const auto part = [&](auto size) {
    return static_cast<decltype(size)>(share * static_cast<double>(size));
  };
  options.long_file_bytes = part(options.long_file_bytes) / block_bytes * block_bytes;
  options.samples = std::max(open_files_allowed(part(options.samples)), least_samples);
  return options;
}

void add(std::string& note, const std::string& text) {
  if (!text.empty()) note += (note.empty() ? "" : "; ") + text;
}

std::string cache_note(const ReadSet& set) {
  if (!set.cache_seen()) return "this system does not show whether the page cache held the files";
  if (set.cached_share() <= cached_above) return {};
  return "the page cache kept " + format_percent(set.cached_share()) + " of the files";
}

}  // namespace

StorageOptions usual_storage_options(bool quick) {
  StorageOptions options;
  options.long_file_bytes = std::uint64_t{quick ? 256u : 1024u} << 20;
  options.samples = quick ? 512 : 2048;
  options.budget_s = quick ? 15 : 60;
  return options;
}

void check_folder(const StorageOptions& options) {
  const ScratchFile trial(options.folder);
  fitted(options);
}

void measure_storage(const StorageOptions& options, const SamplerWorld& world, ProfileMode& mode,
                     RowCounts& counts, const SystemRoot& root) {
  const StorageOptions sizes = fitted(options);
  const double start = world.now_s();
  const WritingTime writing{writing_share / 2 * sizes.budget_s, world.interrupted};
  struct Pattern {
    const char* name;
    ReadSet set;
  };
  Pattern patterns[] = {
      {"sequential", ReadSet::long_file(sizes.folder, sizes.long_file_bytes, block_bytes, writing)},
      {"samples", ReadSet::samples(sizes.folder, sizes.samples, sizes.sample_bytes, writing)}};

  const double window_s = std::clamp(window_share * sizes.budget_s, least_window_s, most_window_s);
  std::vector<Trial> trials;
  for (Pattern& pattern : patterns)
    for (const int readers : reader_counts)
      trials.push_back({pattern.name, [&set = pattern.set, readers, window_s] {
                          const ReadWindow window = set.read(readers, window_s);
                          return Reading{window.bytes / window.seconds, 0};
                        }});
  // What others compute does not slow a disk down, and the kernel's own work on the reads would
  // count as theirs.
  SamplerOptions sampling;
  sampling.budget_s = std::max(sizes.budget_s - (world.now_s() - start), sizes.budget_s / 2);
  sampling.keep_all = true;
  sampling.good_half_width = good_half_width;
  sampling.max_steal = sampling.max_other = 1;
  Sampling sampled = sample(trials, sampling, world);
  sampled.load = {};
  add_sampling(mode.conditions, sampled);
  if (mode.conditions.rounds == 0) mode.conditions.rounds = sampled.rounds;

  const FileSystem below = file_system_of(std::filesystem::canonical(sizes.folder).string(), root);
  auto series = sampled.series.begin();
  for (const Pattern& pattern : patterns)
    for (const int readers : reader_counts) {
      const Verdict verdict = judge(*series++, {});
      if (!verdict.rate) continue;  // interrupted before its first round
      counts.add(verdict);
      StorageRow row{.pattern = pattern.name,
                     .filesystem = below.type,
                     .medium = below.medium,
                     .readers = readers,
                     .bytes_per_read = pattern.set.bytes_per_read(),
                     .status = verdict.status,
                     .note = below.note,
                     .bytes_per_s = verdict.rate};
      add(row.note, cache_note(pattern.set));
      add(row.note, verdict.note);
      mode.storage.push_back(std::move(row));
    }
}

}  // namespace ridgeline::input
