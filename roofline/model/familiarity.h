// Familiarity: which kinds of kernels, runtimes, types and devices measurements have taught, and
// how uncertain the time of the others is. An unfamiliar subject multiplies the time of its kernels
// by a parameter with mean 1, so the value of a prediction stays and its interval widens by the
// share of time that is unfamiliar. A fit to rows with such kernels teaches the parameter.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/demand.h"
#include "base/machine_model.h"
#include "base/runtime.h"
#include "base/subject.h"
#include "base/tokens.h"

namespace ridgeline {

// Something that rows of a measurement table taught.
struct TaughtRow {
  std::string_view device;   // kind ("jetson") or chip ("GA102")
  std::string_view library;  // of library_of(); empty: the chip under any
  std::string_view what;     // a Subject, or a type
  std::string_view origin;   // the rows
};
std::span<const TaughtRow> taught_rows();

// Uncertainty of a subject that no row has taught.
struct UnfamiliarRow {
  Subject subject = Subject::other;
  double sigma = 0;  // of the logarithm of its kernels' time
  std::string_view text;
};
std::span<const UnfamiliarRow> unfamiliar_rows();

// "unfamiliar_fourier_time_scale".
std::string unfamiliar_parameter(Subject subject);

// The kind of a kernel as it is taught; absent for views and for kinds that rows of every runtime
// contain. Small products in int8 are a kind of their own under
// TensorRT: they fill neither tiles nor machine.
std::optional<Subject> subject_of(KernelKind kind, KernelTrait trait, DType dtype,
                                  const std::optional<Gemm>& gemm, Runtime runtime);

// "Jetson boards", "graphics cards", "CPUs"; and the chip, empty for CPUs.
struct TaughtDevice {
  std::string kind;  // of the catalog; a device outside of it is a CPU that was measured
  std::string plural;
  std::string chip;
};
const TaughtDevice& taught_device(const std::string& device);

// What is unfamiliar on a device under a runtime.
struct Familiarity {
  std::array<bool, subject_count> unfamiliar{};
  std::array<bool, TokenTable<DType>::rows.size()> unfamiliar_dtype{};
};
const Familiarity& familiarity(const std::string& device, Runtime runtime);

// Parameters that some runtime needs on this device, with their sigma.
std::vector<UnfamiliarRow> unfamiliar_on(const std::string& device);

}  // namespace ridgeline
