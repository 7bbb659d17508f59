// The program's entry: hands the arguments and the standard streams to run_program.
// No logic lives here; commands are rows in cli/commands.cpp.
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "cli/program.h"

int main(int argc, char** argv) {
  // A reader that leaves (`ridgeline help | head -1`) ends us without a word, even where the
  // parent process ignores broken pipes.
  std::signal(SIGPIPE, SIG_DFL);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return ridgeline::cli::run_program(arguments, std::cout, std::cerr);
}
