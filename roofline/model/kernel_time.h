// How long each kernel of a network takes on the device, apart from the host that launches it.
// A function of units, device clock and usable bandwidth alone: it is worked out once for all modes
// that share these three.
#pragma once

#include <span>
#include <vector>

#include "base/tokens.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

// Where the device stands: SMs on (or cores) and their clock, and bytes per second that reach them.
struct DevicePoint {
  double units = 0;
  double hz = 0;
  double bytes_per_s = 0;
  double peak_bytes_per_s = 0;  // of the memory alone
};

struct KernelTime {
  double compute_s = 0;  // arithmetic, with tiles that do not fill the machine
  double memory_s = 0;   //
  double fixed_s = 0;    // start and drain of the kernel
  double total_s = 0;
  double padding = 1;  // tiles over arithmetic
  double bytes = 0;    // that reach memory
};

// The unit and type that a product really runs on: fp32 convolutions use TF32 where it exists, a
// type without a unit falls back to the next wider one.
struct Arithmetic {
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  double rate = 0;  // operations per unit and clock; 0 where the device has nothing at all
};
Arithmetic arithmetic_of(const Engine& engine, const KernelLoad& kernel, Runtime runtime);

// Bytes per second that the device gets: the memory's share, or what its own clock lets through.
double usable_bytes_per_s(const Coefficients& coefficients, double peak_bytes_per_s, double hz);

KernelTime kernel_time(const KernelLoad& kernel, const Coefficients& coefficients,
                       const DevicePoint& point, Runtime runtime);

std::vector<KernelTime> kernel_times(const NetworkLoad& load, const Coefficients& coefficients,
                                     const DevicePoint& point);

}  // namespace ridgeline
