// Step: one inference or training step at one operating point: when each kernel ends and where time
// and energy go. Plain doubles; intervals come from many Steps.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/conditions.h"
#include "base/prediction.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/kernel_time.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

// One kernel's part of the step. Parts and overheads add up to the step.
struct StepRow {
  double time_s = 0;  // by which this kernel moved the end of the step
  double host_s = 0;  // host work for it; may overlap other kernels
  double stall_s = 0;
  double dynamic_j = 0;  // operations and bytes; constant power is extra
  KernelTime kernel;
  double host_begin_s = 0;    // since the begin of the step: when its host work begins,
  double kernel_begin_s = 0;  // and when the device starts it
};

struct Step {
  double time_s = 0;
  double host_s = 0;    // total host work
  double kernel_s = 0;  // total device time
  double tail_s = 0;    // host work after the last kernel, which nothing hides
  double jitter_s = 0;  // host and device waiting for each other
  double gpu_hz = 0;    // effective clock: below the mode's under a cap or governor
  bool capped = false;
  std::optional<double> power_w;
  std::optional<double> constant_w;  // of power_w, while the step runs
  std::vector<StepRow> rows;         // empty if only totals were requested
};

// Evaluates one network on one machine at many points: kernel times are kept per (units, device
// clock, memory clock), host times scale with the CPU clock.
class StepModel {
 public:
  StepModel(const NetworkLoad& load, const Coefficients& coefficients);

  // Throws an Error that names a clock that the formulas need and the point lacks.
  Step at(const Conditions& conditions, bool rows = true) const;

 private:
  struct DeviceTimes {
    std::vector<KernelTime> kernels;
    std::vector<double> after;  // device time of this and all later kernels
    double sum_s = 0;
    double busy_s = 0;     // as if all units were busy: without starts and units without a tile
    double dynamic_j = 0;  // at the highest voltage, without bytes
    double bytes = 0;
  };

  DeviceTimes device_times(const DevicePoint& point) const;
  const DeviceTimes& kept_times(const DevicePoint& point) const;
  double power(const Step& step, const DevicePoint& point, const DeviceTimes& device,
               const Conditions& conditions, double* constant_w) const;
  Step run(const Conditions& conditions, const DevicePoint& point, const DeviceTimes& device,
           double host_hz, bool rows) const;
  void run_one_by_one(Step& step, const DeviceTimes& device, double host_hz, bool rows) const;
  void run_in_line(Step& step, const DeviceTimes& device, double host_hz, bool rows) const;
  void run_asynchronously(Step& step, const DeviceTimes& device, double host_hz, bool rows) const;
  double governed_hz(const DevicePoint& point, double host_hz) const;

  const NetworkLoad& load_;
  Coefficients coefficients_;
  std::vector<double> host_clocks_;      // per kernel
  std::vector<double> host_clocks_sum_;  // up to and including this kernel
  mutable std::map<std::tuple<double, double, double>, DeviceTimes> kept_;
};

// The device at an operating point; throws an Error that names what is missing.
DevicePoint device_point(const Coefficients& coefficients, const OperatingPoint& point);

// Clock of the core that runs the runtime's thread: one of the fastest cluster.
double host_hz_of(const OperatingPoint& point, const Host& host);

// How much the host counts in the time of an asynchronous step: d log(time) / d log(host's time).
double host_share(const Step& step, const Host& host);

// How the host's time differs from run to run: one sigma of the logarithm, and the factor of a slow
// or a fast run to the mean.
double host_run_error(const Host& host);
double host_run_factor(const Host& host, bool slow);

// Power independent of the kernels, with the device and one host core busy for these shares of the
// time; without what a plug meter adds.
double constant_power(const Coefficients& coefficients, const DevicePoint& device,
                      const OperatingPoint& point, double device_busy, double host_busy);

// What a meter at the plug reads if the module draws `module_w`: the loss of the supply and the
// carrier board come on top. A calibrated offset of the rig was read behind the supply's loss.
double wall_power(const Power& power, double module_w);

// The bound of one row, and of the step as a whole.
BoundBy bound_of(const StepRow& row);
BoundBy bound_of(const Step& step);

}  // namespace ridgeline
