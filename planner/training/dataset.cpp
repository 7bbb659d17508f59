// The table of datasets. Sizes are those of the training set as published.
//
// Clocks of GLD-23k follow from published epochs on Xavier boards (docs/planning.md). Those of the
// others are GLD-23k's times a ratio: the transforms that people train them with took 0.65
// (ImageNet, 500x375), 0.015 (MNIST) and 0.014 (CIFAR-10) of the time of GLD-23k's on one x86 core
// (torchvision 0.14, Pillow 9.4).
#include "planner/training/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "planner/training/pipeline.h"

namespace ridgeline {
namespace {

constexpr double gld23k_bytes = 2.8e9 / 23080;
constexpr double gld23k_clocks = usual_decode_clocks_per_byte * gld23k_bytes;

constexpr KnownDataset known[] = {
    {"gld23k",
     {23080, gld23k_bytes},
     800,
     600,
     0,
     gld23k_clocks,
     "GLD-23k: 23,080 images (TensorFlow Federated), 2.8 GB of JPEG 800x600 (HiPC SRS 2021)",
     "JPEG, random crop to 224x224, cutout: published epochs on Xavier NX and AGX Xavier (HiPC "
     "SRS 2021)"},
    {"imagenet",
     {1281167, 147897477120.0 / 1281167},
     500,
     375,
     0,
     0.65 * gld23k_clocks,
     "ILSVRC 2012: 1,281,167 images, ILSVRC2012_img_train.tar of 147.9 GB",
     "JPEG, random crop to 224x224: GLD-23k's times their ratio on one x86 core"},
    {"cifar10",
     {50000, 3072, true},
     32,
     32,
     32,
     0.014 * gld23k_clocks,
     "CIFAR-10: 50,000 images of 32x32x3 bytes (Krizhevsky 2009)",
     "to tensor, normalised: GLD-23k's times their ratio on one x86 core"},
    {"mnist",
     {60000, 784, true},
     28,
     28,
     28,
     0.015 * gld23k_clocks,
     "MNIST: 60,000 images of 28x28 bytes (LeCun et al. 1998)",
     "to tensor, normalised: GLD-23k's times their ratio on one x86 core"},
};

}  // namespace

std::span<const KnownDataset> known_datasets() { return known; }

const KnownDataset& known_dataset(std::string_view name, std::string_view where) {
  const auto* const found =
      std::find_if(std::begin(known), std::end(known),
                   [&](const KnownDataset& one) { return same_name(one.name, name); });
  if (found != std::end(known)) return *found;
  std::vector<std::string> names;
  for (const KnownDataset& one : known) names.emplace_back(one.name);
  const auto near = nearest(std::string(name), names);
  throw usage_error(
      std::string(where),
      quote(name) + " is neither a number of samples nor a dataset known by name",
      near ? "did you mean " + *near + "?"
           : fmt::format("write samples × bytes of one, for example 50000x150kB, or one of {}",
                         fmt::join(names, ", ")));
}

}  // namespace ridgeline
