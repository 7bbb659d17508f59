// External data: files beside a model that hold the elements of its large tensors.
// A location comes from the file, so it is not believed: it must stay in the model's folder.
#pragma once

#include <string>
#include <vector>

#include "analyzer/onnx/model.h"

namespace ridgeline::onnx {

class ExternalFiles {
 public:
  // `model_path` stands in errors; its folder is what locations are relative to.
  explicit ExternalFiles(std::string model_path);

  // Looks at the file of every external tensor of the model, without opening it: an Error where a
  // location leaves the folder, a line for each file that is missing or too short.
  std::vector<std::string> check(const Model& model) const;

  // The bytes of one tensor; an Error where they cannot be read.
  std::string read(const TensorProto& tensor) const;

 private:
  std::string resolve(const TensorProto& tensor) const;
  [[noreturn]] void fail(const TensorProto& tensor, const std::string& what,
                         const std::string& fix = {}) const;

  std::string model_path_;
};

}  // namespace ridgeline::onnx
