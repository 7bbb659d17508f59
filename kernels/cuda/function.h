// A kernel as the CUDA runtime knows it: its name and the address to launch it by. C++17.
#pragma once

namespace ridgeline::cuda {

// A list of them ends with a nameless one.
struct Function {
  const char* name;
  const void* address;
};

}  // namespace ridgeline::cuda
