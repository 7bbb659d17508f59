// Modes and clocks come from the catalog. The number of SMs stays: changing it needs a reboot, and
// the stock modes are listed anyway.
#include "roofline/explain/choices.h"

#include <algorithm>

#include "base/parameters.h"
#include "devices/modes/mode_grid.h"
#include "devices/modes/mode_space.h"
#include "roofline/model/units_for.h"

namespace ridgeline {
namespace {

constexpr std::int64_t batch_factors[] = {2, 4, 8, 16, 32, 64};

void add_modes(Choices& choices, const KnownDevice& known, const OperatingPoint& now) {
  for (const DeviceMode& mode : stock_modes(known.device, known.configuration))
    choices.modes.push_back(mode.point);
  const ModeGrid grid = full_grid(known.device, known.configuration);
  for (const MaskGrid& mask : grid.masks) {
    if (mask.gpu_units != now.gpu_units) continue;
    choices.gpu_hz = mask.gpu_hz;
    choices.memory_hz = mask.memory_hz;
    choices.cpu_hz = mask.cpu_hz;
    choices.cpu_cores = mask.cpu_cores;
    return;
  }
}

}  // namespace

Choices choices_for(const MachineSource& source, const Setting& now) {
  Choices choices;
  if (source.known) add_modes(choices, *source.known, now.point);
  for (const std::int64_t factor : batch_factors) choices.batches.push_back(now.batch * factor);
  for (const DType dtype : {DType::fp16, DType::bf16, DType::fp8, DType::int8}) {
    // Both 16-bit types cost the same; one piece of advice is enough.
    if (dtype == DType::bf16 && has_units(source.model, DType::fp16)) continue;
    if (has_units(source.model, dtype)) choices.dtypes.push_back(dtype);
  }
  choices.runtimes =
      has_gpu(source.model)
          ? std::vector<Runtime>{Runtime::tensorrt, Runtime::torch_compiled, Runtime::cuda_graph}
          : std::vector<Runtime>{Runtime::onnxruntime, Runtime::torch_compiled};
  // Ideal is a bound, not a runtime to switch to, and no other runtime beats it.
  if (now.runtime == Runtime::ideal) choices.runtimes.clear();
  return choices;
}

bool has_units(const MachineModel& model, DType dtype) {
  const std::string processor = has_gpu(model) ? "gpu" : "cpu0";
  return std::any_of(model.parameters.begin(), model.parameters.end(),
                     [&](const Parameter& parameter) {
                       const auto rate = parse_rate_parameter(parameter.name);
                       return rate && rate->processor == processor && rate->dtype == dtype &&
                              !rate->sparse && rate->unit != Unit::scalar;
                     });
}

std::string tf32_note(const MachineModel& model, DType dtype, Runtime runtime) {
  if (dtype != DType::fp32 || runtime != Runtime::tensorrt || !has_units(model, DType::tf32))
    return {};
  return "fp32 under TensorRT: products run as TF32, as trtexec does without --noTF32";
}

DType runnable_dtype(const MachineModel& model, DType dtype) {
  for (std::optional<DType> next = dtype; next; next = wider(*next))
    if (has_units(model, *next)) return *next;
  return dtype;
}

}  // namespace ridgeline
