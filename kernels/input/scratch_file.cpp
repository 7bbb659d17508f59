// O_TMPFILE where the file system has it, else a file that loses its name at once. Plain POSIX,
// since streams know neither the page cache nor why they failed.
#include "kernels/input/scratch_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"

namespace ridgeline::input {
namespace {

[[noreturn]] void fail(const std::string& folder, const std::string& what, int error_number) {
  // /proc calls files that it does not let one make missing.
  std::error_code ignored;
  if (error_number == ENOENT && std::filesystem::exists(folder, ignored)) error_number = EPERM;
  switch (error_number) {
    case ENOENT:
      throw Error(folder, "no such directory", "give an existing one with --path");
    case ENOTDIR:
      throw Error(folder, "is not a directory", "give one with --path");
    case EACCES:
    case EPERM:
      throw Error(folder, "cannot be written, permission denied", "give another --path");
    case EROFS:
      throw Error(folder, "cannot be written, the file system is read-only", "give another --path");
    case ENOSPC:
    case EDQUOT:
      throw Error(folder, "no space left for temporary files", "give another --path");
    case EMFILE:
    case ENFILE:
      throw Error(folder, "too many open files", "raise the limit: ulimit -n");
    default:
      throw Error(folder, what + ", " + std::generic_category().message(error_number));
  }
}

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

int open_nameless(const std::string& folder) {
#ifdef O_TMPFILE
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0) return descriptor;
#endif
  std::string name = folder + "/.ridgeline-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named < 0) fail(folder, "no temporary file can be made here", errno);
  ::unlink(name.c_str());
  return named;
}

// Reads until the buffer is full.
void read_fully(const std::string& folder, int descriptor, std::uint64_t offset,
                std::span<std::byte> buffer) {
  while (!buffer.empty()) {
    const ssize_t got =
        ::pread(descriptor, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(folder, "a temporary file cannot be read", errno);
    if (got == 0) throw Error(folder, "a temporary file is shorter than it was written");
    offset += static_cast<std::uint64_t>(got);
    buffer = buffer.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

ScratchFile::ScratchFile(const std::string& folder)
    : folder_(folder), descriptor_(open_nameless(folder)) {}

ScratchFile::~ScratchFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept { *this = std::move(other); }

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void ScratchFile::append(std::span<const std::byte> content) {
  while (!content.empty()) {
    const ssize_t wrote = ::write(descriptor_, content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail(folder_, "a temporary file cannot be written", errno);
    bytes_ += static_cast<std::uint64_t>(wrote);
    content = content.subspan(static_cast<std::size_t>(wrote));
  }
}

void ScratchFile::sync() {
  if (::fdatasync(descriptor_) != 0) fail(folder_, "a temporary file cannot be synced", errno);
}

void ScratchFile::drop_cache() const { ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED); }

std::optional<std::uint64_t> ScratchFile::cached_bytes() const {
  if (bytes_ == 0) return 0;
  void* const mapping = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (mapping == MAP_FAILED) return std::nullopt;
  std::vector<unsigned char> pages((bytes_ + page_bytes() - 1) / page_bytes());
  const bool told = ::mincore(mapping, bytes_, pages.data()) == 0;
  ::munmap(mapping, bytes_);
  if (!told) return std::nullopt;
  std::uint64_t cached = 0;
  for (const unsigned char state : pages) cached += state & 1u;
  return cached * page_bytes();
}

bool ScratchFile::read_directly() {
  const int flags = ::fcntl(descriptor_, F_GETFL);
  if (flags < 0 || ::fcntl(descriptor_, F_SETFL, flags | O_DIRECT) != 0) return false;
  // Some accept the flag and then refuse to read.
  const std::unique_ptr<void, decltype(&std::free)> page(
      std::aligned_alloc(page_bytes(), page_bytes()), &std::free);
  if (page && ::pread(descriptor_, page.get(), page_bytes(), 0) > 0) return true;
  ::fcntl(descriptor_, F_SETFL, flags);
  return false;
}

void ScratchFile::read_whole(std::span<std::byte> buffer) const {
  // The name that /proc keeps opens the file anew; without /proc the open one will do.
  const std::string name = "/proc/self/fd/" + std::to_string(descriptor_);
  const int fresh = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  const struct Closing {
    int descriptor;
    ~Closing() {
      if (descriptor >= 0) ::close(descriptor);
    }
  } closing{fresh};
  read_fully(folder_, fresh >= 0 ? fresh : descriptor_, 0, buffer.first(bytes_));
}

void ScratchFile::read_block(std::uint64_t offset, std::span<std::byte> buffer) const {
  read_fully(folder_, descriptor_, offset, buffer);
}

std::uint64_t free_bytes(const std::string& folder) {
  struct statvfs facts {};
  if (::statvfs(folder.c_str(), &facts) != 0) fail(folder, "cannot be looked at", errno);
  return static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
}

}  // namespace ridgeline::input
