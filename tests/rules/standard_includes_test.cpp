// Every file includes the standard headers whose names it uses, directly or through project
// headers. Files are compiled together and with a precompiled header, so the compiler would notice
// only in `./run prove`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/source_tree.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Names that most files use, except those that several headers declare.
const std::map<std::string, std::string>& headers_by_name() {
  static const std::map<std::string, std::string> table = [] {
    const std::pair<const char*, std::vector<const char*>> rows[] = {
        {"algorithm",
         {"all_of",         "any_of",        "none_of",       "find_if",     "find_if_not",
          "count_if",       "sort",          "stable_sort",   "max_element", "min_element",
          "minmax_element", "lower_bound",   "upper_bound",   "copy_if",     "remove_if",
          "replace",        "nth_element",   "reverse",       "clamp",       "partition_copy",
          "is_sorted",      "adjacent_find", "set_difference"}},
        {"array", {"array"}},
        {"charconv", {"from_chars", "to_chars"}},
        {"cmath",
         {"sqrt", "log", "log10", "log2", "exp", "pow", "hypot", "isfinite", "isnan", "floor",
          "ceil", "lround", "llround", "round"}},
        {"cstdint", {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int32_t", "int64_t"}},
        {"deque", {"deque"}},
        {"fstream", {"ifstream", "ofstream"}},
        {"functional", {"function"}},
        {"iterator", {"back_inserter", "inserter"}},
        {"limits", {"numeric_limits"}},
        {"map", {"map", "multimap"}},
        {"memory", {"unique_ptr", "shared_ptr", "make_unique", "make_shared"}},
        {"mutex", {"mutex", "lock_guard"}},
        {"numeric", {"accumulate", "iota", "inner_product"}},
        {"optional", {"optional", "nullopt"}},
        {"set", {"set"}},
        {"span", {"span"}},
        {"sstream", {"istringstream", "ostringstream"}},
        {"string", {"string", "to_string"}},
        {"string_view", {"string_view"}},
        {"thread", {"thread"}},
        {"tuple", {"tuple", "make_tuple"}},
        {"unordered_map", {"unordered_map"}},
        {"unordered_set", {"unordered_set"}},
        {"variant", {"variant", "visit", "get_if", "holds_alternative"}},
        {"utility", {"pair"}},
        {"vector", {"vector"}},
    };
    std::map<std::string, std::string> names;
    for (const auto& [header, all] : rows)
      for (const char* name : all) names[name] = header;
    return names;
  }();
  return table;
}

struct Contents {
  std::set<std::string> names, headers, own_headers;
};

Contents read(const std::string& text) {
  Contents contents;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find("//"));
    if (line.starts_with("#include <"))
      contents.headers.insert(line.substr(10, line.find('>') - 10));
    else if (line.starts_with("#include \""))
      contents.own_headers.insert(line.substr(10, line.find('"', 10) - 10));
    for (std::size_t at = 0; (at = line.find("std::", at)) != std::string::npos;) {
      at += 5;
      std::size_t end = at;
      while (end < line.size() &&
             (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_'))
        ++end;
      contents.names.insert(line.substr(at, end - at));
    }
  }
  return contents;
}

using Files = std::map<std::string, Contents>;

// Whether a file includes a header, directly or through project headers.
bool includes(const Files& files, const std::string& path, const std::string& header,
              std::set<std::string>& seen) {
  const auto file = files.find(path);
  if (file == files.end() || !seen.insert(path).second) return false;
  return file->second.headers.contains(header) ||
         std::ranges::any_of(file->second.own_headers, [&](const std::string& own) {
           return includes(files, own, header, seen);
         });
}

std::vector<std::string> missing_includes(const SourceTree& tree) {
  Files files;
  for (const auto& [path, text] : tree)
    if (!path.starts_with("tests/") && (path.ends_with(".h") || path.ends_with(".cpp")))
      files[path] = read(text);
  std::vector<std::string> missing;
  for (const auto& [path, contents] : files)
    for (const std::string& used : contents.names) {
      const auto row = headers_by_name().find(used);
      std::set<std::string> seen;
      if (row != headers_by_name().end() && !includes(files, path, row->second, seen))
        missing.push_back(path + ": std::" + used + " needs <" + row->second + ">");
    }
  return missing;
}

TEST(StandardIncludes, AreThereForEveryName) {
  EXPECT_THAT(missing_includes(read_source_tree()), IsEmpty());
}

TEST(StandardIncludes, ComeThroughOurOwnHeadersToo) {
  const std::string text = "#include \"base/a.h\"\nstd::vector<std::string> x; // std::map\n";
  EXPECT_THAT(missing_includes({{"base/b.cpp", text}, {"base/a.h", "#include <vector>\n"}}),
              ElementsAre("base/b.cpp: std::string needs <string>"));
}

}  // namespace
}  // namespace ridgeline::testing
