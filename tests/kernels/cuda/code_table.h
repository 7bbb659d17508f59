// Compiles every code group for every architecture that nvcc has and proves each kernel: the table
// of docs/cuda-kernels.md. Takes a minute.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/kernels/cuda/code_proof.h"

namespace ridgeline::testing {

struct CodeTable {
  std::string toolkit;             // "13.0"
  std::vector<int> architectures;  // compiled for, ascending
  std::set<std::string> left_out;  // code groups that need a newer toolkit
  // By kernel, then by architecture; absent if the kernel does not run there.
  std::map<std::string, std::map<int, CodeProof>> proofs;
};

// A toolkit; older ones need an older host compiler.
struct Toolkit {
  std::string nvcc;
  std::string host_compiler = {};  // "g++-11"; empty = nvcc's own choice
};

std::vector<int> architectures_of(const std::string& nvcc);  // from sm_72 on

// Throws std::runtime_error with nvcc's message on failure. Leaves out architectures in `without`
// and groups that need a newer toolkit.
CodeTable compile_all(const Toolkit& toolkit, const std::vector<int>& without = {});

// The page has two parts: architectures of the newest toolkit, and those only an older one builds.
std::string to_markdown(const CodeTable& table);
std::string older_markdown(const CodeTable& table);

// The second part of a page; empty if it has none.
std::string older_part(const std::string& page);

}  // namespace ridgeline::testing
