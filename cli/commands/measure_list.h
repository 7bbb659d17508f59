// What a measurement would run, for people and programs to look at: `ridgeline measure --list`.
// Nothing is measured.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace ridgeline::cli {

// A planned trial, whoever planned it.
struct ListedTrial {
  std::string section, kernel, what;
  int threads = 1;
  std::string missing;  // why it cannot run; empty = it can
};

ExitCode list_trials(const std::vector<ListedTrial>& plan, const Options& options,
                     Console& console);

}  // namespace ridgeline::cli
