// The options of `ridgeline measure` that concern the input of training: storage and decoding.
// Both run only where --only names them; the measuring is in kernels/input/.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/commands/measure_list.h"
#include "devices/machine/topology.h"
#include "kernels/input/measure.h"

namespace ridgeline::cli {

void add_input_options(OptionsDescription& options);

// What --only asks for.
struct MeasureWords {
  bool all = true;                   // no --only: all kernels, nothing else
  std::vector<std::string> kernels;  // words for the backend of the kernels
  bool storage = false, decode = false;

  bool any_kernel() const { return all || !kernels.empty(); }
  // Each part has the same share of a given time.
  int parts() const { return int(any_kernel()) + int(storage) + int(decode); }
};
MeasureWords measure_words(const Options& options);

// The words of an option's list: "fp32,dram".
std::vector<std::string> split_words(const std::string& text);

// The time that --budget gives to each part; 0 = none given.
double part_budget_s(const Options& options, const MeasureWords& words);

// `threads` are those of decoding, a row each.
input::MeasureOptions parse_input(const Options& options, const MeasureWords& words,
                                  const std::vector<int>& threads);

// What was asked for; without --only everything, with the reason why it does not run.
std::vector<ListedTrial> list_input(const input::MeasureOptions& wanted, const MeasureWords& words,
                                    const std::vector<int>& threads);

}  // namespace ridgeline::cli
