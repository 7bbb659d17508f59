// Looked for where RIDGELINE_CUPTI_LIBRARY says, then as the loader finds it, then where NVIDIA's
// installers put it.
#include "kernels/cuda/cupti/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>

#include "base/error.h"

namespace ridgeline::cuda {
namespace {

std::vector<std::string> candidates() {
  if (const char* const asked = std::getenv("RIDGELINE_CUPTI_LIBRARY")) return {asked};
  const std::string name = RIDGELINE_CUPTI_SONAME;
  std::vector<std::string> paths = {name};
  for (const char* const folder :
       {RIDGELINE_CUPTI_FOLDER, "/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"})
    paths.push_back(std::string(folder) + "/" + name);
  return paths;
}

}  // namespace

const CuptiLibrary& CuptiLibrary::instance() {
  // By name: a changed variable means another library.
  static std::mutex guard;
  static std::map<std::string, CuptiLibrary> libraries;
  const std::lock_guard lock(guard);
  const auto paths = candidates();
  const auto found = libraries.find(paths.front());
  if (found != libraries.end()) return found->second;
  return libraries.emplace(paths.front(), CuptiLibrary(paths)).first->second;
}

CuptiLibrary::CuptiLibrary(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    cupti_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!cupti_) continue;
    path_ = path;
    Dl_info found{};
    if (void* const entry = dlsym(cupti_, "cuptiGetVersion"); entry && dladdr(entry, &found))
      path_ = found.dli_fname;
    return;
  }
  throw Error("CUPTI", paths.front() + " is not installed",
              "install the CUDA Toolkit's cupti package, or name the file in "
              "RIDGELINE_CUPTI_LIBRARY");
}

void* CuptiLibrary::find(const char* name) const {
  if (void* const found = dlsym(cupti_, name)) return found;
  const std::string_view wanted = name;
  if (wanted.starts_with("NVPW_")) {
    const auto slash = path_.rfind('/');
    if (!counters_ && slash != std::string::npos)
      counters_ = dlopen((path_.substr(0, slash) + "/libnvperf_host.so").c_str(), RTLD_NOW);
    if (!counters_) counters_ = dlopen("libnvperf_host.so", RTLD_NOW);
    return counters_ ? dlsym(counters_, name) : nullptr;
  }
  if (wanted.starts_with("cupti")) return nullptr;
  if (!driver_) driver_ = dlopen("libcuda.so.1", RTLD_NOW);
  return driver_ ? dlsym(driver_, name) : nullptr;
}

void* CuptiLibrary::symbol(const char* name) const {
  if (void* const found = find(name)) return found;
  throw Error("CUPTI", path_ + " has no " + name,
              "use the library of the toolkit that ridgeline was built with");
}

}  // namespace ridgeline::cuda
