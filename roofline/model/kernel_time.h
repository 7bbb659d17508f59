// Time of each kernel of a network on the device, without the host that launches it. Depends only
// on units, device clock and usable bandwidth, so modes that share these three share the times.
#pragma once

#include <span>
#include <vector>

#include "base/tokens.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

// State of the device: active SMs (or cores), their clock, and the bytes per second they get.
struct DevicePoint {
  double units = 0;
  double hz = 0;
  double bytes_per_s = 0;
  double peak_bytes_per_s = 0;  // of the memory alone
};

struct KernelTime {
  double compute_s = 0;  // arithmetic, including tiles that do not fill the machine
  double memory_s = 0;   //
  double fixed_s = 0;    // start and drain of the kernel
  double helper_s = 0;   // the library's kernels around it: conversions, bias, activation function
  double total_s = 0;
  double busy_s = 0;   // the same work on all units: starts and units without a tile are idle
  double padding = 1;  // tiles over arithmetic
  double bytes = 0;    // that reach memory
  DType dtype = DType::fp32;  // of its arithmetic; TensorRT may choose fp16 instead of int8
};

// The unit and type that a product runs on: fp32 convolutions use TF32 if it exists, a type without
// a unit falls back to the next wider one.
struct Arithmetic {
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  double rate = 0;  // operations per unit and clock; 0 if no unit can run it
};
Arithmetic arithmetic_of(const Engine& engine, const KernelLoad& kernel, Runtime runtime);

// Bandwidth of the device: limited by the memory's efficiency or by the device's own clock.
double usable_bytes_per_s(const Coefficients& coefficients, double peak_bytes_per_s, double hz);

KernelTime kernel_time(const KernelLoad& kernel, const Coefficients& coefficients,
                       const DevicePoint& point, Runtime runtime);

std::vector<KernelTime> kernel_times(const NetworkLoad& load, const Coefficients& coefficients,
                                     const DevicePoint& point);

}  // namespace ridgeline
