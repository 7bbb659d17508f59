// Files that a storage measurement reads: one long file, or many small ones in random order.
// Writes them within limits of space and time, and reads them with some readers at once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/input/scratch_file.h"

namespace ridgeline::input {

struct ReadWindow {
  double bytes = 0, seconds = 0;
};

// How long writing may go on; at least one block or eight files are written.
struct WritingTime {
  double seconds = 0;
  std::function<bool()> interrupted;
};

class ReadSet {
 public:
  // Blocks of one file, read in order and past the page cache where the file system can do that.
  static ReadSet long_file(const std::string& folder, std::uint64_t bytes, std::uint64_t block,
                           const WritingTime& time);
  // Whole files in random order, each opened, read and closed as a loader does it.
  static ReadSet samples(const std::string& folder, std::size_t count, std::uint64_t bytes_each,
                         const WritingTime& time);

  // Readers take the next read in turn, until the time is up or all was read once. The page cache
  // is emptied before; `cached_share` remembers the largest part that stayed.
  ReadWindow read(int readers, double limit_s);

  std::uint64_t bytes_per_read() const { return bytes_per_read_; }
  std::size_t reads() const { return order_.size(); }
  double cached_share() const { return cached_share_; }
  bool cache_seen() const { return cache_seen_; }  // whether the system reports what is cached

 private:
  ReadSet(std::uint64_t bytes_per_read, bool whole_files)
      : bytes_per_read_(bytes_per_read), whole_files_(whole_files) {}
  void empty_cache();

  std::vector<ScratchFile> files_;
  std::uint64_t bytes_per_read_;
  bool whole_files_;
  std::vector<std::size_t> order_;  // blocks, or files
  std::size_t next_ = 0;            // in `order_`
  double cached_share_ = 0;
  bool cache_seen_ = true;
};

}  // namespace ridgeline::input
