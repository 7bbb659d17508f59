// Finds, checks and reads external data files. Symbolic links are followed; the check applies to
// their target.
#include "analyzer/onnx/external_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

namespace fs = std::filesystem;

struct FileState {
  bool present = false;
  std::uint64_t bytes = 0;
};

FileState state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {true, static_cast<std::uint64_t>(status.st_size)};
}

// End of a tensor in its file; the largest number on overflow.
std::uint64_t end_of(const TensorProto& tensor) {
  constexpr auto beyond = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t length = 0;
  if (tensor.external->length) {
    length = *tensor.external->length;
  } else {
    const double bytes = storage_bytes(tensor.type, tensor.elements).value_or(0);
    if (bytes >= 0x1p63) return beyond;
    length = static_cast<std::uint64_t>(bytes);
  }
  return length > beyond - tensor.external->offset ? beyond : tensor.external->offset + length;
}

void collect(const GraphProto& graph, std::vector<const TensorProto*>& tensors);

void collect(std::span<const Node> nodes, std::vector<const TensorProto*>& tensors) {
  for (const Node& node : nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.tensor && attribute.tensor->external) tensors.push_back(attribute.tensor);
      if (attribute.graph) collect(*attribute.graph, tensors);
      for (const auto& graph : attribute.graphs) collect(*graph, tensors);
    }
  }
}

void collect(const GraphProto& graph, std::vector<const TensorProto*>& tensors) {
  for (const TensorProto& tensor : graph.initializers)
    if (tensor.external) tensors.push_back(&tensor);
  collect(graph.nodes, tensors);
}

std::vector<const TensorProto*> external_tensors(const Model& model) {
  std::vector<const TensorProto*> tensors;
  collect(model.graph, tensors);
  for (const FunctionProto& function : model.functions) collect(function.nodes, tensors);
  return tensors;
}

std::string tensors_text(std::size_t count, const TensorProto& first) {
  return count == 1 ? fmt::format("tensor {}", quote(first.name))
                    : fmt::format("{} tensors, the first is {}", count, quote(first.name));
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_open() const { return number_ >= 0; }
  // Bytes read; fewer than `count` at the end of the file or on failure (errno).
  std::size_t read(char* to, std::size_t count, std::uint64_t offset) const {
    std::size_t done = 0;
    while (done < count) {
      const ssize_t got =
          ::pread(number_, to + done, count - done, static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

 private:
  int number_;
};

}  // namespace

ExternalFiles::ExternalFiles(std::string model_path) : model_path_(std::move(model_path)) {}

void ExternalFiles::fail(const TensorProto& tensor, const std::string& what,
                         const std::string& fix) const {
  throw Error(model_path_,
              fmt::format("tensor {}: external data {}: {}", quote(tensor.name),
                          quote(tensor.external->location), what),
              fix);
}

std::string ExternalFiles::resolve(const TensorProto& tensor) const {
  const std::string location(tensor.external->location);
  const std::string fix = "put the data into the folder of the model";
  if (location.find('\0') != std::string::npos) fail(tensor, "a file name with a zero byte in it");
  if (fs::path(location).is_absolute()) fail(tensor, "an absolute path", fix);
  const fs::path plain = fs::path(location).lexically_normal();
  if (*plain.begin() == "..") fail(tensor, "leaves the folder of the model", fix);

  std::error_code error;
  const fs::path parent = fs::path(model_path_).parent_path();
  const fs::path folder = fs::canonical(parent.empty() ? fs::path(".") : parent, error);
  if (error) fail(tensor, error.message());
  const fs::path resolved = fs::weakly_canonical(folder / plain, error);
  if (error) fail(tensor, error.message());
  const fs::path inside = resolved.lexically_relative(folder);
  if (inside.empty() || *inside.begin() == "..")
    fail(tensor,
         fmt::format("leads to {}, outside of the model's folder", quote(resolved.string())), fix);
  return resolved.string();
}

std::vector<std::string> ExternalFiles::check(const Model& model) const {
  struct Findings {
    FileState file;
    std::size_t missing = 0;  // tensors that are missing or cut off
    std::uint64_t end = 0;
    const TensorProto* first = nullptr;
  };
  std::map<std::string_view, Findings> locations;
  for (const TensorProto* tensor : external_tensors(model)) {
    const auto [row, added] = locations.try_emplace(tensor->external->location);
    Findings& findings = row->second;
    if (added) findings.file = state_of(resolve(*tensor));
    const std::uint64_t end = end_of(*tensor);
    if (findings.file.present && end <= findings.file.bytes) continue;
    if (findings.missing++ == 0) findings.first = tensor;
    findings.end = std::max(findings.end, end);
  }
  // Exporters of large models write one file per tensor; too many for a line each.
  constexpr std::size_t named = 3;
  std::size_t absent = 0, tensors = 0;
  std::string_view first_absent;
  for (const auto& [location, findings] : locations) {
    if (findings.missing == 0 || findings.file.present) continue;
    if (absent++ == 0) first_absent = location;
    tensors += findings.missing;
  }
  std::vector<std::string> warnings;
  if (absent > named)
    warnings.push_back(fmt::format("external data is missing: {} files with {} tensors, such as {}",
                                   absent, tensors, quote(first_absent)));
  for (const auto& [location, findings] : locations) {
    if (findings.missing == 0 || (!findings.file.present && absent > named)) continue;
    const std::string who = tensors_text(findings.missing, *findings.first);
    warnings.push_back(findings.file.present
                           ? fmt::format("external data {} has {} bytes, {} needed ({})",
                                         quote(location), findings.file.bytes, findings.end, who)
                           : fmt::format("external data {} is missing ({})", quote(location), who));
  }
  return warnings;
}

std::string ExternalFiles::read(const TensorProto& tensor) const {
  const double needed = storage_bytes(tensor.type, tensor.elements).value_or(0);
  std::string bytes(static_cast<std::size_t>(needed), '\0');
  const std::string path = resolve(tensor);
  if (!state_of(path).present)
    fail(tensor, "is missing, and shapes depend on its values", "put it beside the model");
  if (tensor.external->offset > std::numeric_limits<std::int64_t>::max() - bytes.size())
    fail(tensor, fmt::format("offset {} is beyond any file", tensor.external->offset));
  const OpenFile file(path);
  if (!file.is_open()) fail(tensor, std::generic_category().message(errno));
  errno = 0;
  const std::size_t got = file.read(bytes.data(), bytes.size(), tensor.external->offset);
  if (got != bytes.size())
    fail(tensor, errno != 0 ? std::generic_category().message(errno)
                            : fmt::format("ends before byte {}, and shapes depend on its values",
                                          end_of(tensor)));
  return bytes;
}

}  // namespace ridgeline::onnx
