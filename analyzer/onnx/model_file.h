// ModelFile: an ONNX file on disk, with its external data files. The model's text points into this
// object, which must outlive it. Weights are not read; the elements of small tensors are, if a
// shape depends on them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/onnx/contents.h"
#include "analyzer/onnx/model.h"

namespace ridgeline::onnx {

class ModelFile {
 public:
  // Throws Error with the byte at which parsing failed; never allocates by a size that the file
  // merely claims. Checks that external files stay inside the model's folder (an Error otherwise),
  // exist and are long enough (a warning otherwise), without opening them.
  explicit ModelFile(const std::string& path);
  // From memory, for tests and fuzzing; without external files.
  ModelFile(std::string bytes, const std::string& name);
  ~ModelFile();
  ModelFile(ModelFile&&) noexcept;
  ModelFile& operator=(ModelFile&&) noexcept;

  const Model& model() const;
  const std::string& path() const;
  std::uint64_t bytes() const;  // of the file itself

  // The elements of a tensor, in order; nothing if they are not numbers or more than max_contents.
  // Throws Error if they are in an external file that cannot be read.
  std::optional<Contents> contents(const TensorProto& tensor) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ridgeline::onnx
