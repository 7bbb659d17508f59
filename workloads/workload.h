// Workload: a network with a name: the source of its definition, its options and the function that
// writes it. Rows are in the files of their families.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/builder.h"
#include "workloads/options.h"

namespace ridgeline {

struct Workload {
  std::string_view name;
  std::string_view family;
  std::string_view source;   // of the definition: "torchvision", "Hugging Face", "MLPerf", a paper
  std::string_view address;  // where to read it
  OptionSet options;
  std::int64_t image = 0;    // side in pixels as published; 0 if it takes none
  std::int64_t classes = 0;  // as published; 0 if it is not a classifier
  void (*build)(NetworkBuilder&) = nullptr;
  bool is_folded = false;  // its own library folds batch normalisation before it runs inference
};

// The options of most networks.
inline constexpr OptionSet image_options = {WorkloadOption::batch, WorkloadOption::image,
                                            WorkloadOption::dtype, WorkloadOption::precision,
                                            WorkloadOption::classes};
inline constexpr OptionSet image_attention_options = {
    WorkloadOption::batch, WorkloadOption::image,     WorkloadOption::attention,
    WorkloadOption::dtype, WorkloadOption::precision, WorkloadOption::classes};
inline constexpr OptionSet encoder_options = {WorkloadOption::batch, WorkloadOption::seq,
                                              WorkloadOption::attention, WorkloadOption::dtype,
                                              WorkloadOption::precision};
inline constexpr OptionSet decoder_options = {WorkloadOption::batch,   WorkloadOption::seq,
                                              WorkloadOption::context, WorkloadOption::phase,
                                              WorkloadOption::logits,  WorkloadOption::attention,
                                              WorkloadOption::dtype,   WorkloadOption::precision};

}  // namespace ridgeline
