// Reads a file with plain POSIX calls: streams lose the reason of a failure.
// It does not interpret the bytes.
#include "base/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "base/error.h"

namespace ridgeline {
namespace {

[[noreturn]] void fail_to_read(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
      throw Error(path, "no such file");
    case EISDIR:
      throw Error(path, "is a directory", "name a file in it");
    case EACCES:
      throw Error(path, "permission denied");
    default:
      throw Error(path, std::generic_category().message(error_number));
  }
}

Error too_long(const std::string& path, std::size_t max_bytes) {
  return {path, "larger than " + std::to_string(max_bytes >> 20) + " MiB"};
}

struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

}  // namespace

std::string read_text_file(const std::string& path, std::size_t max_bytes) {
  if (path.find('\0') != std::string::npos) throw Error("", "a file name with a zero byte in it");
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail_to_read(path, errno);
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail_to_read(path, errno);
  if (S_ISDIR(status.st_mode)) fail_to_read(path, EISDIR);

  if (S_ISREG(status.st_mode) && static_cast<std::uint64_t>(status.st_size) > max_bytes)
    throw too_long(path, max_bytes);

  std::string text;
  std::array<char, 65536> block;
  while (true) {
    const ssize_t got = ::read(file.number, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path, errno);
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > max_bytes) throw too_long(path, max_bytes);
  }
}

}  // namespace ridgeline
