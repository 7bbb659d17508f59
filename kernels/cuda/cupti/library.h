// NVIDIA's profiling library (CUPTI), found and loaded when it is first needed: a program that was
// built with it starts without it. Nothing of CUPTI's headers is here.
#pragma once

#include <string>
#include <vector>

namespace ridgeline::cuda {

class CuptiLibrary {
 public:
  // RIDGELINE_CUPTI_LIBRARY names another file than the toolkit's. Throws where there is none.
  static const CuptiLibrary& instance();

  // A function of CUPTI, of NVIDIA's counter library beside it, or of the driver.
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(symbol(name));
  }
  bool has(const char* name) const { return find(name) != nullptr; }

 private:
  explicit CuptiLibrary(const std::vector<std::string>& paths);
  void* symbol(const char* name) const;  // throws where it is missing
  void* find(const char* name) const;

  std::string path_;
  void* cupti_ = nullptr;
  mutable void* counters_ = nullptr;  // libnvperf_host.so, for the older interface
  mutable void* driver_ = nullptr;
};

}  // namespace ridgeline::cuda
