// A temporary file without a name: it is gone when its object is, or the process, however that
// ends. Knows how to empty its part of the page cache and reports whether that worked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ridgeline::input {

class ScratchFile {
 public:
  // In `folder`; throws an Error that names it where no file can be made there.
  explicit ScratchFile(const std::string& folder);
  ~ScratchFile();
  ScratchFile(ScratchFile&& other) noexcept;
  ScratchFile& operator=(ScratchFile&& other) noexcept;

  void append(std::span<const std::byte> content);  // throws Error where the disk is full
  void sync();                                      // until the medium has it

  // Asks the system to forget what it keeps of the file; pages must have been synced.
  void drop_cache() const;
  // Bytes of the file, in whole pages, that the page cache holds; nullopt where that is not said.
  std::optional<std::uint64_t> cached_bytes() const;
  // From now on past the page cache, in blocks of whole pages; false where the file system cannot.
  bool read_directly();

  // As a loader reads a sample: open, read all of it, close. `buffer` holds the whole file.
  void read_whole(std::span<std::byte> buffer) const;
  void read_block(std::uint64_t offset, std::span<std::byte> buffer) const;

  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

// Bytes that files in a folder may still take.
std::uint64_t free_bytes(const std::string& folder);

}  // namespace ridgeline::input
