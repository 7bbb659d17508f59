// Reads GPU machine code from a binary or object file, without NVIDIA's tools: its ELF images,
// their kernels, and what the loop proof needs of each instruction.
// The encoding is that of sm_72 to sm_121: 16 bytes each, worked out by comparison with nvdisasm.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::testing {

struct GpuInstruction {
  std::string_view name;      // "FFMA"; "?" if no kernel's loop uses it
  int form = 0;               // 1 = all operands are registers
  bool never = false;         // predicate always false: a NOP
  bool scaled = false;        // a product with block scales
  int destination = 0;        // register numbers; 255 = none
  int a = 0, b = 0, c = 0;    // sources
  int access_bytes = 0;       // of a load or store
  std::optional<int> target;  // index of the instruction that a branch or call jumps to
};

using GpuCode = std::vector<GpuInstruction>;

struct GpuImage {
  int architecture = 0;                    // 87 = sm_87
  std::map<std::string, GpuCode> kernels;  // by name
};

// All images in a file, in order; throws std::runtime_error if one is damaged.
std::vector<GpuImage> read_gpu_images(std::string_view file);

struct GpuLoop {
  GpuCode code;  // targets count from its start
  int end = 0;   // index in the kernel of the instruction after it
};

// Loops without inner loops, except the jump to itself after every kernel's end.
std::vector<GpuLoop> innermost_gpu_loops(const GpuCode& kernel);

// PTX texts in a file, by architecture: the lines of each kernel's innermost loops.
struct PtxImage {
  int architecture = 0;
  std::map<std::string, std::vector<std::vector<std::string>>> loops;  // by kernel
};
std::vector<PtxImage> read_ptx_images(std::string_view file);

}  // namespace ridgeline::testing
