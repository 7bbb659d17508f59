// The few functions of CUDA's driver that running an engine takes: memory, one stream, names. The
// driver is loaded at run time, so that a program built for GPUs starts without one. Its context is
// the primary one, which TensorRT uses as well.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace ridgeline::tensorrt {

class GpuDriver {
 public:
  // An Error if there is no driver or no GPU. `library`: empty for the system's.
  static std::unique_ptr<GpuDriver> open(const std::string& library);
  virtual ~GpuDriver() = default;

  virtual std::string gpu_name() const = 0;
  virtual std::string bus_id() const = 0;  // empty if it has none

  virtual void* allocate(std::size_t bytes) = 0;  // an Error if there is not enough memory
  virtual void free(void* memory) = 0;
  virtual void copy_to(void* memory, const std::string& bytes) = 0;
  virtual void* stream() = 0;  // as cudaStream_t
  virtual void wait() = 0;     // until the stream is empty
};

}  // namespace ridgeline::tensorrt
