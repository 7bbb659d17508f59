// A batch other than the file's: exporters write the batch of the example input into constants,
// and these functions find where it must be replaced. They compare each shape with the one that the
// same tensor has at the file's own batch; what differs carries the batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/graph/shape.h"
#include "base/error.h"

namespace ridgeline::onnx {

// Shapes of all values at the batch of the file, in the order in which the walk makes them.
struct FileShapes {
  struct Entry {
    std::string_view name;
    std::optional<Shape> shape;
  };
  std::vector<Entry> values;

  // Null if the walk made another value at this place, or one without a shape.
  const Shape* find(std::size_t id, std::string_view name) const {
    if (id >= values.size() || values[id].name != name || !values[id].shape) return nullptr;
    return &*values[id].shape;
  }
};

// The one axis whose size differs from that in the file; nothing if none or several do.
std::optional<std::size_t> batch_axis(const Shape& in_file, const Shape& now);

// How to read the constant target of a Reshape, of which several readings may fit: at a batch of 1,
// 1x1x96 can be batch × steps or steps × batch.
enum class ReshapeReading {
  as_written,   // of a file of free batch, if its elements fit; otherwise as batch_first
  batch_first,  // the batch of the file is meant, and stands as far left as it can
  steps_first   // … as far right as it can, or stays at its axis: torch's MultiheadAttention
};

// Thrown where the batch gets lost; the next reading may keep it.
class BatchLost : public Error {
 public:
  using Error::Error;
};

// The target of a Reshape at another batch: from `file_from` to `file_to` in the file, from `from`
// now. `file_batch` is the file's batch. Nothing if `from` does not differ in exactly one axis, or
// no dimension of the target can hold the change.
std::optional<Shape> followed_reshape(const Shape& file_from, const Shape& file_to,
                                      const Shape& from, std::int64_t file_batch,
                                      ReshapeReading reading = ReshapeReading::batch_first);

// The shape that an input without the batch must have beside another that has it: an input of which
// the exporter kept one copy for each element of the file's batch (states, class tokens, masks).
// Nothing if no axis matches.
std::optional<Shape> repeated_shape(const Shape& shape, const Shape& carrier_in_file,
                                    const Shape& carrier);

}  // namespace ridgeline::onnx
