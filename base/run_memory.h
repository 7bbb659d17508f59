// RunMemory: the bytes that a run of a network holds at its peak, by purpose: an inference, or a
// training step. Counted from its tensors; what the runtime takes beside them is not in it.
#pragma once

namespace ridgeline {

struct RunMemory {
  double weights = 0;
  double master_weights = 0;  // fp32 copies, with mixed precision
  double gradients = 0;       // of parameters
  double optimizer_state = 0;
  double activations = 0;  // of the forward pass, with inputs and outputs
  double transient = 0;    // gradients of activations
  double caches = 0;       // keys and values that a decoder keeps between runs
  // The most activations held outside the forward pass: at the start of the backward pass, or with
  // checkpoints at the start of a segment.
  double saved = 0;
  // Of an inference: activations if no tensor took the place of one that is not needed any more.
  double unshared = 0;

  double peak() const {
    return weights + master_weights + gradients + optimizer_state + activations + transient +
           caches;
  }

  // Both at once, as of two networks on one machine.
  RunMemory& operator+=(const RunMemory& other) {
    weights += other.weights;
    master_weights += other.master_weights;
    gradients += other.gradients;
    optimizer_state += other.optimizer_state;
    activations += other.activations;
    transient += other.transient;
    caches += other.caches;
    saved += other.saved;
    unshared += other.unshared;
    return *this;
  }

  friend bool operator==(const RunMemory&, const RunMemory&) = default;
};

}  // namespace ridgeline
