// A stub of NVIDIA's driver (libcuda.so.1), as the CUDA runtime library loads it: environment
// variables decide whether it starts, and it has no device.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace {

int variable(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

int refuse() { return 999; }  // CUDA_ERROR_UNKNOWN, for every other function

}  // namespace

// Signatures as in cuda.h.
extern "C" {

int cuInit(unsigned) { return variable("RIDGELINE_TEST_CUDA_INIT", 0); }

int cuDriverGetVersion(int* version) {
  *version = variable("RIDGELINE_TEST_CUDA_VERSION", 99000);
  return 0;
}

int cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t, int* result) {
  *function = dlsym(RTLD_DEFAULT, name);
  if (!*function) *function = reinterpret_cast<void*>(refuse);
  if (result) *result = 0;
  return 0;
}

int cuGetProcAddress(const char* name, void** function, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

int cuGetExportTable(const void** table, const void*) {
  *table = nullptr;
  return 1;  // CUDA_ERROR_INVALID_VALUE
}
}
