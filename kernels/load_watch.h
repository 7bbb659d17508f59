// Watches what others do on the measured CPUs: steal by a hypervisor, time of other processes.
// Reads /proc only; names the process that took most, so that a warning can name it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "devices/machine/this_machine.h"
#include "kernels/sampler.h"

namespace ridgeline {

class LoadWatch {
 public:
  // `cpus` are the OS indices of the CPUs that the measurement uses.
  explicit LoadWatch(std::vector<int> cpus, SystemRoot root = {});

  // Fractions of the measured CPUs' time since the last call (or the construction). On machines
  // with more than 16 CPUs they are fractions of 16 CPUs' time: one busy process holds up a team
  // of any size.
  OtherLoad since_last();

  // The process that used most CPU time since construction, as "'stress' (pid 4711)"; empty
  // where none used a noticeable share.
  std::string busiest_process() const;

 private:
  struct Ticks {
    double total = 0, busy = 0, steal = 0, own = 0;  // seconds
  };
  struct Process {
    std::string name;
    double cpu_s = 0;
  };
  Ticks read_ticks() const;
  std::map<int, Process> read_processes() const;

  std::vector<int> cpus_;
  SystemRoot root_;
  Ticks last_;
  std::map<int, Process> first_processes_;
  Ticks first_;
};

}  // namespace ridgeline
