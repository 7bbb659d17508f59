// How files are written: each opens with a comment, main stays small, no file grows without bound.
// What they may include is in include_rules_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
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

}  // namespace
}  // namespace ridgeline::testing
