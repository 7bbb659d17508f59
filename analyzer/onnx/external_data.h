// External data: files beside a model that hold the elements of its large tensors. Locations come
// from the file and are not trusted: they must stay inside the model's folder.
#pragma once

#include <string>
#include <vector>

#include "analyzer/onnx/model.h"

namespace ridgeline::onnx {

class ExternalFiles {
 public:
  // `model_path` appears in errors; locations are relative to its folder.
  explicit ExternalFiles(std::string model_path);

  // Checks the file of every external tensor without opening it: an Error if a location leaves the
  // folder, a warning for each file that is missing or too short.
  std::vector<std::string> check(const Model& model) const;

  // The bytes of one tensor; an Error if they cannot be read.
  std::string read(const TensorProto& tensor) const;

 private:
  std::string resolve(const TensorProto& tensor) const;
  [[noreturn]] void fail(const TensorProto& tensor, const std::string& what,
                         const std::string& fix = {}) const;

  std::string model_path_;
};

}  // namespace ridgeline::onnx
