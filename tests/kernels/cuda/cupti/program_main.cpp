// Poses as a CUDA program: loads the library that CUDA_INJECTION64_PATH names, as the driver does,
// and launches kernels on the GPU of the CUPTI stub.
// Arguments: launches of each of its two kernels, exit code.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** words) {
  std::puts("output of the program");
  const int launches = count > 1 ? std::atoi(words[1]) : 0;
  if (launches > 0) {
    if (const char* const path = std::getenv("CUDA_INJECTION64_PATH")) {
      void* const injected = dlopen(path, RTLD_NOW);
      if (!injected) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 99;
      }
      reinterpret_cast<int (*)()>(dlsym(injected, "InitializeInjection"))();
    }
    void* const gpu = dlopen(std::getenv("RIDGELINE_CUPTI_LIBRARY"), RTLD_NOW);
    if (!gpu) return 98;
    using Launch = void (*)(const char*, double, int, const char* const*, const double*);
    const auto launch = reinterpret_cast<Launch>(dlsym(gpu, "ridgeline_test_launch"));
    const char* const add[] = {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                               "lts__d_sectors_fill_device.sum", "lts__t_sectors_op_write.sum"};
    const double added[] = {500, 10, 5};
    const char* const multiply[] = {"sm__ops_path_tensor_src_fp16_dst_fp32.sum",
                                    "smsp__inst_executed_pipe_tensor.sum"};
    const double multiplied[] = {4096, 1};
    for (int i = 0; i < launches; ++i) {
      launch("_Z3addPf", 2e-6, 3, add, added);
      launch("_Z8multiplyPf", 5e-6, 2, multiply, multiplied);
    }
  }
  return count > 2 ? std::atoi(words[2]) : 0;
}
