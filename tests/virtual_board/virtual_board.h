// A Jetson in place of this machine: files of a fake /sys that set the clocks of a simulated GPU
// and show its rails, late and in steps, on a clock of its own. Its numbers are those of silicon.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/control/world.h"
#include "tests/kernels/cuda/test_gpu.h"
#include "tests/support/board_trees.h"
#include "tests/virtual_board/silicon.h"

namespace ridgeline::testing {

// What a board is made of.
struct BoardKind {
  Silicon silicon;
  BoardTree tree;
  Board gpu;  // what silicon.h does not say: caches, latencies, tuning
  double rail_lag_s = 0.43;
  double milliohm = 2;  // of the rails' shunts: 40 µV are a step
};

// "agx-orin", "orin-nano", "tx2"; each in its highest mode.
BoardKind board_kind(const std::string& name);

// The tree of the kind, with a thermal zone, a fan and the state of the GPU's rail.
void make_virtual_board(FakeSystem& system, const BoardKind& kind);

class VirtualBoard {
 public:
  // `root` ends in '/' and holds the tree of the kind. A hot board throttles soon.
  VirtualBoard(BoardKind kind, std::string root, bool is_hot = false);
  ~VirtualBoard();
  VirtualBoard(const VirtualBoard&) = delete;
  VirtualBoard& operator=(const VirtualBoard&) = delete;

  double now_s();  // shows the files as of now
  void wait(double seconds);
  void read_knobs();  // after a write
  double cpu_hz() const { return knobs_.cpu_hz; }
  std::shared_ptr<cuda::Gpu> open_gpu();
  std::unique_ptr<control::World> open_control();

 private:
  struct Rail {
    std::string label;
    int file = -1;
    double millivolt = 0;  // 0: the file is in milliwatt
    double step = 0;       // of the file
    double reading_w = 0;  // behind the lag
  };
  struct Knobs {  // as the files have them
    double gpu_min_hz = 0, gpu_max_hz = 0, cpu_hz = 0, memory_top_hz = 0, memory_locked_hz = 0;
    int cores = 0;
  };
  struct Power {
    double gpu_w = 0, cpu_w = 0, memory_w = 0;
  };

  double number(const std::string& path) const;
  bool is_gpu_locked() const { return knobs_.gpu_min_hz == knobs_.gpu_max_hz; }
  Clocks clocks(bool busy) const;
  bool is_suspended(double now_s) const;
  Power idle_power(double now_s) const;
  void open_rails();
  void follow(double until_s, const Power& power);
  void show(double now_s);
  void put(int file, const std::string& text);
  void put(int file, double value);

  BoardKind kind_;
  std::string root_;
  bool is_hot_ = false;
  Knobs knobs_;
  std::vector<Rail> rails_;
  int gpu_now_ = -1, zone_ = -1, status_ = -1;
  std::shared_ptr<TestGpu> gpu_;
  double opened_s_ = 0;  // board's time at which the GPU's clock began
  double closed_s_ = 0;  // when it was last seen in use
  double shown_s_ = -1, at_s_ = 0;
  double celsius_ = 38;
  std::map<int, std::string> put_;  // what the files hold
  std::size_t next_ = 0;            // first kernel that the rails have not passed
};

}  // namespace ridgeline::testing
