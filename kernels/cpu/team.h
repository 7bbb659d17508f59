// A team of threads, each bound to a core, that runs one job at a time together.
// The caller is thread 0; idle members sleep, so that they do not disturb smaller teams.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace ridgeline::cpu {

// Where the threads of a job meet; it spins, because a sleeping thread would start late.
class Barrier {
 public:
  explicit Barrier(int threads) : threads_(threads) {}
  void wait();

 private:
  const int threads_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> phase_{0};
};

class Team {
 public:
  // Thread i is bound to CPU cpus[i] (OS index).
  explicit Team(const std::vector<int>& cpus);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(members_.size()) + 1; }
  bool bound() const { return bound_; }  // false where the system refused a binding

  // Runs job(thread) on threads 0 … threads−1 and returns when all have returned.
  void run(int threads, const std::function<void(int)>& job);

 private:
  struct alignas(64) Member {
    std::atomic<unsigned> asked{0};  // increased by the caller, waited for by the member
    std::thread thread;
  };
  void serve(Member& member, int index, int cpu);
  void stop();  // ends and joins all members

  std::vector<std::unique_ptr<Member>> members_;
  std::atomic<int> unfinished_{0};
  const std::function<void(int)>* job_ = nullptr;
  std::atomic<bool> stop_{false};
  std::atomic<bool> bound_{true};
  struct Binding;
  std::unique_ptr<Binding> binding_;
};

}  // namespace ridgeline::cpu
