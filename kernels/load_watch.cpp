// Differences of /proc/stat (all processes, per CPU) and /proc/self/stat (this one).
// The kernel counts in ticks of 10 ms: a difference means something from about a second on.
#include "kernels/load_watch.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ridgeline {
namespace {

double seconds_per_tick() { return 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

// Name and CPU seconds of a /proc/<pid>/stat line; the name stands in parentheses and may
// contain anything, so fields are counted from the last parenthesis.
struct StatLine {
  std::string name;
  double cpu_s = 0;
  bool valid = false;
};

StatLine read_stat_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return {};
  const auto open = line.find('('), close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::istringstream fields(line.substr(close + 1));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  if (!(fields >> user >> system)) return {};
  return {line.substr(open + 1, close - open - 1), (user + system) * seconds_per_tick(), true};
}

}  // namespace

LoadWatch::LoadWatch(std::vector<int> cpus, SystemRoot root)
    : cpus_(std::move(cpus)),
      root_(std::move(root)),
      last_(read_ticks()),
      first_processes_(read_processes()),
      first_(last_) {}

LoadWatch::Ticks LoadWatch::read_ticks() const {
  Ticks sum;
  std::ifstream file(root_.at("proc/stat"));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream fields(line.substr(3));
    int cpu = -1;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
    fields >> cpu >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
    if (std::ranges::find(cpus_, cpu) == cpus_.end()) continue;
    const double busy = user + nice + system + irq + soft;
    sum.busy += busy;
    sum.steal += steal;
    sum.total += busy + steal + idle + wait;
  }
  for (double* ticks : {&sum.busy, &sum.steal, &sum.total}) *ticks *= seconds_per_tick();
  sum.own = read_stat_line(root_.at("proc/self/stat")).cpu_s;
  return sum;
}

OtherLoad LoadWatch::since_last() {
  const Ticks now = read_ticks();
  const double share =
      std::min(1.0, 16.0 / static_cast<double>(std::max<std::size_t>(cpus_.size(), 1)));
  const double total = share * (now.total - last_.total);
  OtherLoad load;
  if (total > 0) {
    load.steal_fraction = std::max(0.0, now.steal - last_.steal) / total;
    load.other_fraction = std::max(0.0, (now.busy - last_.busy) - (now.own - last_.own)) / total;
  }
  last_ = now;
  return load;
}

std::map<int, LoadWatch::Process> LoadWatch::read_processes() const {
  std::map<int, Process> processes;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(root_.at("proc"), error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    int pid = 0;
    const auto [rest, parsed] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed != std::errc{} || rest != name.data() + name.size() || pid == getpid()) continue;
    const StatLine line = read_stat_line(entry->path().string() + "/stat");
    if (line.valid) processes[pid] = {line.name, line.cpu_s};
  }
  return processes;
}

std::string LoadWatch::busiest_process() const {
  const double elapsed = read_ticks().total - first_.total;
  std::string busiest;
  double most = 0.01 * elapsed;
  for (const auto& [pid, process] : read_processes()) {
    const auto before = first_processes_.find(pid);
    const double used =
        process.cpu_s - (before == first_processes_.end() ? 0 : before->second.cpu_s);
    if (used <= most) continue;
    most = used;
    busiest = "'" + process.name + "' (pid " + std::to_string(pid) + ")";
  }
  return busiest;
}

}  // namespace ridgeline
