// A stub of libnvidia-ml.so.1: one GPU with fixed readings, and every function can be made to fail.
// RIDGELINE_TEST_NVML holds "function=code" words; compiled with RIDGELINE_TEST_NVML_OLD it lacks
// the functions of later drivers.
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int started = 0, ended = 0;
unsigned long long energy_mj = 5'000'000;
int gpu;  // its address is the handle
unsigned limit_mw = 70'000, locked_mhz = 0;

int code_of(const char* function) {
  const char* const variable = std::getenv("RIDGELINE_TEST_NVML");
  const std::string words = variable ? variable : "";
  const auto at = words.find(std::string(function) + '=');
  return at == std::string::npos ? 0 : std::atoi(words.c_str() + at + std::strlen(function) + 1);
}

// As documented, the first check: without nvmlInit every call fails.
int checked(const char* function) { return started == ended ? 1 : code_of(function); }

}  // namespace

extern "C" {

int ridgeline_test_nvml_users() { return started - ended; }

int nvmlInit_v2() {
  const int code = code_of("nvmlInit_v2");
  started += code == 0;
  return code;
}
int nvmlShutdown() {
  ++ended;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = &gpu;
  return index == 0 ? checked("nvmlDeviceGetHandleByIndex_v2") : 2;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = &gpu;
  return std::strcmp(id, "0000:01:00.0") == 0 ? checked("nvmlDeviceGetHandleByPciBusId_v2") : 6;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatt) {
  *milliwatt = 31'500;
  return device == &gpu ? checked("nvmlDeviceGetPowerUsage") : 2;
}
int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* megahertz) {
  *megahertz = type == 1 ? 1395 : type == 2 ? 5001 : 0;
  return device == &gpu ? checked("nvmlDeviceGetClockInfo") : 2;
}
int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
  *celsius = sensor == 0 ? 47 : 0;
  return device == &gpu ? checked("nvmlDeviceGetTemperature") : 2;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  rates[0] = 12;
  rates[1] = 3;
  return device == &gpu ? checked("nvmlDeviceGetUtilizationRates") : 2;
}
int nvmlDeviceGetComputeRunningProcesses(void* device, unsigned* count, void* list) {
  const int code = checked("nvmlDeviceGetComputeRunningProcesses");
  if (device != &gpu || code != 0) return device == &gpu ? code : 2;
  const bool enough = *count >= 3 && list != nullptr;
  *count = 3;
  return enough ? 0 : 7;
}
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* milliwatt) {
  *milliwatt = limit_mw;
  return device == &gpu ? checked("nvmlDeviceGetEnforcedPowerLimit") : 2;
}
int nvmlDeviceSetPowerManagementLimit(void* device, unsigned milliwatt) {
  const int code = device == &gpu ? checked("nvmlDeviceSetPowerManagementLimit") : 2;
  if (code == 0) limit_mw = milliwatt;
  return code;
}
int nvmlDeviceSetGpuLockedClocks(void* device, unsigned low_mhz, unsigned high_mhz) {
  const int code =
      device == &gpu && low_mhz == high_mhz ? checked("nvmlDeviceSetGpuLockedClocks") : 2;
  if (code == 0) locked_mhz = high_mhz;
  return code;
}
int nvmlDeviceResetGpuLockedClocks(void* device) {
  const int code = device == &gpu ? checked("nvmlDeviceResetGpuLockedClocks") : 2;
  if (code == 0) locked_mhz = 0;
  return code;
}
unsigned ridgeline_test_nvml_locked_mhz() { return locked_mhz; }
int nvmlDeviceGetPowerManagementLimitConstraints(void* device, unsigned* least, unsigned* most) {
  *least = 60'000;
  *most = 75'000;
  return device == &gpu ? checked("nvmlDeviceGetPowerManagementLimitConstraints") : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* bits) {
  *bits = 0x25;
  return device == &gpu ? checked("nvmlDeviceGetCurrentClocksThrottleReasons") : 2;
}

#ifndef RIDGELINE_TEST_NVML_OLD
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* bits) {
  *bits = 0x44;
  return device == &gpu ? checked("nvmlDeviceGetCurrentClocksEventReasons") : 2;
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoule) {
  *millijoule = energy_mj += 315;
  return device == &gpu ? checked("nvmlDeviceGetTotalEnergyConsumption") : 2;
}
#endif
}
