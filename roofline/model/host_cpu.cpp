// Turbo clocks are from the makers' product pages. Work per clock is from the makers' statements
// about generations, chained from Zen 2, which is taken as equal to Skylake:
// Zen 3 +19 % (AMD, 2020), Zen 4 +13 % (AMD, 2022), Zen 5 +16 % (AMD, 2024); Sunny Cove +18 % over
// Skylake (Intel, 2019), Golden Cove +19 % over that (Intel, 2021), Raptor Cove as Golden Cove.
#include "roofline/model/host_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "devices/catalog/catalog.h"
#include "roofline/model/familiarity.h"

namespace ridgeline {
namespace {

constexpr double zen2 = 1, zen3 = 1.19, zen4 = 1.34, zen5 = 1.56;
constexpr double skylake = 1, sunny_cove = 1.18, golden_cove = 1.40;

// clang-format off
constexpr HostCpu table_of_hosts[] = {
  {"AMD EPYC 7742",                 "Zen 2",        3.4,  zen2},
  {"AMD EPYC 7763",                 "Zen 3",        3.5,  zen3},
  {"AMD EPYC 9354",                 "Zen 4",        3.8,  zen4},
  {"AMD EPYC 9554",                 "Zen 4",        3.75, zen4},
  {"AMD EPYC 9654",                 "Zen 4",        3.7,  zen4},
  {"AMD EPYC 9575F",                "Zen 5",        5.0,  zen5},
  {"AMD Ryzen 9 5950X",             "Zen 3",        4.9,  zen3},
  {"AMD Ryzen 9 7950X",             "Zen 4",        5.7,  zen4},
  {"AMD Ryzen 9 9950X",             "Zen 5",        5.7,  zen5},
  {"AMD Ryzen Threadripper PRO 3975WX", "Zen 2",    4.2,  zen2},
  {"AMD Ryzen Threadripper PRO 5975WX", "Zen 3",    4.5,  zen3},
  {"AMD Ryzen Threadripper PRO 7975WX", "Zen 4",    5.3,  zen4},
  {"Intel Xeon Gold 6148",          "Skylake",      3.7,  skylake},
  {"Intel Xeon Gold 6248",          "Cascade Lake", 3.9,  skylake},
  {"Intel Xeon Gold 6226R",         "Cascade Lake", 3.9,  skylake},
  {"Intel Xeon Platinum 8168",      "Skylake",      3.7,  skylake},
  {"Intel Xeon Platinum 8275CL",    "Cascade Lake", 3.9,  skylake},
  {"Intel Xeon Gold 6338",          "Sunny Cove",   3.2,  sunny_cove},
  {"Intel Xeon Platinum 8358",      "Sunny Cove",   3.4,  sunny_cove},
  {"Intel Xeon Platinum 8380",      "Sunny Cove",   3.4,  sunny_cove},
  {"Intel Xeon Gold 6430",          "Golden Cove",  3.4,  golden_cove},
  {"Intel Xeon Platinum 8468",      "Golden Cove",  3.8,  golden_cove},
  {"Intel Xeon Platinum 8480+",     "Golden Cove",  3.8,  golden_cove},
  {"Intel Xeon Platinum 8558",      "Raptor Cove",  4.0,  golden_cove},
  {"Intel Xeon Platinum 8592+",     "Raptor Cove",  3.9,  golden_cove},
  {"Intel Core i9-9900K",           "Skylake",      5.0,  skylake},
  {"Intel Core i9-12900K",          "Golden Cove",  5.2,  golden_cove},
  {"Intel Core i9-13900K",          "Raptor Cove",  5.8,  golden_cove},
  {"Intel Core i9-14900K",          "Raptor Cove",  6.0,  golden_cove},
};
// clang-format on

// The host that the priors of graphics cards stand for: NVIDIA's DGX A100 has this CPU. Which one
// the measured A100 had is not published.
constexpr double reference = 3.4 * zen2;
// Turbo of a loaded server, memory and software differ between servers with the same CPU.
constexpr double spread_of_named_host = 0.1;

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

// Every word of the request is in the name: "Xeon 8480" is "Intel Xeon Platinum 8480+".
bool fits_name(const HostCpu& cpu, const std::string& text) {
  const std::string name = lower_case(cpu.name);
  std::size_t begin = 0;
  bool any = false;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = lower_case(text.substr(begin, end - begin));
    if (!word.empty() && name.find(word) == std::string::npos) return false;
    any = any || !word.empty();
    begin = end + 1;
  }
  return any;
}

}  // namespace

std::span<const HostCpu> host_cpus() { return table_of_hosts; }

double host_cpu_factor(const std::string& text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error == std::errc() && end == text.data() + text.size()) {
    constexpr double least = 0.05, most = 20;
    if (!(factor >= least && factor <= most))
      throw usage_error("--host-cpu " + text, "is not a plausible speed",
                        "1 is one thread of an EPYC 7742; half as fast is 0.5");
    return factor;
  }
  std::vector<const HostCpu*> found;
  for (const HostCpu& cpu : table_of_hosts)
    if (fits_name(cpu, text)) found.push_back(&cpu);
  if (found.size() == 1)
    return found.front()->turbo_ghz * found.front()->work_per_clock / reference;
  std::string known;
  for (const HostCpu& cpu : table_of_hosts)
    if (found.empty() || fits_name(cpu, text))
      known += (known.empty() ? "" : ", ") + std::string(cpu.name);
  throw usage_error("--host-cpu " + text,
                    found.empty() ? "is not a CPU that ridgeline knows" : "fits several CPUs",
                    "name one (" + known + ") or give its speed: 1 is one thread of an EPYC 7742");
}

void set_host_cpu(MachineModel& model, const std::string& text) {
  const double factor = host_cpu_factor(text);
  if (!catalog::find(model.device) || catalog::load(model.device).kind != catalog::Kind::gpu)
    throw usage_error("--host-cpu", "only graphics cards have a host of their own",
                      "set the CPU clock of a board with --mode cpu=…GHz");
  set_parameter(model, {"host_hz", mean_of(model, "host_hz") * factor, Source::assumed});
  set_parameter(model, {unfamiliar_parameter(Subject::host), 1, Source::assumed},
                spread_of_named_host);
}

}  // namespace ridgeline
