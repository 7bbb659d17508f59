// The module libridgeline_torch.so, which holds everything that includes LibTorch. It is loaded
// when it is first needed: LibTorch takes half a second to load, and many machines lack it.
#pragma once

#include <string>

namespace ridgeline {

// Empty if the module is there; otherwise why networks cannot be executed here.
std::string why_no_torch();

// A function of the module; an Error if there is none. The caller knows its type.
void* torch_symbol(const char* name);

}  // namespace ridgeline
