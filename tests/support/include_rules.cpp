// The table of allowed includes, and the checker that compares the sources with it.
// Entries are path prefixes, so "devices/catalog/" allows that folder of devices/ and no other.
#include "tests/support/include_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>

namespace ridgeline::testing {
namespace {

struct Rule {
  std::string_view folder;                // of the including file; the first match counts
  std::vector<std::string_view> allowed;  // prefixes of headers it may include
  bool only_standard_libraries = false;   // no Boost, fmt, JSON, hwloc
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      // Assembly bodies are also built alone, for the other architecture.
      {"kernels/cpu/x86/", {"base/tokens.h", "kernels/cpu/"}, true},
      {"kernels/cpu/aarch64/", {"base/tokens.h", "kernels/cpu/"}, true},
      {"base/", {"base/"}},
      {"devices/", {"base/", "devices/"}},
      {"kernels/", {"base/", "devices/", "kernels/"}},
      {"analyzer/", {"base/", "analyzer/"}},
      {"workloads/", {"base/", "analyzer/", "workloads/"}},
      {"roofline/",
       {"base/", "devices/catalog/", "devices/modes/", "devices/machine/identification.h",
        "roofline/"}},
      {"planner/", {"base/", "devices/catalog/", "devices/modes/", "roofline/", "planner/"}},
      {"validation/", {"base/", "devices/", "analyzer/", "workloads/", "roofline/", "validation/"}},
      {"execution/",
       {"base/", "analyzer/", "kernels/sampler.h", "kernels/power_meter.h", "execution/"}},
      {"plots/", {"base/", "roofline/", "planner/", "validation/", "plots/"}},
      {"report/",
       {"base/", "devices/", "kernels/", "analyzer/", "workloads/", "roofline/", "planner/",
        "validation/", "execution/", "plots/", "report/"}},
      {"cli/",
       {"base/", "devices/", "kernels/", "analyzer/", "workloads/", "roofline/", "planner/",
        "validation/", "execution/", "plots/", "report/", "cli/"}},
  };
  return table;
}

constexpr std::array<std::string_view, 5> libraries = {"boost/", "fmt/", "nlohmann/", "hwloc",
                                                       "protozero/"};

// Headers that take seconds to compile: only one project file includes each; others include that.
struct DearHeader {
  std::string_view prefix, file;
};
constexpr std::array<DearHeader, 3> dear_headers = {
    {{"boost/", "cli/parse.cpp"},
     {"Eigen/", "roofline/model/linear_algebra.cpp"},
     {"nlohmann/json.hpp", "base/json.h"}}};
constexpr std::array<std::string_view, 3> not_in_headers = {"fmt/ranges.h", "fmt/chrono.h",
                                                            "fmt/ostream.h"};

bool is_too_dear(const std::string& path, const std::string& target) {
  if (path.ends_with(".h") && std::ranges::find(not_in_headers, target) != not_in_headers.end())
    return true;
  return std::ranges::any_of(dear_headers, [&](const DearHeader& dear) {
    return target.starts_with(dear.prefix) && path != dear.file;
  });
}

const Rule* rule_of(const std::string& path) {
  const auto found = std::find_if(rules().begin(), rules().end(),
                                  [&](const Rule& rule) { return path.starts_with(rule.folder); });
  return found == rules().end() ? nullptr : &*found;
}

bool is_allowed(const Rule& rule, bool quoted, const std::string& target) {
  if (quoted)
    return std::any_of(rule.allowed.begin(), rule.allowed.end(),
                       [&](std::string_view prefix) { return target.starts_with(prefix); });
  return !rule.only_standard_libraries ||
         std::none_of(libraries.begin(), libraries.end(),
                      [&](std::string_view library) { return target.starts_with(library); });
}

struct Include {
  bool quoted = false;
  std::string target;
};

// The included file, if the line is #include "target" or #include <target>.
std::optional<Include> read_include(std::string line) {
  line.erase(std::remove(line.begin(), line.end(), ' '), line.end());
  if (!line.starts_with("#include")) return std::nullopt;
  const auto open = line.find_first_of("\"<");
  if (open == std::string::npos) return std::nullopt;
  const auto close = line.find_first_of("\">", open + 1);
  return Include{line[open] == '"', line.substr(open + 1, close - open - 1)};
}

}  // namespace

std::vector<std::string> include_violations(const SourceTree& tree) {
  std::vector<std::string> violations;
  for (const auto& [path, text] : tree) {
    const Rule* rule = rule_of(path);
    if (rule == nullptr) continue;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      const auto include = read_include(line);
      if (!include) continue;
      if (!is_allowed(*rule, include->quoted, include->target) ||
          is_too_dear(path, include->target))
        violations.push_back(path + ':' + std::to_string(number) + ": includes \"" +
                             include->target + '"');
    }
  }
  return violations;
}

}  // namespace ridgeline::testing
