// Rules for files: each opens with a comment, comments name files that exist, main stays small,
// Boost stays in one file. The other include rules are in include_rules_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_tree.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

auto line_count(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

std::vector<std::string> without_opening_comment(const SourceTree& tree) {
  std::vector<std::string> paths;
  for (const auto& [path, text] : tree) {
    const std::string mark = path.ends_with(".cmake") ? "# " : "// ";
    if (!text.starts_with(mark)) paths.push_back(path);
  }
  return paths;
}

TEST(FileRules, EveryFileOpensWithAComment) {
  EXPECT_THAT(without_opening_comment(read_source_tree()), IsEmpty());
  EXPECT_THAT(without_opening_comment({{"base/a.h", "#pragma once\n"}}), ElementsAre("base/a.h"));
}

std::vector<std::string> without_guard(const SourceTree& tree) {
  std::vector<std::string> paths;
  for (const auto& [path, text] : tree)
    if (path.ends_with(".h") && text.find("\n#pragma once\n") == std::string::npos)
      paths.push_back(path);
  return paths;
}

TEST(FileRules, HeadersAreGuarded) {
  EXPECT_THAT(without_guard(read_source_tree()), IsEmpty());
  EXPECT_THAT(without_guard({{"base/a.h", "// A.\n"}}), ElementsAre("base/a.h"));
}

TEST(FileRules, MainStaysUnderSixtyLines) {
  const SourceTree tree = read_source_tree();
  ASSERT_EQ(tree.count("cli/main.cpp"), 1U);
  EXPECT_LT(line_count(tree.at("cli/main.cpp")), 60);
}

// Folders other than cli/ work on plain structs: options are parsed once, in cli/.
std::vector<std::string> with_boost(const SourceTree& tree) {
  std::vector<std::string> paths;
  for (const auto& [path, text] : tree)
    if (!path.starts_with("tests/") && text.find("#include <boost/") != std::string::npos)
      paths.push_back(path);
  return paths;
}

TEST(FileRules, BoostStaysInTheParserOfOptions) {
  EXPECT_THAT(with_boost(read_source_tree()), ElementsAre("cli/parse.cpp"));
  EXPECT_THAT(with_boost({{"report/a.cpp", "#include <boost/any.hpp>\n"}}),
              ElementsAre("report/a.cpp"));
}

// Headers of libraries and the system, and the one that CMake generates.
constexpr std::string_view other_headers[] = {"asm/hwcap.h", "asm/prctl.h",      "build_info.h",
                                              "cuda.h",      "cupti_activity.h", "cupti_result.h",
                                              "jpeglib.h",   "nvperf_common.h"};

bool is_name_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The source files named in a comment, with or without their folder.
std::vector<std::string> named_files(std::string_view comment) {
  std::vector<std::string> names;
  for (const std::string_view extension : {".h", ".cpp", ".cu"})
    for (auto at = comment.find(extension); at != std::string_view::npos;
         at = comment.find(extension, at + 1)) {
      const std::size_t end = at + extension.size();
      if (end < comment.size() && is_name_letter(comment[end])) continue;
      std::size_t begin = at;
      while (begin > 0 && (is_name_letter(comment[begin - 1]) || comment[begin - 1] == '/'))
        --begin;
      if (begin < at) names.emplace_back(comment.substr(begin, end - begin));
    }
  return names;
}

bool exists(const SourceTree& tree, const std::string& name) {
  if (std::ranges::find(other_headers, name) != std::end(other_headers)) return true;
  return std::ranges::any_of(tree, [&](const auto& file) {
    return file.first == name || file.first.ends_with("/" + name);
  });
}

// One line per name: PATH:LINE: NAME.
std::vector<std::string> missing_files(const SourceTree& tree) {
  std::vector<std::string> missing;
  for (const auto& [path, text] : tree) {
    if (path.ends_with(".cmake")) continue;
    std::istringstream lines(text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      const std::size_t at = line.starts_with("//") ? 0 : line.find(" //");
      if (at == std::string::npos) continue;
      for (const std::string& name : named_files(std::string_view(line).substr(at)))
        if (!exists(tree, name))
          missing.push_back(path + ':' + std::to_string(number) + ": " + name);
    }
  }
  return missing;
}

TEST(FileRules, CommentsNameFilesThatExist) {
  EXPECT_THAT(missing_files(read_source_tree()), IsEmpty());
  const std::string slashes = "//";  // some names below are missing on purpose
  EXPECT_THAT(missing_files({{"base/a.h", slashes + " b.h, base/c.cpp, a.h, base/a.h, x.html\n"},
                             {"base/d.cpp", "int d;  " + slashes + " see gone/a.h\n"}}),
              ElementsAre("base/a.h:1: b.h", "base/a.h:1: base/c.cpp", "base/d.cpp:1: gone/a.h"));
}

}  // namespace
}  // namespace ridgeline::testing
