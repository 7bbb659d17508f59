// Reserves address space for the whole file and fills it page by page. Untouched address space
// costs no memory.
#include "analyzer/onnx/paged_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace ridgeline::onnx {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t max_ahead = 64;

}  // namespace

PagedFile::PagedFile(int descriptor, std::size_t bytes, std::string path)
    : descriptor_(descriptor), size_(bytes), path_(std::move(path)) {
  // A small file is read as a whole, so all of its memory is mapped at once.
  const bool is_small = size_ <= max_ahead * page_bytes;
  if (is_small) ahead_ = max_ahead;
  void* address =
      ::mmap(nullptr, size_, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (is_small ? MAP_POPULATE : 0), -1, 0);
  if (address == MAP_FAILED) {
    const int reason = errno;
    ::close(descriptor_);
    throw Error(path_, fmt::format("no {} bytes of address space for it: {}", size_,
                                   std::generic_category().message(reason)));
  }
  // A huge page would be zero-filled around every page that is read.
  ::madvise(address, size_, MADV_NOHUGEPAGE);
  begin_ = static_cast<char*>(address);
  loaded_begin_ = loaded_end_ = last_ = begin_;
  ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_RANDOM);  // no readahead from disk either
}

PagedFile::~PagedFile() {
  ::munmap(begin_, size_);
  ::close(descriptor_);
}

void PagedFile::read_pages(std::size_t first, std::size_t count) {
  const std::size_t from = first * page_bytes;
  const std::size_t end = std::min(size_, from + count * page_bytes);
  for (std::size_t at = from; at < end;) {
    const ssize_t got = ::pread(descriptor_, begin_ + at, end - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(path_, std::generic_category().message(errno));
    if (got == 0) throw Error(path_, fmt::format("ends at byte {}, had {} when opened", at, size_));
    at += static_cast<std::size_t>(got);
  }
  for (std::size_t page = first; page < first + count; ++page) loaded_.insert(page);
}

void PagedFile::load_pages(const char* from, std::size_t count) {
  if (count == 0) return;
  const auto offset = static_cast<std::size_t>(from - begin_);
  const std::size_t first = offset / page_bytes;
  const std::size_t last = (offset + count - 1) / page_bytes;
  const char* page_start = begin_ + first * page_bytes;
  const bool in_order =
      page_start == loaded_end_ && loaded_end_ - last_ < static_cast<std::ptrdiff_t>(page_bytes);
  ahead_ = in_order ? std::min(ahead_ * 2, max_ahead) : 1;
  // Loads everything from `first` to `end`, in runs of pages that are not loaded yet.
  const std::size_t page_count = (size_ + page_bytes - 1) / page_bytes;
  const std::size_t end = std::min(page_count, std::max(last + 1, first + ahead_));
  for (std::size_t page = first; page < end;) {
    std::size_t stop = page;
    while (stop < end && !loaded_.contains(stop)) ++stop;
    if (stop > page) read_pages(page, stop - page);
    page = std::max(stop, page + 1);
  }
  if (!in_order) loaded_begin_ = page_start;
  loaded_end_ = begin_ + std::min(size_, end * page_bytes);
}

}  // namespace ridgeline::onnx
