// ModelFile: an ONNX file on disk, with the files that its weights are in.
// The model's text points into it, so it lives as long as this. Weights are not read; the elements
// of a small tensor are, when a shape depends on them.
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
  // Throws Error with the byte where the file stopped making sense; nothing is allocated from a
  // number that it claims. Checks that external files stay inside the model's folder (an Error
  // otherwise), exist and are long enough (a warning otherwise); it does not open them.
  explicit ModelFile(const std::string& path);
  // The same from memory, for tests and fuzzing: there are no external files.
  ModelFile(std::string bytes, const std::string& name);
  ~ModelFile();
  ModelFile(ModelFile&&) noexcept;
  ModelFile& operator=(ModelFile&&) noexcept;

  const Model& model() const;
  const std::string& path() const;
  std::uint64_t bytes() const;  // of the file itself

  // The elements of a tensor, in order, where it has at most max_contents of them and they are
  // numbers. Throws Error if they are in an external file that cannot be read.
  std::optional<Contents> contents(const TensorProto& tensor) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace ridgeline::onnx
