// Maps a model's file, reads it, and looks after the files that its weights are in.
// A file that shrinks while it is mapped ends the process, as with every mapped file.
#include "analyzer/onnx/model_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "analyzer/onnx/external_data.h"
#include "analyzer/onnx/tensor_data.h"
#include "base/error.h"
#include "base/text_file.h"

namespace ridgeline::onnx {
namespace {

class Mapping {
 public:
  Mapping() = default;
  Mapping(int descriptor, std::size_t bytes, const std::string& path) {
    void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) throw Error(path, std::generic_category().message(errno));
    bytes_ = {static_cast<const char*>(address), bytes};
    // Between the weights lie a few bytes each: reading ahead would load the weights.
    ::madvise(address, bytes, MADV_RANDOM);
  }
  ~Mapping() {
    if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

// The file's bytes: mapped where it is a plain file, else (a pipe) read into `text`.
Mapping map_file(const std::string& path, std::string& text) {
  if (path.find('\0') != std::string::npos) throw Error("", "a file name with a zero byte in it");
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode)) {
    text = read_text_file(path);
    return {};
  }
  if (status.st_size == 0) return {};
  return Mapping(file.number, static_cast<std::size_t>(status.st_size), path);
}

}  // namespace

struct ModelFile::Implementation {
  Mapping mapping;
  std::string text;  // where there is no mapping
  WireSource source;
  Model model;
  std::optional<ExternalFiles> external;

  void read() {
    source.bytes = mapping.bytes().empty() ? std::string_view(text) : mapping.bytes();
    model = read_model(source.bytes, source.name);
  }
};

ModelFile::ModelFile(const std::string& path)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  self.source.name = path;
  self.mapping = map_file(path, self.text);
  self.read();
  self.external.emplace(path);
  for (std::string& warning : self.external->check(self.model))
    self.model.warnings.push_back(std::move(warning));
}

ModelFile::ModelFile(std::string bytes, const std::string& name)
    : implementation_(std::make_unique<Implementation>()) {
  Implementation& self = *implementation_;
  self.source.name = name;
  self.text = std::move(bytes);
  self.read();
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
  const auto count = static_cast<std::uint64_t>(element_count(tensor.dims));
  if (count > max_contents || bits(tensor.type) == 0) return std::nullopt;
  if (!self.external)
    throw Error(path(), "a model in memory has no external data, and shapes depend on it");
  return decode_raw(tensor.type, count, self.external->read(tensor));
}

}  // namespace ridgeline::onnx
