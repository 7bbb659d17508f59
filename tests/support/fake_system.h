// Made-up /sys and /proc trees: a laptop, a Jetson board, a virtual machine.
// They hold only the files that the program reads, with values as on such systems.
#pragma once

#include "devices/machine/this_machine.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {

class FakeSystem {
 public:
  void write(const std::string& path, const std::string& text) { folder_.write(path, text); }
  void protect(const std::string& path);  // only root may read and write it
  SystemRoot root() const { return {folder_.path() + '/'}; }

 private:
  TemporaryDirectory folder_;
};

void make_laptop(FakeSystem& system);  // Intel, cpufreq, RAPL, perf_event_paranoid 4
void make_jetson(FakeSystem& system);  // Orin Nano in its 15 W mode

// Drops root's permissions while it lives; does nothing if the tests do not run as root.
class OrdinaryUser {
 public:
  OrdinaryUser();
  ~OrdinaryUser();
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  unsigned before_;
};

}  // namespace ridgeline::testing
