// Bound threads that spin for a moment between jobs and sleep after that.
// The moment is long enough for back-to-back jobs, so that fork and join cost about a microsecond.
#include "kernels/cpu/team.h"

#include <hwloc.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "base/error.h"

namespace ridgeline::cpu {
namespace {

constexpr int spins_before_sleep = 20000;  // some 100 µs

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

// hwloc's handle, and the binding that the caller had before.
struct Team::Binding {
  hwloc_topology_t topology = nullptr;
  hwloc_bitmap_t before = hwloc_bitmap_alloc();

  Binding() {
    hwloc_topology_init(&topology);
    hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_load(topology);
    hwloc_get_cpubind(topology, before, HWLOC_CPUBIND_THREAD);
  }
  ~Binding() {
    hwloc_set_cpubind(topology, before, HWLOC_CPUBIND_THREAD);
    hwloc_bitmap_free(before);
    hwloc_topology_destroy(topology);
  }
  Binding(const Binding&) = delete;
  Binding& operator=(const Binding&) = delete;

  bool bind_this_thread(int cpu) const {
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    hwloc_bitmap_only(set, static_cast<unsigned>(cpu));
    const bool bound = hwloc_set_cpubind(topology, set, HWLOC_CPUBIND_THREAD) == 0;
    hwloc_bitmap_free(set);
    return bound;
  }
};

void Barrier::wait() {
  const unsigned phase = phase_.load(std::memory_order_relaxed);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  for (int spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins) {
    relax();
    if (spins > spins_before_sleep) std::this_thread::yield();  // another process has our core
  }
}

Team::Team(const std::vector<int>& cpus) : binding_(std::make_unique<Binding>()) {
  if (!cpus.empty() && !binding_->bind_this_thread(cpus.front())) bound_ = false;
  for (std::size_t i = 1; i < cpus.size(); ++i) {
    auto fresh = std::make_unique<Member>();
    Member& member = *fresh;
    try {
      member.thread = std::thread(
          [this, &member, i, cpu = cpus[i]] { serve(member, static_cast<int>(i), cpu); });
    } catch (const std::system_error& error) {
      stop();
      throw Error("threads",
                  "the system starts only " + std::to_string(i) + " of " +
                      std::to_string(cpus.size()) + ": " + error.what(),
                  "raise the limit of processes or pass a smaller --threads");
    }
    members_.push_back(std::move(fresh));
  }
}

Team::~Team() { stop(); }

void Team::stop() {
  stop_ = true;
  for (const auto& member : members_) {
    member->asked.fetch_add(1);
    member->asked.notify_one();
    member->thread.join();
  }
}

void Team::serve(Member& member, int index, int cpu) {
  if (!binding_->bind_this_thread(cpu)) bound_ = false;
  unsigned done = 0;
  for (;;) {
    for (int spins = 0; member.asked.load(std::memory_order_acquire) == done; ++spins) {
      relax();
      if (spins > spins_before_sleep) member.asked.wait(done, std::memory_order_acquire);
    }
    done = member.asked.load(std::memory_order_acquire);
    if (stop_) return;
    (*job_)(index);
    unfinished_.fetch_sub(1, std::memory_order_release);
  }
}

void Team::run(int threads, const std::function<void(int)>& job) {
  job_ = &job;
  const int others = std::clamp(threads, 1, size()) - 1;
  unfinished_.store(others, std::memory_order_relaxed);
  for (int i = 0; i < others; ++i) {
    members_[static_cast<std::size_t>(i)]->asked.fetch_add(1, std::memory_order_release);
    members_[static_cast<std::size_t>(i)]->asked.notify_one();
  }
  job(0);
  for (int spins = 0; unfinished_.load(std::memory_order_acquire) != 0; ++spins) {
    relax();
    if (spins > spins_before_sleep) std::this_thread::yield();
  }
}

}  // namespace ridgeline::cpu
