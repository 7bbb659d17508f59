// How fast files of a folder are read past the page cache: one long file, and small files as
// training samples are, with some readers at once.
// Writes temporary files that have no name; it neither prints nor stores results.
#pragma once

#include <cstdint>
#include <string>

#include "base/profile.h"
#include "devices/machine/system_files.h"
#include "kernels/record.h"
#include "kernels/sampler.h"

namespace ridgeline::input {

inline constexpr int reader_counts[] = {1, 2, 4};
inline constexpr std::uint64_t default_sample_bytes = 150'000;

struct StorageOptions {
  std::string folder = ".";
  std::uint64_t long_file_bytes = 0;
  std::size_t samples = 0;
  std::uint64_t sample_bytes = default_sample_bytes;
  double budget_s = 0;
};

// The usual sizes: 256 MiB and 512 samples where it must be quick, else four times that.
StorageOptions usual_storage_options(bool quick);

// Throws the Error that a measurement there would meet, as far as it can be foreseen: no such
// folder, not writable, too little space. Leaves nothing behind.
void check_folder(const StorageOptions& options);

// Adds a row per pattern and number of readers, and what the sampler saw. At most half of the free
// space and a quarter of the time is used for writing, so files may be smaller than requested.
void measure_storage(const StorageOptions& options, const SamplerWorld& world, ProfileMode& mode,
                     RowCounts& counts, const SystemRoot& root = {});

}  // namespace ridgeline::input
