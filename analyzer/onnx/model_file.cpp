// Opens and reads a model's file and locates its external data. reader.cpp parses the messages;
// weights are never read.
#include "analyzer/onnx/model_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "analyzer/onnx/external_data.h"
#include "analyzer/onnx/paged_file.h"
#include "analyzer/onnx/reader.h"
#include "analyzer/onnx/tensor_data.h"
#include "base/error.h"
#include "base/text_file.h"

namespace ridgeline::onnx {
namespace {

// An open, non-empty plain file; null for a folder or a missing file. Pipes are not opened here:
// that works only once.
std::unique_ptr<PagedFile> open_plain_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return nullptr;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
    return std::make_unique<PagedFile>(descriptor, static_cast<std::size_t>(status.st_size), path);
  ::close(descriptor);
  return nullptr;
}

}  // namespace

struct ModelFile::Implementation {
  std::unique_ptr<PagedFile> file;
  std::string text;  // content, if there is no plain file
  WireSource source;
  Model model;
  std::optional<ExternalFiles> external;
};

ModelFile::ModelFile(const std::string& path)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  if (path.find('\0') == std::string::npos) self.file = open_plain_file(path);
  if (self.file == nullptr) self.text = read_text_file(path, max_piped_model_bytes);
  self.source = {self.file != nullptr ? self.file->bytes() : std::string_view(self.text), path,
                 self.file.get()};
  self.model = read_model(self.source);
  self.external.emplace(path);
  for (std::string& warning : self.external->check(self.model))
    self.model.warnings.push_back(std::move(warning));
}

ModelFile::ModelFile(std::string bytes, const std::string& name)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  self.text = std::move(bytes);
  self.source = {self.text, name};
  self.model = read_model(self.source);
}

ModelFile::~ModelFile() = default;
ModelFile::ModelFile(ModelFile&&) noexcept = default;
ModelFile& ModelFile::operator=(ModelFile&&) noexcept = default;

const Model& ModelFile::model() const { return implementation_->model; }
const std::string& ModelFile::path() const { return implementation_->source.name; }
std::uint64_t ModelFile::bytes() const { return implementation_->source.bytes.size(); }

std::optional<Contents> ModelFile::contents(const TensorProto& tensor) const {
  const Implementation& self = *implementation_;
  if (!tensor.external) return decode_message(tensor, self.source);
  if (!may_have_contents(tensor)) return std::nullopt;
  if (!self.external)
    throw Error(path(), "a model in memory has no external data, and shapes depend on it");
  return decode_raw(tensor, self.external->read(tensor));
}

}  // namespace ridgeline::onnx
