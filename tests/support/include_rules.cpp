// The table of who may include whom, and the reader that holds the sources against it.
// Prefixes of paths, so that "devices/catalog" lets one file of devices/ in and not the others.
#include "tests/support/include_rules.h"

#include <algorithm>
#include <regex>
#include <sstream>
#include <string_view>

namespace ridgeline::testing {
namespace {

struct Rule {
  std::string_view folder;                // of the including file; the first that fits counts
  std::vector<std::string_view> allowed;  // prefixes of what it may include
  bool only_standard_libraries = false;   // no Boost, fmt, JSON, hwloc
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      // Bodies in assembly are also built alone, for the other architecture.
      {"kernels/cpu/x86/", {"base/tokens.h", "kernels/cpu/"}, true},
      {"kernels/cpu/aarch64/", {"base/tokens.h", "kernels/cpu/"}, true},
      {"base/", {"base/"}},
      {"devices/", {"base/", "devices/"}},
      {"kernels/", {"base/", "devices/", "kernels/"}},
      {"analyzer/", {"base/", "analyzer/"}},
      {"workloads/", {"base/", "analyzer/", "workloads/"}},
      {"roofline/", {"base/", "devices/catalog", "devices/mode_space", "roofline/"}},
      {"planner/", {"base/", "roofline/", "devices/mode_space", "planner/"}},
      {"execution/", {"base/", "analyzer/", "kernels/sampler", "execution/"}},
      {"plots/", {"base/", "roofline/", "planner/", "plots/"}},
      {"cli/",
       {"base/", "devices/", "kernels/", "analyzer/", "workloads/", "roofline/", "planner/",
        "execution/", "plots/", "cli/"}},
  };
  return table;
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
  static const std::regex library("(boost|fmt|nlohmann)/.*|hwloc.*");
  return !(rule.only_standard_libraries && std::regex_match(target, library));
}

}  // namespace

std::vector<std::string> include_violations(const SourceTree& tree) {
  static const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">].*)re");
  std::vector<std::string> violations;
  for (const auto& [path, text] : tree) {
    const Rule* rule = rule_of(path);
    if (rule == nullptr) continue;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      std::smatch match;
      if (!std::regex_match(line, match, include)) continue;
      const std::string target = match[2];
      if (!is_allowed(*rule, match[1] == "\"", target))
        violations.push_back(path + ':' + std::to_string(number) + ": includes \"" + target + '"');
    }
  }
  return violations;
}

}  // namespace ridgeline::testing
