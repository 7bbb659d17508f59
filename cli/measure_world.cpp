// This machine.
#include "cli/measure_world.h"

#include <chrono>
#include <thread>

#include "kernels/cuda/gpu_here.h"
#include "kernels/steady_clock.h"

namespace ridgeline::cli {

MeasureWorld& measure_world() {
  static MeasureWorld world{
      .now_s = steady_seconds,
      .wait =
          [](double seconds) {
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
          },
      .open_gpu = cuda::open_gpu_here,
      .why_no_gpu = cuda::why_no_gpu,
      .open_control =
          [] {
            const SystemRoot root;
            return std::make_unique<control::World>(root, control::settable_card(root));
          },
  };
  return world;
}

}  // namespace ridgeline::cli
