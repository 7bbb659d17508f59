// Makes plans and measurements of kernels/ look alike.
#include "cli/commands/measure_backend.h"

#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/measure_world.h"
#include "devices/control/machine_watch.h"
#include "devices/machine/this_machine.h"
#include "devices/modes/present_mode.h"
#include "kernels/cuda/gpu_here.h"
#include "kernels/instruments.h"
#include "kernels/load_watch.h"
#include "kernels/run_verdict.h"
#include "roofline/ceilings/measured_energy.h"

namespace ridgeline::cli {
namespace {

// Energy per FLOP and byte where power was read, or why it was not.
void conclude(const MeasureInstruments& instruments, ProfileMode& mode) {
  if (const auto sensor = instruments.sensor_name()) mode.energy = fitted_energy(mode, *sensor);
  instruments.note_missing_power(mode);
}

Backend cpu_backend(const cpu::MeasureOptions& wanted, const Topology& topology) {
  const auto plan = cpu::plan(wanted, topology);
  Backend backend;
  for (const auto& trial : plan)
    backend.plan.push_back({std::string(to_string(trial.section)), trial.name(), trial.what(),
                            trial.threads, trial.missing});
  backend.all = wanted.only.empty() && wanted.threads.empty();
  backend.measure = [=](const SamplerWorld& world) {
    MeasureInstruments instruments(world);
    ProfileMode mode = cpu::measure(plan, wanted, topology, identify_microarchitecture(), world,
                                    instruments.power());
    conclude(instruments, mode);
    return mode;
  };
  return backend;
}

// Clocks that the mode allows; the driver's own word counts where it is right.
std::optional<double> gpu_cap_hz(const cuda::DeviceFacts& facts) {
  const OperatingPoint mode = present_mode({});
  if (mode.gpu_hz) return mode.gpu_hz;
  return facts.integrated ? std::nullopt : facts.max_clock_hz;
}

Backend gpu_backend(const MeasureRequest& request) {
  const cuda::MeasureOptions wanted = request.gpu_options();
  const std::string reason = measure_world().why_no_gpu();
  Backend backend;
  // Without a device there is still a plan to look at.
  std::shared_ptr<cuda::Gpu> gpu;
  if (reason.empty() || !request.list) gpu = measure_world().open_gpu();
  if (gpu) backend.gpus.push_back(cuda::machine_gpu(gpu->facts()));
  const auto plan =
      cuda::plan(wanted, gpu ? gpu->facts() : cuda::DeviceFacts{}, [&](const cuda::Kernel& kernel) {
        return gpu ? gpu->support(kernel) : cuda::CodeSupport{"no CUDA device: " + reason, false};
      });
  for (const auto& trial : plan)
    backend.plan.push_back({std::string(to_string(trial.role)), trial.name(), trial.what(),
                            gpu ? gpu->facts().multiprocessors : 1, trial.missing});
  backend.all = wanted.only.empty();
  backend.measure = [=](const SamplerWorld& world) {
    MeasureInstruments instruments(world, gpu->facts(), gpu_cap_hz(gpu->facts()),
                                   {measure_world().wait, measure_world().host_clock_hz});
    cuda::Instruments read = instruments.gpu();
    const auto control = measure_world().open_control();
    read.clocks_held = control::is_gpu_clock_held(*control, control::find_knobs(*control));
    ProfileMode mode = cuda::measure(*gpu, plan, wanted, read, world);
    conclude(instruments, mode);
    for (Warning& warning : cuda::sharing_warnings(gpu->facts(), std::getenv))
      mode.conditions.warnings.push_back(std::move(warning));
    return mode;
  };
  return backend;
}

// Where --only asks for no kernel.
Backend no_backend() {
  Backend backend;
  backend.all = false;
  backend.measure = [](const SamplerWorld&) { return ProfileMode{}; };
  return backend;
}

}  // namespace

ProfileMode measured_mode(const Backend& backend, const Topology& topology, const char* title,
                          const Console& console,
                          const std::function<void(const SamplerWorld&, ProfileMode&)>& more) {
  const MeasureWorld& machine = measure_world();
  ProgressLine progress(console, title);
  LoadWatch watch(topology.cpus);
  const auto control = machine.open_control();
  control::MachineWatch around(*control, control::find_knobs(*control));
  constexpr double look_s = 0.5;  // between two looks at temperatures and clocks
  double looked_s = machine.now_s();
  const SamplerWorld world{
      machine.now_s, [&] { return machine.other_load ? machine.other_load() : watch.since_last(); },
      [] { return InterruptGuard::interrupted(); },
      [&](double done, double left_s) {
        progress.show(done, left_s);
        if (machine.now_s() - looked_s < look_s) return;
        looked_s = machine.now_s();
        around.look();
      }};
  ProfileMode mode = backend.measure(world);
  if (more) more(world, mode);
  progress.clear();
  mode.mode = present_mode({});
  if (!backend.gpus.empty()) mode.mode.gpu_units = backend.gpus.front().multiprocessors;
  for (Warning& warning : around.finish()) mode.conditions.warnings.push_back(std::move(warning));
  mode.conditions.system = around.seen();
  mode.conditions.system->busiest_process = watch.busiest_process();
  warn_of_surroundings(watch.busiest_process(), cpu_quota(), topology.cores, mode.conditions);
  mode.conditions.verdict = judge_run(mode);
  return mode;
}

Backend measure_backend(const MeasureRequest& request, const Topology& topology) {
  if (!request.any_kernel()) return no_backend();
  return request.gpu ? gpu_backend(request) : cpu_backend(request.cpu_options(), topology);
}

}  // namespace ridgeline::cli
