// Work: what is to be computed and moved, counted without a machine in mind.
// Amounts, never rates; one MAC is two FLOP.
#pragma once

#include <vector>

#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline {

struct FlopCount {
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  double flop = 0;

  friend bool operator==(const FlopCount&, const FlopCount&) = default;
};

struct Work {
  // One entry per (unit, dtype), in that order; see add_flop. Integer dtypes count operations (OP).
  std::vector<FlopCount> flop;
  double macs = 0;  // multiply-accumulates of matrix products; each is two of the operations above
  double transcendentals = 0;  // exp, tanh, erf …; their FLOP are counted in `flop` as well
  // Every tensor once, at its own dtype. The four do not overlap: all that is read is the sum of
  // bytes_read and weight_bytes_read. Weights are apart since they do not grow with the batch.
  double bytes_read = 0;
  double bytes_written = 0;
  double weight_bytes_read = 0;
  double weight_bytes_written = 0;  // training only

  Work& operator+=(const Work& other);
  friend bool operator==(const Work&, const Work&) = default;
};

void add_flop(Work& work, Unit unit, DType dtype, double flop);

double total_bytes(const Work& work);        // all that is read and written, weights included
double total_flop(const Work& work);         // of floating dtypes
double total_operations(const Work& work);   // FLOP and integer operations
double total_integer_ops(const Work& work);  // of integer dtypes

Json to_json(const Work& work);
Work work_from_json(const JsonCursor& cursor);

}  // namespace ridgeline
