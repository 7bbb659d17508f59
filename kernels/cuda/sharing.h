// Whether others have a part of the GPU: what is measured is then not all of it.
// Signs of it are looked at; nothing is asked of the driver.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/profile.h"
#include "devices/machine/system_files.h"
#include "kernels/cuda/gpu.h"

namespace ridgeline::cuda {

using Environment = std::function<const char*(const char* name)>;  // std::getenv

std::vector<Warning> sharing_warnings(const DeviceFacts& facts, const Environment& environment,
                                      const SystemRoot& root = {});

}  // namespace ridgeline::cuda
