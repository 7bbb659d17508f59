// Content is random, so that neither compression nor deduplication makes it smaller. It is synced
// while it is written: a slow medium then shows in the time, and pages can be dropped.
#include "kernels/input/read_set.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <numeric>
#include <thread>

#include "base/random.h"
#include "kernels/cpu/page_buffer.h"
#include "kernels/steady_clock.h"

namespace ridgeline::input {
namespace {

constexpr std::size_t files_per_sync = 32;  // the first one syncs most of what the others need
constexpr std::size_t least_files = 8;

void fill(std::vector<std::byte>& buffer, Random& random) {
  for (std::size_t i = 0; i < buffer.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(buffer.data() + i, &word, std::min(sizeof word, buffer.size() - i));
  }
}

// Whether there is time for more.
class Stopwatch {
 public:
  explicit Stopwatch(const WritingTime& time) : time_(time), start_(steady_seconds()) {}
  bool goes_on() const { return steady_seconds() - start_ < time_.seconds && !time_.interrupted(); }

 private:
  const WritingTime& time_;
  double start_;
};

std::vector<std::size_t> counted(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

struct alignas(64) Reader {
  double bytes = 0, start = 0, end = 0;
  std::exception_ptr fault;
};

}  // namespace

ReadSet ReadSet::long_file(const std::string& folder, std::uint64_t bytes, std::uint64_t block,
                           const WritingTime& time) {
  ReadSet set(block, false);
  ScratchFile file(folder);
  std::vector<std::byte> content(block);
  Random random;
  const Stopwatch stopwatch(time);
  do {
    fill(content, random);
    file.append(content);
    file.sync();
  } while (file.bytes() + block <= bytes && stopwatch.goes_on());
  file.drop_cache();
  file.read_directly();
  set.order_ = counted(file.bytes() / block);
  set.files_.push_back(std::move(file));
  return set;
}

ReadSet ReadSet::samples(const std::string& folder, std::size_t count, std::uint64_t bytes_each,
                         const WritingTime& time) {
  ReadSet set(bytes_each, true);
  std::vector<std::byte> content(bytes_each);
  Random random;
  const Stopwatch stopwatch(time);
  std::size_t synced = 0;
  while (synced == set.files_.size() && synced < count && (synced == 0 || stopwatch.goes_on())) {
    while (set.files_.size() < std::min(count, synced + files_per_sync)) {
      fill(content, random);
      ScratchFile file(folder);
      file.append(content);
      set.files_.push_back(std::move(file));
    }
    while (synced < set.files_.size() && (synced < least_files || stopwatch.goes_on()))
      set.files_[synced++].sync();
  }
  while (set.files_.size() > synced) set.files_.pop_back();  // what there was no time to sync
  set.order_ = counted(set.files_.size());
  for (std::size_t i = set.order_.size(); i > 1; --i)
    std::swap(set.order_[i - 1], set.order_[random.below(i)]);
  return set;
}

void ReadSet::empty_cache() {
  std::uint64_t cached = 0, bytes = 0;
  for (const ScratchFile& file : files_) {
    file.drop_cache();
    const auto held = file.cached_bytes();
    cache_seen_ = cache_seen_ && held.has_value();
    cached += std::min(held.value_or(0), file.bytes());
    bytes += file.bytes();
  }
  const double share = static_cast<double>(cached) / static_cast<double>(bytes);
  cached_share_ = std::max(cached_share_, share);
}

ReadWindow ReadSet::read(int readers, double limit_s) {
  empty_cache();
  std::atomic<std::size_t> taken{0};
  std::vector<Reader> team(static_cast<std::size_t>(readers));
  const auto work = [&](Reader& reader) {
    try {
      const cpu::PageBuffer memory(bytes_per_read_);
      const std::span buffer(memory.data(), memory.size());
      std::ranges::fill(buffer, std::byte{});  // pages are there before the time counts
      reader.start = steady_seconds();
      do {
        const std::size_t turn = taken.fetch_add(1);
        if (turn >= order_.size()) break;
        const std::size_t piece = order_[(next_ + turn) % order_.size()];
        if (whole_files_)
          files_[piece].read_whole(buffer);
        else
          files_.front().read_block(piece * bytes_per_read_, buffer);
        reader.bytes += static_cast<double>(bytes_per_read_);
        reader.end = steady_seconds();
      } while (reader.end - reader.start < limit_s);
    } catch (...) {
      reader.fault = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (Reader& reader : team) threads.emplace_back(work, std::ref(reader));
  }
  ReadWindow window;
  double first = 0, last = 0;
  for (const Reader& reader : team) {
    if (reader.fault) std::rethrow_exception(reader.fault);
    if (reader.bytes == 0) continue;  // the others were faster
    first = window.bytes == 0 ? reader.start : std::min(first, reader.start);
    last = std::max(last, reader.end);
    window.bytes += reader.bytes;
  }
  window.seconds = last - first;
  next_ = (next_ + std::min(taken.load(), order_.size())) % order_.size();
  return window;
}

}  // namespace ridgeline::input
