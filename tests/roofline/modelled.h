// Workloads and catalog devices, ready for the model's tests.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/lowering/lowering.h"
#include "base/conditions.h"
#include "devices/catalog/catalog.h"
#include "devices/catalog/model.h"
#include "devices/modes/mode_space.h"
#include "roofline/model/network_load.h"
#include "roofline/model/priors.h"
#include "workloads/registry.h"

namespace ridgeline::testing {

inline NetworkLoad load_of(std::string_view name, Runtime runtime, std::int64_t batch = 1,
                           std::string_view dtype = "fp16", std::string_view options = "") {
  WorkloadOptions chosen = parse_options(options);
  chosen.batch = batch;
  set_option(chosen, WorkloadOption::dtype, dtype);
  return network_load(lower(build_workload(name, chosen), runtime), runtime);
}

inline MachineModel model_of(std::string_view device) {
  return with_priors(catalog::machine_model(catalog::load(device)));
}

inline OperatingPoint point_of(std::string_view device, std::string_view mode) {
  const catalog::Device entry = catalog::load(device);
  return resolve(entry, catalog::configuration(entry), parse_mode_request(mode)).point;
}

}  // namespace ridgeline::testing
