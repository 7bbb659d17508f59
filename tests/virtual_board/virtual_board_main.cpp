// ridgeline on a board that exists only here: `ridgeline_virtual_board BOARD ARGUMENT...` is the
// program itself with a virtual Jetson in place of this machine. RIDGELINE_ROOT names the tree.
#include <iostream>
#include <string>
#include <vector>

#include "cli/measure_world.h"
#include "cli/program.h"
#include "devices/machine/system_files.h"
#include "tests/virtual_board/virtual_board.h"

int main(int argc, char** argv) {
  using ridgeline::testing::VirtualBoard;
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || ridgeline::usual_root() == "/") {
    std::cerr << "usage: RIDGELINE_ROOT=TREE ridgeline_virtual_board BOARD ARGUMENT...\n";
    return 2;
  }
  std::string name = words.front();
  words.erase(words.begin());
  const std::string hot = "-hot";
  const bool is_hot = name.ends_with(hot);
  if (is_hot) name.resize(name.size() - hot.size());
  VirtualBoard board(ridgeline::testing::board_kind(name), ridgeline::usual_root(), is_hot);
  ridgeline::cli::MeasureWorld& world = ridgeline::cli::measure_world();
  world.now_s = [&] { return board.now_s(); };
  world.wait = [&](double seconds) { board.wait(seconds); };
  world.open_gpu = [&] { return board.open_gpu(); };
  world.why_no_gpu = [] { return std::string(); };
  world.open_control = [&] { return board.open_control(); };
  world.other_load = [] { return ridgeline::OtherLoad{}; };
  world.host_clock_hz = [&] { return board.cpu_hz(); };
  return ridgeline::cli::run_program(words, std::cout, std::cerr);
}
