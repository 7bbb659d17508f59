// What NVIDIA's management library (NVML) reports about one GPU: power, energy, clocks, what holds
// the clocks down, temperature, load, limits. Loaded at run time; a function that it lacks returns
// no value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "devices/sensors/power_sensor.h"

namespace ridgeline {

inline constexpr const char* nvml_library = "libnvidia-ml.so.1";

template <class T>
struct NvmlAnswer {
  std::optional<T> value = {};
  std::string why = {};  // there is no value
};

class Nvml {
 public:
  // The GPU at a PCI bus id ("0000:01:00.0"; CUDA counts GPUs in another order), or the first one
  // where the id is empty. nullptr where the library, its driver or the GPU is missing.
  static std::shared_ptr<Nvml> open(const std::string& pci_bus_id, std::string& why,
                                    const std::string& library = nvml_library);
  virtual ~Nvml() = default;

  virtual NvmlAnswer<double> power_w() = 0;
  virtual NvmlAnswer<double> energy_j() = 0;  // since the driver was loaded
  virtual NvmlAnswer<double> sm_clock_hz() = 0;
  virtual NvmlAnswer<double> memory_clock_hz() = 0;
  virtual NvmlAnswer<std::uint64_t> throttle_reasons() = 0;  // bits
  // Beside the kernels of a run; absent unless a library is really there.
  virtual NvmlAnswer<double> temperature_c() { return {}; }
  virtual NvmlAnswer<double> load() { return {}; }    // share of the last moments with a kernel
  virtual NvmlAnswer<int> processes() { return {}; }  // that use CUDA on it
  virtual NvmlAnswer<double> power_limit_w() = 0;     // that is enforced now
  struct Limits {
    double least_w = 0, most_w = 0;  // that can be set
  };
  virtual NvmlAnswer<Limits> power_limits() = 0;

  // Each returns why it failed; empty = done. Only devices/control calls them.
  virtual std::string set_power_limit_w(double watt) = 0;
  virtual std::string lock_gpu_clock_hz(double hz) = 0;
  virtual std::string free_gpu_clock() = 0;
};

// The bits that hold a busy GPU's clock down, in words: "power cap, heat"; empty where none does.
std::string throttle_text(std::uint64_t reasons);

// Fails where the GPU has neither power nor energy, as on a Jetson.
OpenedSensor open_nvml_sensor(const SensorPlace& place);

}  // namespace ridgeline
