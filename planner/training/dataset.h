// Datasets to train on: how many samples there are, what one takes on storage, and what its
// transforms cost a core. Well-known ones by name; see storage.h for where they lie.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ridgeline {

struct Dataset {
  double samples = 0;
  double bytes_per_sample = 0;
  bool in_memory = false;  // the loader reads all of it before the first epoch
};

struct KnownDataset {
  std::string_view name;
  Dataset dataset;
  int width = 0, height = 0;  // of the images as stored; typical, if they differ
  // The network's image, if samples are not cropped or resized; 0: they are, to what it takes.
  std::int64_t image = 0;
  double decode_clocks = 0;  // of one core, to decode and transform a sample
  std::string_view origin;   // of its sizes
  std::string_view decode_origin;
};

std::span<const KnownDataset> known_datasets();

// An unknown name is a usage error that lists the names; `where` names the option.
const KnownDataset& known_dataset(std::string_view name, std::string_view where = "--dataset");

}  // namespace ridgeline
