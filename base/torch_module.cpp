// The module lies beside the program, or in ../lib/ridgeline as installed; the tests' program is
// one folder further down.
#include "base/torch_module.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/error.h"

namespace ridgeline {
namespace {

constexpr const char* file_name = "libridgeline_torch.so";

struct LoadedModule {
  void* handle = nullptr;
  std::string why_not;
};

LoadedModule load_module() {
  std::error_code fault;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", fault).parent_path();
  for (const std::filesystem::path& place :
       {folder / file_name, folder.parent_path() / file_name,
        folder.parent_path() / "lib" / "ridgeline" / file_name}) {
    if (!std::filesystem::exists(place, fault)) continue;
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return {handle, ""};
    const char* cause = dlerror();
    return {nullptr, std::string("LibTorch cannot be loaded: ") + (cause ? cause : "no cause")};
  }
  return {nullptr, "this ridgeline was built without LibTorch"};
}

const LoadedModule& module_here() {
  static const LoadedModule loaded = load_module();
  return loaded;
}

}  // namespace

std::string why_no_torch() { return module_here().why_not; }

void* torch_symbol(const char* name) {
  const LoadedModule& module = module_here();
  if (module.handle == nullptr)
    throw Error({}, module.why_not, "install libtorch-dev and build again");
  if (void* symbol = dlsym(module.handle, name)) return symbol;
  throw Error(file_name, std::string("lacks ") + name, "build it together with ridgeline");
}

}  // namespace ridgeline
