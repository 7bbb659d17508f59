// Workload: a network that is known by name: where its definition comes from, which options it has
// and the function that writes it. Rows stand in the file of their family.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/builder.h"
#include "workloads/options.h"

namespace ridgeline {

struct Workload {
  std::string_view name;
  std::string_view family;
  std::string_view source;   // who defines it: "torchvision", "Hugging Face", "MLPerf", a paper
  std::string_view address;  // where that can be read
  OptionSet options;
  std::int64_t image = 0;    // side in pixels as published; 0 where it takes none
  std::int64_t classes = 0;  // as published; 0 if it is not a classifier
  void (*build)(NetworkBuilder&) = nullptr;
};

// The options that most networks have.
inline constexpr OptionSet image_options = {WorkloadOption::batch, WorkloadOption::image,
                                            WorkloadOption::dtype, WorkloadOption::classes};
inline constexpr OptionSet image_attention_options = {
    WorkloadOption::batch, WorkloadOption::image, WorkloadOption::attention, WorkloadOption::dtype,
    WorkloadOption::classes};
inline constexpr OptionSet encoder_options = {WorkloadOption::batch, WorkloadOption::seq,
                                              WorkloadOption::attention, WorkloadOption::dtype};
inline constexpr OptionSet decoder_options = {WorkloadOption::batch,   WorkloadOption::seq,
                                              WorkloadOption::context, WorkloadOption::phase,
                                              WorkloadOption::logits,  WorkloadOption::attention,
                                              WorkloadOption::dtype};

}  // namespace ridgeline
