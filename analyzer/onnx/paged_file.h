// PagedFile: a file as one stretch of memory, read page by page on demand. Not an mmap of the file:
// Linux maps up to 2 MB around each byte that is touched, so a few names between weights would
// count as the whole file; and a file that shrinks is an Error here instead of a SIGBUS. A small
// file is read at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

namespace ridgeline::onnx {

class PagedFile {
 public:
  // Takes over the open descriptor of a plain file of that size; `path` appears in errors.
  PagedFile(int descriptor, std::size_t bytes, std::string path);
  ~PagedFile();
  PagedFile(const PagedFile&) = delete;
  PagedFile& operator=(const PagedFile&) = delete;

  // Every byte of the file; zero until load() covers it.
  std::string_view bytes() const { return {begin_, size_}; }

  // Reads the pages that are missing. Not thread-safe.
  void load(const char* from, std::size_t count) {
    if (from < loaded_begin_ || from + count > loaded_end_) load_pages(from, count);
    last_ = from + count;
  }

 private:
  void load_pages(const char* from, std::size_t count);
  void read_pages(std::size_t first, std::size_t count);

  int descriptor_;
  std::size_t size_;
  std::string path_;
  char* begin_ = nullptr;
  std::unordered_set<std::size_t> loaded_;  // pages; a set, since few of a long file are loaded
  // A loaded stretch, and how many pages to read at the next miss: few after a jump over weights,
  // twice as many each time while the file is read in order.
  const char* loaded_begin_ = nullptr;
  const char* loaded_end_ = nullptr;
  const char* last_ = nullptr;  // end of the last request
  std::size_t ahead_ = 8;
};

}  // namespace ridgeline::onnx
