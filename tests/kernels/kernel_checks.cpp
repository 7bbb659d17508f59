// Arrays lie between inaccessible pages, so that an access out of bounds ends the process; and a
// child with its last page removed must crash, or the kernel has not walked to the end.
#include "tests/kernels/kernel_checks.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>

#include "kernels/cpu/small_floats.h"
#include "kernels/cpu/state.h"
#include "tests/kernels/reference.h"

namespace ridgeline::testing {
namespace {

using cpu::Kernel;
using cpu::Recurrence;
using cpu::Role;
using Bytes = std::vector<std::byte>;
using Problems = std::vector<std::string>;

struct alignas(64) Line {
  std::byte bytes[64];
};

// A kernel's state, aligned to 64 bytes.
class State {
 public:
  State(const Kernel& kernel, std::uint64_t seed)
      : size_(cpu::state_bytes(kernel)), lines_(size_ / sizeof(Line) + 1) {
    cpu::prepare_state(kernel, data(), seed);
  }
  std::byte* data() { return lines_[0].bytes; }
  std::span<const std::byte> bytes() { return {data(), size_}; }

 private:
  std::size_t size_;
  std::vector<Line> lines_;
};

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::size_t page_bytes() { return std::size_t(sysconf(_SC_PAGESIZE)); }

// Arrays of whole pages with an inaccessible page before, between and after them.
class GuardedArrays {
 public:
  GuardedArrays(int count, std::size_t bytes)
      : count_(std::size_t(count)), bytes_(bytes), size_(count_ * pitch() + page_bytes()) {
    void* const start =
        mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::runtime_error("no memory for the arrays of a check");
    start_ = static_cast<std::byte*>(start);
    for (int i = 0; i < count; ++i) mprotect(array(i), bytes_, PROT_READ | PROT_WRITE);
  }
  GuardedArrays(const GuardedArrays&) = delete;
  GuardedArrays& operator=(const GuardedArrays&) = delete;
  ~GuardedArrays() { munmap(start_, size_); }

  std::size_t bytes() const { return bytes_; }
  std::size_t pitch() const { return bytes_ + page_bytes(); }
  std::byte* array(int i) { return start_ + page_bytes() + std::size_t(i) * pitch(); }
  std::span<const std::byte> contents(int i) { return {array(i), bytes_}; }
  void take_last_page(int i) {
    mprotect(array(i) + bytes_ - page_bytes(), page_bytes(), PROT_NONE);
  }

 private:
  std::size_t count_, bytes_, size_;
  std::byte* start_ = nullptr;
};

// Distinct numbers between 0.1 and 1.15: start values for any recurrence.
void fill_with_numbers(DType dtype, std::byte* data, std::size_t bytes, int seed) {
  const std::size_t width = dtype == DType::fp64 ? 8 : 4;
  const std::size_t count = bytes / width;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = 0.1 + 1.05 * (double(i) + 0.1 * seed) / double(count);
    const float narrow = float(value);
    if (dtype == DType::fp64)
      std::memcpy(data + i * width, &value, width);
    else
      std::memcpy(data + i * width, &narrow, width);
  }
}

float number_at(const Bytes& bytes, std::size_t index) {
  float value;
  std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
  return value;
}

// The signal that ends a child that runs the kernel once over the arrays; 0 if none.
int signal_of_a_pass(const Kernel& kernel, GuardedArrays& arrays) {
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a child process");
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into an exit code
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    kernel.body(1, arrays.array(0), arrays.bytes(), arrays.pitch());
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

Problems check_compute(const Kernel& kernel) {
  Problems problems;
  for (const std::uint64_t trips : {1u, 2u, 7u}) {
    State found(kernel, trips), expected(kernel, trips), before(kernel, trips);
    kernel.body(trips, found.data(), 0, 0);
    cpu::run_reference(kernel, trips, expected.data());
    const std::string after = " after " + std::to_string(trips) + " trips";
    if (!same(found.bytes(), expected.bytes()))
      problems.push_back("other state than expected" + after);
    if (same(found.bytes(), before.bytes())) problems.push_back("same state as before" + after);
  }
  return problems;
}

Problems check_clock(const Kernel& kernel) {
  State state(kernel, 1), before(kernel, 1);
  kernel.body(100, state.data(), 0, 0);
  if (!same(state.bytes(), before.bytes())) return {"writes to its state"};
  return {};
}

Problems check_latency(const Kernel& kernel) {
  constexpr std::size_t places = 37;
  void* next[places];
  for (std::size_t i = 0; i < places; ++i) next[i] = &next[(i + 11) % places];
  void* position = &next[5];
  kernel.body(3, &position, 0, 0);
  const std::size_t expected = (5 + 11 * 3 * std::size_t(kernel.loads)) % places;
  if (position != &next[expected]) return {"does not end where the chain leads"};
  return {};
}

// After a write: the first block of the first array over and over, or its first line where a kernel
// has several streams or a page per trip.
Bytes written(const Kernel& kernel, const Bytes& first) {
  constexpr std::size_t line = 64;
  const bool repeats_a_line = kernel.arrays > 1 || kernel.prefetches > 0;
  const std::size_t period = repeats_a_line ? line : std::size_t(kernel.block_bytes());
  Bytes expected = first;
  for (std::size_t i = period; i < expected.size(); ++i) expected[i] = expected[i - period];
  return expected;
}

// Expected contents of the first array after a pass.
Bytes streamed(const Kernel& kernel, const std::vector<Bytes>& before) {
  Bytes expected = before[0];
  switch (kernel.direction) {
    case Direction::read:
    case Direction::update:
    case Direction::random:  // GPU kernels only; it reads
      break;
    case Direction::write:
    case Direction::nt_write:
      return written(kernel, before[0]);
    case Direction::copy:
      return before[1];
    case Direction::triad: {
      const bool fused = kernel.mnemonics.find("mul") == std::string_view::npos;
      for (std::size_t i = 0; i < expected.size() / sizeof(float); ++i) {
        const float b = number_at(before[1], i), c = number_at(before[2], i);
        volatile float product = 3 * c;  // prevents contraction into an FMA
        const float value = fused ? std::fma(3.0f, c, b) : product + b;
        std::memcpy(expected.data() + i * sizeof value, &value, sizeof value);
      }
      break;
    }
  }
  return expected;
}

// A sweep stores the results of the last block at the pitch.
Bytes swept(const Kernel& kernel, const Bytes& array) {
  Kernel compute = kernel;  // the same steps as a compute kernel on this block
  compute.chains = kernel.loads;
  compute.role = Role::compute;
  State state(compute, 1);
  const auto block = std::size_t(kernel.block_bytes());
  std::byte* const chains = state.data() + cpu::state_bytes(compute) - block;
  std::memcpy(chains, array.data() + array.size() - block, block);
  cpu::run_reference(compute, 1, state.data());
  return Bytes(chains, chains + block);
}

Problems check_streams(const Kernel& kernel) {
  Problems problems;
  const auto block = std::size_t(kernel.block_bytes());
  const bool sweeps = kernel.role == Role::sweep;
  const int count = kernel.arrays + (sweeps ? 1 : 0);
  // Whole pages and whole blocks, so that guard pages are adjacent at both ends.
  GuardedArrays arrays(count, 2 * std::lcm(block, page_bytes()));
  std::vector<Bytes> before;
  for (int i = 0; i < count; ++i) {
    fill_with_numbers(kernel.dtype, arrays.array(i), arrays.bytes(), i);
    const auto contents = arrays.contents(i);
    before.emplace_back(contents.begin(), contents.end());
  }
  kernel.body(2, arrays.array(0), arrays.bytes(), arrays.pitch());

  std::vector<Bytes> expected = before;
  if (sweeps) {
    const Bytes results = swept(kernel, before[0]);
    std::copy(results.begin(), results.end(), expected[1].begin());
  } else {
    expected[0] = streamed(kernel, before);
    // A write has nothing but targets.
    if (kernel.loads == 0) std::fill(expected.begin() + 1, expected.end(), expected[0]);
  }
  for (int i = 0; i < count; ++i)
    if (!same(arrays.contents(i), expected[std::size_t(i)]))
      problems.push_back("array " + std::to_string(i) + " does not hold what it must");

  for (int i = 0; i < kernel.arrays; ++i) {
    GuardedArrays shortened(count, arrays.bytes());
    shortened.take_last_page(i);
    if (signal_of_a_pass(kernel, shortened) != SIGSEGV)
      problems.push_back("does not reach the last page of array " + std::to_string(i));
  }
  return problems;
}

// The floating-point values of the chains, at the end of the state.
std::vector<double> chain_values(const Kernel& kernel, State& state) {
  const auto bytes = state.bytes();
  const auto chain_bytes = std::size_t(kernel.chains) * std::size_t(kernel.access_bytes);
  const DType dtype = kernel.accumulate;
  const std::size_t width = dtype == DType::fp64 ? 8 : dtype == DType::fp16 ? 2 : 4;
  std::vector<double> values;
  for (std::size_t at = bytes.size() - chain_bytes; at < bytes.size(); at += width) {
    double wide;
    float narrow;
    std::uint16_t half;
    if (dtype == DType::fp64) {
      std::memcpy(&wide, &bytes[at], width);
    } else if (dtype == DType::fp16) {
      std::memcpy(&half, &bytes[at], width);
      wide = cpu::from_fp16(half);
    } else {
      std::memcpy(&narrow, &bytes[at], width);
      wide = narrow;
    }
    values.push_back(wide);
  }
  return values;
}

}  // namespace

std::vector<std::string> check_results(const Kernel& kernel) {
  switch (kernel.role) {
    case Role::compute:
      return check_compute(kernel);
    case Role::memory:
    case Role::sweep:
      return check_streams(kernel);
    case Role::latency:
      return check_latency(kernel);
    case Role::clock:
      return check_clock(kernel);
  }
  return {"unknown role"};
}

std::vector<std::string> check_values_stay_honest(const Kernel& kernel, std::uint64_t trips) {
  if (kernel.role != Role::compute || is_integer(kernel.accumulate)) return {};
  Problems problems;
  State state(kernel, 1);
  kernel.body(trips, state.data(), 0, 0);
  const double smallest_normal = kernel.accumulate == DType::fp64   ? 0x1p-1022
                                 : kernel.accumulate == DType::fp16 ? 0x1p-14
                                                                    : 0x1p-126;
  const std::vector<double> values = chain_values(kernel, state);
  for (const double value : values) {
    if (!std::isfinite(value)) return {"a value is not finite"};
    if (value != 0 && std::fabs(value) < smallest_normal)
      problems.push_back("a value is subnormal");
  }
  // FP16 has few values, so its orbits do meet.
  const std::size_t least = kernel.accumulate == DType::fp16 ? 8 : values.size() / 2;
  if (std::set<double>(values.begin(), values.end()).size() < least)
    problems.push_back("chains and lanes fell into one orbit");
  return problems;
}

}  // namespace ridgeline::testing
