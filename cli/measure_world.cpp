// This machine.
#include "cli/measure_world.h"

#include <chrono>
#include <thread>

#include "devices/machine/identification.h"
#include "devices/sensors/nvml.h"
#include "kernels/cuda/gpu_here.h"
#include "kernels/steady_clock.h"

namespace ridgeline::cli {
namespace {

// A card's limits are set through its driver; the NVML of a Jetson sets nothing.
std::shared_ptr<Nvml> settable_card(const SystemRoot& root) {
  if (is_jetson(root) || !exists(root, "proc/driver/nvidia/version")) return nullptr;
  std::string why;
  return Nvml::open({}, why);
}

}  // namespace

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
            return std::make_unique<control::World>(root, settable_card(root));
          },
  };
  return world;
}

}  // namespace ridgeline::cli
