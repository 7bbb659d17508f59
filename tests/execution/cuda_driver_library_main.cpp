// A library in the place of CUDA's driver: one GPU whose memory is the host's, with one stream on
// which everything is done at once. RIDGELINE_TEST_CUDA_FAULT is the error that cuInit returns,
// RIDGELINE_TEST_CUDA_MEMORY the bytes that there are.
#include <cstdlib>
#include <cstring>
#include <map>

namespace {

using Address = unsigned long long;

std::map<Address, std::size_t> allocated;
int contexts = 0, streams = 0;

int number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

int copy_text(const char* text, char* to, int size) {
  std::strncpy(to, text, static_cast<std::size_t>(size));
  return 0;
}

}  // namespace

extern "C" {

// What was taken and not given back.
int ridgeline_test_cuda_left() { return static_cast<int>(allocated.size()) + contexts + streams; }

int cuInit(unsigned) { return number("RIDGELINE_TEST_CUDA_FAULT", 0); }

int cuGetErrorString(int result, const char** text) {
  *text = result == 100 ? "no CUDA-capable device is detected" : "another fault";
  return 0;
}

int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) { return copy_text("Stand-in GPU", name, size); }
int cuDeviceGetPCIBusId(char* id, int size, int) { return copy_text("0000:00:00.0", id, size); }

int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &contexts;
  ++contexts;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --contexts;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }

int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  constexpr int out_of_memory = 2;
  if (bytes > static_cast<std::size_t>(number("RIDGELINE_TEST_CUDA_MEMORY", 1 << 30)))
    return out_of_memory;
  *address = reinterpret_cast<Address>(std::malloc(bytes));
  allocated[*address] = bytes;
  return 0;
}
int cuMemFree_v2(Address address) {
  std::free(reinterpret_cast<void*>(address));
  return allocated.erase(address) == 1 ? 0 : 1;
}
int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  if (allocated.count(to) == 0 || allocated[to] < bytes) return 1;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}

int cuStreamCreate(void** stream, unsigned) {
  *stream = &streams;
  ++streams;
  return 0;
}
int cuStreamSynchronize(void* stream) { return stream == &streams ? 0 : 1; }
int cuStreamDestroy_v2(void*) {
  --streams;
  return 0;
}
}
