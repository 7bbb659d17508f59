// Groups are compiled for each architecture that one of their kernels supports, as in
// cmake/Cuda.cmake.
// One row per kernel: what it declares, and what the worst architecture adds.
#include "tests/kernels/cuda/code_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <regex>
#include <set>
#include <stdexcept>

#include "base/text_file.h"
#include "kernels/cuda/kernel.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

std::string run(const std::vector<std::string>& command) {
  const ProcessResult result = run_process(command);
  if (result.exit_code != 0) throw std::runtime_error(command[0] + ": " + result.err);
  return result.out;
}

std::string toolkit_of(const std::string& nvcc) {
  std::smatch match;
  const std::string text = run({nvcc, "--version"});
  if (!std::regex_search(text, match, std::regex("release ([0-9.]+)")))
    throw std::runtime_error(nvcc + " does not tell its version");
  return match[1];
}

bool is_before(const std::string& toolkit, int major, int minor) {
  int its_major = 0, its_minor = 0;
  std::sscanf(toolkit.c_str(), "%9d.%9d", &its_major, &its_minor);
  return std::pair(its_major, its_minor) < std::pair(major, minor);
}

// "all", or ranges of architectures: "80–121", "89, 120–121".
std::string runs_on(const std::map<int, CodeProof>& proofs, const std::vector<int>& all) {
  if (proofs.size() == all.size()) return "all";
  std::string text;
  for (std::size_t first = 0; first < all.size(); ++first) {
    if (!proofs.contains(all[first])) continue;
    std::size_t last = first;
    while (last + 1 < all.size() && proofs.contains(all[last + 1])) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", all[first]);
    if (last > first) text += fmt::format("–{}", all[last]);
    first = last;
  }
  return text;
}

std::string declared(const cuda::Kernel& kernel) {
  std::string text;
  const auto add = [&](int count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  std::string opcodes(kernel.opcodes);
  std::ranges::replace(opcodes, '|', '/');
  add(kernel.arithmetic, opcodes);
  const bool shared = kernel.level == Level::shared;
  const bool chain = kernel.role == cuda::Role::latency;
  add(kernel.loads, chain        ? "LDG.64, each the address of the next"
                    : kernel.fed ? "LDSM.128"
                    : shared     ? "LDS.128"
                                 : "LDG.128");
  add(kernel.stores, "STG.128");
  add(kernel.combines, "LOP3");
  return text;
}

// As in cmake/Cuda.cmake: instructions of one architecture, or of one family.
std::string_view target_suffix(std::string_view group) {
  if (group == "tensor_sm90" || group == "tensor_sm100_int8") return "a";
  return group == "tensor_sm100" || group == "tensor_sm120" ? "f" : "";
}

constexpr std::string_view head = R"(# CUDA kernels

`build/release/tests/kernels/cuda/ridgeline_cuda_table docs/cuda-kernels.md` generates this page
after `./run tests` on a machine with nvcc; `./run prove` generates it again and compares. With
`RIDGELINE_OLD_NVCC` (and `RIDGELINE_OLD_CXX`, its host compiler) both do the same for the last part.

Each kernel *declares* the work of one trip of its innermost loop, as one warp sees it (tables in
`kernels/cuda/*.inc`). The tests read the machine code from the ELF images inside the program (no
NVIDIA tool, no GPU) and compare it with the table:

- the loop holds exactly the declared number of arithmetic instructions, loads, stores and LOP3
  (LOP3 consumes the loaded words: the assembler narrows the load of an unused word);
- loads and stores are 16 bytes wide, operands of compute kernels are registers, nothing is spilled
  and nothing is called (loops of more than 4 KiB are left by a call that does not return; this is
  allowed, but only to the instruction after the loop);
- chains, followed from register to register, have the declared number and length; each starts from
  its own value in memory and continues in the next trip;
- all other instructions take at most 3 % of the issue cycles of the limiting unit: one cycle per
  arithmetic instruction (8 for FP64 on tensor cores, at the rate of GH100; for `wgmma` and `tcgen05`
  the cycles of a whole tile at the rate of GH100 and GB100), 16 per access of 512
  bytes at 128 bytes per cycle and multiprocessor. `random_dram` computes its addresses and may take
  50 %: DRAM is far slower than the load units. Padding NOPs of the assembler do not count. "Of
  peak" is what arithmetic can reach at best where it takes every issue slot;
- of the loads of a read, at least 85 % are issued before the first one is waited for (`random_dram`:
  65 %; shared memory is near and needs none);
- the PTX embedded for newer GPUs holds the same numbers of the same instructions.

Deliberately wrong kernels (identical or crossed chains, a missing store, a constant coefficient,
narrowed or moved loads, a short trip, a call) are rejected: `tests/kernels/cuda`.

This page claims nothing that needs a GPU to prove: it states no speed, and none has been measured
yet. With a GPU, `ridgeline measure --verify-counters` compares the declarations with its own
counters: [counters.md](counters.md). The oldest toolkit that `./run prove` builds with is CUDA 11.8
(`tools/prove-cuda-11.8`); 11.4, the oldest that should work, has not been tried.

Sparse kernels count the FLOP of the dense product. On sm_90 to sm_110 FP8 by `mma.sync` is made of
FP16 instructions, and from sm_90 on INT4 is emulated, so these kernels do not exist there.

The full rate of sm_90 needs `wgmma`: four warps multiply tiles of shared memory by one instruction.
Its kernels are built for sm_90a alone; the proof follows their accumulators from step to step. All
elements of an operand are equal, so that the result needs no layout; such data draw less power than
random ones. FP64 has a shape on sm_90 (m16n8k16) that is twice as fast as m8n8k4; sm_100 and newer
split it into eight of these.

sm_100, sm_103 and sm_110 need `tcgen05` (INT8 of sm_103 has none): one thread multiplies tiles of
shared memory, and the sums lie in tensor memory. Its kernels are built for the families sm_100f and
sm_110f with CUDA 13, INT8 for sm_100a and sm_110a. Their loop runs in one warp of four; the table
gives each warp a quarter of the work. The proof follows the place of the sums, which must not move,
and their start values from memory; operands are equal as above. A block allocates its columns of
tensor memory once, gives the permit back at once, and releases them before it ends; `measure` starts
no more blocks than there are columns for. If a product never ends, the launch fails after some
seconds and does not keep the GPU.

Floats with block scales (MXFP8 and MXFP4 with one exponent for 32 of them, NVFP4 with one float for
16) have scales of one, so that the result is that of plain products. `mma.sync` has them on sm_120
and sm_121 alone, `tcgen05` on sm_100, sm_103 and sm_110; its scales lie in tensor memory behind the
sums, and a block takes all 512 columns. FP4 without scales (`kind::f8f6f4`) takes a byte per element
and the time of FP8, and has no kernel of its own. On sm_103 the full rate of FP4 needs K = 96, for
which there is no kernel either: its rows are marked `"roof": false`.

Rates of `mma.sync` on sm_90 to sm_110 are marked `"roof": false` in a profile: they are no
ceilings, and `--check-targets` does not look at them. Where the faster form of a row has no kernel
(sparse operands, or a build with an older toolkit), an `unsupported` row names the instruction.

`fed_*` load the operands of each step from shared memory with `ldmatrix`, as a matrix product does
whose warps have tiles of 64 × 64 (sm_75 INT8: 32 × 64): 12 fragments for 32 products. Their rate is
what such a product can reach. It stands beside that of the rows with operands in registers, and is
marked `"roof": false` too.

)";

}  // namespace

std::vector<int> architectures_of(const std::string& nvcc) {
  const std::string list = run({nvcc, "--list-gpu-code"});
  std::set<int> found;
  static const std::regex code("sm_([0-9]+)");
  for (std::sregex_iterator it(list.begin(), list.end(), code), end; it != end; ++it)
    found.insert(std::stoi((*it)[1]));
  // CUDA 12.8 and 12.9 called sm_110 sm_101; no device has that name.
  std::erase_if(found, [](int architecture) { return architecture < 72 || architecture == 101; });
  if (is_before(toolkit_of(nvcc), 12, 0)) found.erase(90);  // see cmake/Cuda.cmake
  return {found.begin(), found.end()};
}

CodeTable compile_all(const Toolkit& toolkit, const std::vector<int>& without) {
  CodeTable table;
  table.toolkit = toolkit_of(toolkit.nvcc);
  for (const int architecture : architectures_of(toolkit.nvcc))
    if (std::ranges::find(without, architecture) == without.end())
      table.architectures.push_back(architecture);
  // As in cmake/Cuda.cmake.
  if (is_before(table.toolkit, 12, 4)) table.left_out.insert("tensor_fp8");
  if (is_before(table.toolkit, 12, 0)) table.left_out.insert("tensor_sm90");
  if (is_before(table.toolkit, 13, 0))
    table.left_out.insert({"tensor_sm100", "tensor_sm100_int8", "tensor_sm120"});
  const TemporaryDirectory folder;
  for (const int architecture : table.architectures) {
    std::set<std::string> groups;
    for (const cuda::Kernel& kernel : cuda::kernel_table())
      if (kernel.architectures.include(architecture) &&
          !table.left_out.contains(std::string(kernel.group)))
        groups.insert(std::string(kernel.group));
    for (const std::string& group : groups) {
      const std::string file = folder.file("code.cubin");
      std::vector<std::string> command{toolkit.nvcc, "-std=c++17", "-O3", "-cubin"};
      if (!toolkit.host_compiler.empty()) command.push_back("-ccbin=" + toolkit.host_compiler);
      command.insert(
          command.end(),
          {fmt::format("-arch=sm_{}{}", architecture, target_suffix(group)), "-I" + source_file(""),
           "-o", file, fmt::format("{}/kernels/cuda/device/{}.cu", source_file(""), group)});
      run(command);
      for (const GpuImage& image : read_gpu_images(read_text_file(file)))
        for (const auto& [name, code] : image.kernels) {
          const cuda::Kernel* const kernel = cuda::find_kernel(name);
          if (!kernel) throw std::runtime_error(name + " is in no table");
          table.proofs[name][image.architecture] = prove_code(*kernel, code);
        }
    }
  }
  return table;
}

namespace {

std::string rows_of(const CodeTable& table) {
  std::string all;
  for (const int architecture : table.architectures) all += fmt::format(" {}", architecture);
  std::string page = fmt::format("Compiled with CUDA {} for sm{}.\n\n", table.toolkit, all);
  page +=
      "| kernel | runs on | loop holds | FLOP per trip | bytes per trip | other, at most | of "
      "peak, at "
      "least | loads in flight | NOP, at most |\n|---|---|---|---:|---:|---:|---:|---:|---:|\n";
  for (const cuda::Kernel& kernel : cuda::kernel_table()) {
    const auto found = table.proofs.find(std::string(kernel.name));
    if (found == table.proofs.end() || kernel.role == cuda::Role::launch) continue;
    double share = 0;
    int padding = 0, in_flight = kernel.loads;
    for (const auto& [architecture, proof] : found->second) {
      in_flight = std::min(in_flight, proof.census.in_flight);
      share = std::max(share, proof.census.other_share);
      padding = std::max(padding, proof.census.padding);
    }
    const std::string of_peak =
        kernel.role == cuda::Role::memory || kernel.role == cuda::Role::latency
            ? "–"
            : fmt::format("{:.1f} %", 100 / (1 + share));
    page += fmt::format("| {} | {} | {} | {:.0f} | {:.0f} | {:.1f} % | {} | {} | {} |\n",
                        kernel.name, runs_on(found->second, table.architectures), declared(kernel),
                        kernel.flop_per_trip(), kernel.bytes_per_trip(), 100 * share, of_peak,
                        in_flight > 0 ? std::to_string(in_flight) : "–", padding);
  }
  return page;
}

constexpr std::string_view older_head = R"(
## Older toolkits

CUDA 13 has no sm_72 (Xavier) any more. Its tensor cores take FP16 in four or two instructions for
each `mma.sync`, and INT8 through `wmma` alone, of which NVIDIA does not say which lane holds which
element: there all elements of an operand are equal, so that the result needs no layout.

)";

}  // namespace

std::string to_markdown(const CodeTable& table) { return std::string(head) + rows_of(table); }

std::string older_markdown(const CodeTable& table) {
  return std::string(older_head) + rows_of(table);
}

std::string older_part(const std::string& page) {
  const auto at = page.find("\n## Older toolkits\n");
  return at == std::string::npos ? std::string() : page.substr(at);
}

}  // namespace ridgeline::testing
