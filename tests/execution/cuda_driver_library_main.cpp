// A library in the place of CUDA's driver: one GPU whose memory is the host's, with one stream on
// which everything is done at once. With cuda.h at hand the compiler rejects a signature that
// differs from NVIDIA's. RIDGELINE_TEST_CUDA_FAULT is the error that cuInit returns,
// RIDGELINE_TEST_CUDA_MEMORY the bytes that there are.
#include <cstdlib>
#include <cstring>
#include <map>
#if __has_include(<cuda.h>)
#include <cuda.h>
#else
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
#endif

namespace {

constexpr CUresult done{};  // CUDA_SUCCESS

CUresult error(int number) { return static_cast<CUresult>(number); }

std::map<CUdeviceptr, std::size_t> allocated;
int contexts = 0, streams = 0;

int number(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

CUresult copy_text(const char* text, char* to, int size) {
  std::strncpy(to, text, static_cast<std::size_t>(size));
  return done;
}

}  // namespace

extern "C" {

// What was taken and not given back.
int ridgeline_test_cuda_left() { return static_cast<int>(allocated.size()) + contexts + streams; }

CUresult cuInit(unsigned) { return error(number("RIDGELINE_TEST_CUDA_FAULT", 0)); }

CUresult cuGetErrorString(CUresult result, const char** text) {
  *text = result == error(100) ? "no CUDA-capable device is detected" : "another fault";
  return done;
}

CUresult cuDeviceGet(CUdevice* device, int index) {
  *device = index;
  return done;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  return copy_text("Stand-in GPU", name, size);
}
CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice) {
  return copy_text("0000:00:00.0", id, size);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
  *context = reinterpret_cast<CUcontext>(&contexts);
  ++contexts;
  return done;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  --contexts;
  return done;
}
CUresult cuCtxSetCurrent(CUcontext) { return done; }

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  constexpr int out_of_memory = 2;
  if (bytes > static_cast<std::size_t>(number("RIDGELINE_TEST_CUDA_MEMORY", 1 << 30)))
    return error(out_of_memory);
  *address = reinterpret_cast<CUdeviceptr>(std::malloc(bytes));
  allocated[*address] = bytes;
  return done;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  std::free(reinterpret_cast<void*>(address));
  return error(allocated.erase(address) == 1 ? 0 : 1);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  if (allocated.count(to) == 0 || allocated[to] < bytes) return error(1);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return done;
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(&streams);
  ++streams;
  return done;
}
CUresult cuStreamSynchronize(CUstream stream) {
  return error(stream == reinterpret_cast<CUstream>(&streams) ? 0 : 1);
}
CUresult cuStreamDestroy_v2(CUstream) {
  --streams;
  return done;
}
}
