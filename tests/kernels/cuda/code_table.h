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
  std::vector<int> architectures;  // that were compiled for, ascending
  std::set<std::string> left_out;  // code groups that the toolkit is too old for
  // By kernel, then by architecture; absent where the kernel does not run.
  std::map<std::string, std::map<int, CodeProof>> proofs;
};

// A toolkit; older ones need a host compiler of their time.
struct Toolkit {
  std::string nvcc;
  std::string host_compiler = {};  // "g++-11"; empty = nvcc's own choice
};

std::vector<int> architectures_of(const std::string& nvcc);  // that it has, from sm_72 on

// Throws std::runtime_error with nvcc's own words where it fails. Architectures of `without` are
// left out, and groups that the toolkit is too old for.
CodeTable compile_all(const Toolkit& toolkit, const std::vector<int>& without = {});

// The page has two parts: what the newest toolkit builds, and what only an older one does.
std::string to_markdown(const CodeTable& table);
std::string older_markdown(const CodeTable& table);

// The second part of a page; empty where it has none.
std::string older_part(const std::string& page);

}  // namespace ridgeline::testing
