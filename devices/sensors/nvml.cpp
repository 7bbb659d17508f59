// Our own declarations of the few functions that are called; names, signatures and numbers are
// those of NVML's documented interface, which has not changed since its second version.
#include "devices/sensors/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace ridgeline {
namespace {

using Code = int;
struct DeviceTag;
using Device = DeviceTag*;

constexpr Code success = 0, invalid_argument = 2, not_supported = 3, no_permission = 4,
               not_found = 6, insufficient_size = 7, driver_not_loaded = 9, function_not_found = 13,
               gpu_is_lost = 15, version_mismatch = 18;
constexpr unsigned clock_sm = 1, clock_memory = 2, temperature_gpu = 0;

std::string plain_words(Code code) {
  switch (code) {
    case invalid_argument:
      return "the driver refused the value";
    case not_supported:
      return "this GPU does not support it";
    case no_permission:
      return "no permission";
    case not_found:
      return "no such GPU";
    case driver_not_loaded:
      return "the NVIDIA driver is not loaded";
    case function_not_found:
      return "the driver is too old for it";
    case gpu_is_lost:
      return "the GPU is lost";
    case version_mismatch:
      return "library and driver are of different versions";
    default:
      return fmt::format("NVML error {}", code);
  }
}

class LoadedNvml final : public Nvml {
 public:
  explicit LoadedNvml(void* library) : library_(library) {}
  LoadedNvml(const LoadedNvml&) = delete;
  LoadedNvml& operator=(const LoadedNvml&) = delete;
  ~LoadedNvml() override {
    if (initialised_) call<>("nvmlShutdown");
    dlclose(library_);
  }

  // Why the GPU cannot be used; empty if it can.
  std::string start(const std::string& pci_bus_id) {
    if (const Code code = call<>("nvmlInit_v2"); code != success) return plain_words(code);
    initialised_ = true;
    const Code code = pci_bus_id.empty()
                          ? call<unsigned, Device*>("nvmlDeviceGetHandleByIndex_v2", 0u, &device_)
                          : call<const char*, Device*>("nvmlDeviceGetHandleByPciBusId_v2",
                                                       pci_bus_id.c_str(), &device_);
    return code == success ? "" : plain_words(code);
  }

  NvmlAnswer<double> power_w() override {
    return scaled<unsigned>(1e-3, "nvmlDeviceGetPowerUsage");
  }
  NvmlAnswer<double> energy_j() override {
    return scaled<unsigned long long>(1e-3, "nvmlDeviceGetTotalEnergyConsumption");
  }
  NvmlAnswer<double> sm_clock_hz() override { return clock_hz(clock_sm); }
  NvmlAnswer<double> memory_clock_hz() override { return clock_hz(clock_memory); }
  NvmlAnswer<double> power_limit_w() override {
    return scaled<unsigned>(1e-3, "nvmlDeviceGetEnforcedPowerLimit");
  }

  NvmlAnswer<double> temperature_c() override {
    unsigned celsius = 0;
    const Code code = call<Device, unsigned, unsigned*>("nvmlDeviceGetTemperature", device_,
                                                        temperature_gpu, &celsius);
    if (code != success) return {{}, plain_words(code)};
    return {double(celsius), {}};
  }

  NvmlAnswer<double> load() override {
    struct Utilization {
      unsigned gpu, memory;  // per cent
    } seen{};
    const Code code = call<Device, Utilization*>("nvmlDeviceGetUtilizationRates", device_, &seen);
    if (code != success) return {{}, plain_words(code)};
    return {0.01 * seen.gpu, {}};
  }

  // With room for none of them, their number comes back.
  NvmlAnswer<int> processes() override {
    for (const char* const name :
         {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
          "nvmlDeviceGetComputeRunningProcesses"}) {
      unsigned count = 0;
      const Code code = call<Device, unsigned*, void*>(name, device_, &count, nullptr);
      if (code == success || code == insufficient_size) return {static_cast<int>(count), {}};
      if (code != function_not_found) return {{}, plain_words(code)};
    }
    return {{}, plain_words(function_not_found)};
  }

  NvmlAnswer<std::uint64_t> throttle_reasons() override {
    unsigned long long bits = 0;
    // The newer name of the same function first.
    for (const char* const name :
         {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
      const Code code = call<Device, unsigned long long*>(name, device_, &bits);
      if (code == success) return {bits, {}};
      if (code != function_not_found) return {{}, plain_words(code)};
    }
    return {{}, plain_words(function_not_found)};
  }

  NvmlAnswer<Limits> power_limits() override {
    unsigned least = 0, most = 0;
    const Code code = call<Device, unsigned*, unsigned*>(
        "nvmlDeviceGetPowerManagementLimitConstraints", device_, &least, &most);
    if (code != success) return {{}, plain_words(code)};
    return {Limits{1e-3 * least, 1e-3 * most}, {}};
  }

  std::string set_power_limit_w(double watt) override {
    return words(call<Device, unsigned>("nvmlDeviceSetPowerManagementLimit", device_,
                                        static_cast<unsigned>(std::lround(1e3 * watt))));
  }
  std::string lock_gpu_clock_hz(double hz) override {
    const auto megahertz = static_cast<unsigned>(std::lround(1e-6 * hz));
    return words(call<Device, unsigned, unsigned>("nvmlDeviceSetGpuLockedClocks", device_,
                                                  megahertz, megahertz));
  }
  std::string free_gpu_clock() override {
    return words(call<Device>("nvmlDeviceResetGpuLockedClocks", device_));
  }

 private:
  static std::string words(Code code) { return code == success ? "" : plain_words(code); }

  template <class... Parameters>
  Code call(const char* name, Parameters... arguments) {
    const auto function = reinterpret_cast<Code (*)(Parameters...)>(dlsym(library_, name));
    return function ? function(arguments...) : function_not_found;
  }

  template <class Number>
  NvmlAnswer<double> scaled(double unit, const char* name) {
    Number value = 0;
    const Code code = call<Device, Number*>(name, device_, &value);
    if (code != success) return {{}, plain_words(code)};
    return {unit * static_cast<double>(value), {}};
  }

  NvmlAnswer<double> clock_hz(unsigned type) {
    unsigned megahertz = 0;
    const Code code =
        call<Device, unsigned, unsigned*>("nvmlDeviceGetClockInfo", device_, type, &megahertz);
    if (code != success) return {{}, plain_words(code)};
    return {1e6 * megahertz, {}};
  }

  void* library_;
  bool initialised_ = false;
  Device device_ = nullptr;
};

struct ThrottleReason {
  std::uint64_t bit;
  const char* words;
};

// Idleness, clocks that a user set, clocks in step with other GPUs and a display's needs are not
// throttling.
constexpr auto throttle_words = std::to_array<ThrottleReason>({
    {0x04, "power cap"},
    {0x08, "hardware slowdown"},
    {0x20, "heat, by software"},
    {0x40, "heat, by hardware"},
    {0x80, "power brake"},
});

// NVML averages power over a second from Ampere on, and counts energy in steps of tens of
// milliseconds: half a window behind, a few steps.
constexpr double power_lag_s = 0.5, energy_lag_s = 0.1;

class NvmlSensor final : public PowerSensor {
 public:
  NvmlSensor(std::shared_ptr<Nvml> nvml, bool counts)
      : nvml_(std::move(nvml)),
        facts_{counts ? "NVML energy counter" : "NVML", counts ? energy_lag_s : power_lag_s, 0},
        counts_(counts) {}

  const SensorFacts& facts() const override { return facts_; }

  PowerReading read() override {
    const NvmlAnswer<double> answer = counts_ ? nvml_->energy_j() : nvml_->power_w();
    if (!answer.value) throw SensorError(facts_.name, answer.why);
    return counts_ ? PowerReading{.energy_j = answer.value} : PowerReading{.power_w = answer.value};
  }

 private:
  std::shared_ptr<Nvml> nvml_;
  SensorFacts facts_;
  bool counts_;
};

}  // namespace

std::shared_ptr<Nvml> Nvml::open(const std::string& pci_bus_id, std::string& why,
                                 const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    why = library + " is not installed";
    return nullptr;
  }
  const auto nvml = std::make_shared<LoadedNvml>(handle);
  why = nvml->start(pci_bus_id);
  return why.empty() ? nvml : nullptr;
}

std::string throttle_text(std::uint64_t reasons) {
  std::string text;
  for (const ThrottleReason& reason : throttle_words)
    if ((reasons & reason.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(reason.words);
  return text;
}

OpenedSensor open_nvml_sensor(const SensorPlace& place) {
  std::shared_ptr<Nvml> nvml = place.nvml;
  std::string why_not = place.no_nvml;
  if (!nvml && why_not.empty()) nvml = Nvml::open({}, why_not);
  if (!nvml) return {.why_not = why_not};
  const bool counts = nvml->energy_j().value.has_value();
  if (!counts)
    if (const NvmlAnswer<double> power = nvml->power_w(); !power.value)
      return {.why_not = "no power: " + power.why};
  auto sensor = std::make_unique<NvmlSensor>(std::move(nvml), counts);
  const std::string name = sensor->facts().name;
  return {.sensor = std::move(sensor), .detail = name};
}

}  // namespace ridgeline
