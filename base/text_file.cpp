// Reads a file with plain POSIX calls: streams lose the reason of a failure.
// It does not interpret the bytes.
#include "base/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace ridgeline {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{1} << 30;

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

struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

}  // namespace

std::string read_text_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) throw Error("", "a file name with a zero byte in it");
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail_to_read(path, errno);
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail_to_read(path, errno);
  if (S_ISDIR(status.st_mode)) fail_to_read(path, EISDIR);

  std::string text;
  std::array<char, 65536> block;
  while (true) {
    const ssize_t got = ::read(file.number, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path, errno);
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > max_file_bytes) throw Error(path, "larger than 1 GiB");
  }
}

}  // namespace ridgeline
