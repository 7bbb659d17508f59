// Reads the GPU machine code that a binary or an object file holds, without any tool of NVIDIA's:
// ELF images in it, their kernels, and of each instruction what the proof of a loop needs.
// The encoding is that of sm_72 to sm_121: 16 bytes each, read off by comparing with nvdisasm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::testing {

struct GpuInstruction {
  std::string_view name;      // "FFMA"; "?" for one that no kernel's loop is made of
  int form = 0;               // 1 = all operands are registers
  bool never = false;         // predicated off for good: a NOP
  int destination = 0;        // register numbers; 255 = none
  int a = 0, b = 0, c = 0;    // sources
  int access_bytes = 0;       // of a load or store
  std::optional<int> target;  // index of the instruction that a branch or call goes to
};

using GpuCode = std::vector<GpuInstruction>;

struct GpuImage {
  int architecture = 0;                    // 87 = sm_87
  std::map<std::string, GpuCode> kernels;  // by name
};

// All images in a file, in order; throws std::runtime_error where one is damaged.
std::vector<GpuImage> read_gpu_images(std::string_view file);

struct GpuLoop {
  GpuCode code;  // targets count from its start
  int end = 0;   // index in the kernel of the instruction behind it
};

// Loops that hold no other loop. The jump to itself behind every kernel's end is none.
std::vector<GpuLoop> innermost_gpu_loops(const GpuCode& kernel);

// PTX texts in a file, by architecture: the lines of each kernel's innermost loops.
struct PtxImage {
  int architecture = 0;
  std::map<std::string, std::vector<std::vector<std::string>>> loops;  // by kernel
};
std::vector<PtxImage> read_ptx_images(std::string_view file);

}  // namespace ridgeline::testing
