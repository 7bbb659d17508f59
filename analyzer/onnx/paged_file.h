// PagedFile: a file as one stretch of memory, of which only the pages that are asked for are read.
// Not a mapping of the file: Linux maps up to 2 MB around each byte that is touched in one, so that
// a few names between weights would count as the whole file; and a file that shrinks is an Error
// here, not the end of the process. A small file is read at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

namespace ridgeline::onnx {

class PagedFile {
 public:
  // Takes an open descriptor of a plain file and its size; `path` stands in errors.
  PagedFile(int descriptor, std::size_t bytes, std::string path);
  ~PagedFile();
  PagedFile(const PagedFile&) = delete;
  PagedFile& operator=(const PagedFile&) = delete;

  // The place of every byte of the file; zeros until load() was called for them.
  std::string_view bytes() const { return {begin_, size_}; }

  // Reads what is not there yet. Not for several threads at once.
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
  std::unordered_set<std::size_t> loaded_;  // pages; as few as there are, however long the file
  // A stretch that is known to be loaded, and how many pages to read at the next miss: few after a
  // jump over weights, more and more while the file is read in order.
  const char* loaded_begin_ = nullptr;
  const char* loaded_end_ = nullptr;
  const char* last_ = nullptr;  // end of what was asked for last
  std::size_t ahead_ = 8;
};

}  // namespace ridgeline::onnx
