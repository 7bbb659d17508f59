// The one interface between the measuring loop and a CUDA device: as few calls as it needs.
// runtime/cudart.cpp is the real one; tests put a GPU of known speed in its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kernels/cuda/arguments.h"
#include "kernels/cuda/kernel.h"

namespace ridgeline::cuda {

struct DeviceFacts {
  std::string name;                             // "Orin"
  int architecture = 0;                         // 87 = sm_87
  int multiprocessors = 0;                      // that are switched on
  int threads_per_multiprocessor = 0;           // at most
  std::uint64_t memory_bytes = 0;               //
  std::uint64_t free_bytes = 0;                 //
  std::uint64_t l2_bytes = 0;                   //
  std::uint64_t l1_bytes = 0;                   // L1 and shared memory of one multiprocessor
  std::optional<double> max_clock_hz;           // as the driver says
  std::optional<double> memory_bytes_per_s;     // bus × clock; absent where the driver is wrong
  bool integrated = false;                      // shares the host's memory
  bool watchdog = false;                        // the driver ends long kernels
  int driver_version = 0, runtime_version = 0;  // 13000 = 13.0
  std::string pci_bus_id;                       // empty on Jetson
};

// What went wrong on the device; `kind` says whether going on makes sense.
class GpuError : public Error {
 public:
  enum class Kind {
    out_of_memory,  // smaller buffers may do
    launch,         // this kernel cannot run, others may
    lost,           // sticky: nothing runs any more
  };
  GpuError(Kind kind, std::string where, std::string what, std::string fix = {})
      : Error(std::move(where), std::move(what), std::move(fix)), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

struct Grid {
  std::uint32_t blocks = 1, threads = 32;  // threads of a block
};

// Which memory a buffer lies in: a Jetson has one DRAM and three ways to it.
enum class MemoryKind { device, pinned, managed };
constexpr std::string_view to_string(MemoryKind kind) {  // as MemoryRow::allocation has it
  return kind == MemoryKind::device ? "device" : kind == MemoryKind::pinned ? "pinned" : "managed";
}

// A copy between host and device by a copy engine; the driver sees the direction from the
// addresses.
struct Copy {
  void* to = nullptr;
  const void* from = nullptr;
  std::uint64_t bytes = 0;
};

// What this build can give a kernel on this device.
struct CodeSupport {
  std::string missing;    // why there is none; empty = there is
  bool from_ptx = false;  // the driver compiles it
};

class Gpu {
 public:
  virtual ~Gpu() = default;
  virtual const DeviceFacts& facts() const = 0;
  virtual void correct(const DeviceFacts& facts) = 0;  // if the catalog knows better
  virtual CodeSupport support(const Kernel& kernel) const = 0;
  // Blocks of a kernel that fit on one multiprocessor at once.
  virtual int resident_blocks(const Kernel& kernel, std::uint32_t threads) const = 0;

  virtual void* allocate(std::uint64_t bytes, MemoryKind kind) = 0;
  virtual void release(void* memory, MemoryKind kind) noexcept = 0;
  virtual void upload(void* device, const void* host, std::uint64_t bytes) = 0;
  virtual void download(void* host, const void* device, std::uint64_t bytes) = 0;
  // One or two copies at once, each `repeats` times on a stream of its own: from the start of the
  // first to the end of the last.
  virtual double copy_seconds(std::span<const Copy> copies, int repeats) = 0;

  // On one stream, in order; returns before the kernel ran.
  virtual void launch(const Kernel& kernel, Grid grid, const Arguments& arguments) = 0;
  // Marks in the stream; the time between them is known after the second has passed.
  virtual void record_begin() = 0;
  virtual void record_end() = 0;
  virtual double elapsed_s() = 0;  // waits
  virtual void synchronize() = 0;

  // `nodes` launches, one after the other, as one CUDA graph, which replay() starts.
  virtual void capture(const Kernel& kernel, Grid grid, const Arguments& arguments, int nodes) = 0;
  virtual void replay() = 0;
};

// The device of this index; an Error "no CUDA device: <reason>" where there is none.
std::unique_ptr<Gpu> open_gpu(int index = 0);

// Why open_gpu() would fail, in a few words; empty where a device is here. Never throws.
std::string why_no_gpu();

}  // namespace ridgeline::cuda
