// Step: one inference or training step at one operating point: when each kernel ends, what the time
// and the energy went to. Plain doubles; intervals are made of many Steps.
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

// One kernel's part of the step. The parts and the overheads add up to the step.
struct StepRow {
  double time_s = 0;  // by which this kernel moved the end of the step
  double host_s = 0;  // that the host worked for it; may lie under other kernels
  double stall_s = 0;
  double dynamic_j = 0;  // operations and bytes; constant power comes on top
  KernelTime kernel;
};

struct Step {
  double time_s = 0;
  double host_s = 0;    // sum of what the host did
  double kernel_s = 0;  // sum of what the device did
  double tail_s = 0;    // after the last kernel: host work that nothing hides
  double jitter_s = 0;  // host and device waiting for each other
  double gpu_hz = 0;    // effective clock: below the mode's under a cap or a governor
  bool capped = false;
  std::optional<double> power_w;
  std::optional<double> constant_w;  // of power_w, while the step runs
  std::vector<StepRow> rows;         // empty where only totals were asked for
};

// Evaluates one network on one machine at many points: kernel times are kept per (units, device
// clock, memory clock), host times scale with the CPU clock.
class StepModel {
 public:
  StepModel(const NetworkLoad& load, const Coefficients& coefficients);

  // An Error names a clock that the point lacks and the formulas need.
  Step at(const Conditions& conditions, bool rows = true) const;

 private:
  struct DeviceTimes {
    std::vector<KernelTime> kernels;
    std::vector<double> after;  // device time of this and all later kernels
    double sum_s = 0;
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
  std::vector<double> host_clocks_sum_;  // up to and with this kernel
  mutable std::map<std::tuple<double, double, double>, DeviceTimes> kept_;
};

// Where the device stands at an operating point; an Error names what is missing.
DevicePoint device_point(const Coefficients& coefficients, const OperatingPoint& point);

// Clock of the core that a runtime's thread ends up on: of the fastest cluster.
double host_hz_of(const OperatingPoint& point, const Host& host);

// Power whatever the kernels do, with the device and one core of the host busy for these shares of
// the time; without the offset of a plug.
double constant_power(const Coefficients& coefficients, const DevicePoint& device,
                      const OperatingPoint& point, double device_busy, double host_busy);

// What bounds one row, and the step as a whole.
BoundBy bound_of(const StepRow& row);
BoundBy bound_of(const Step& step);

}  // namespace ridgeline
