// A type's name belongs to one file: two definitions in one namespace break the one-definition
// rule, and no compiler or linker reports it. Two structs Series once caused a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_tree.h"

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "Series" for "struct Series {"; empty for all other lines, including forward declarations.
std::string defined_type(const std::string& line) {
  std::istringstream words(line);
  std::string keyword, name, rest;
  words >> keyword;
  if (keyword == "enum") words >> keyword;
  if (keyword != "struct" && keyword != "class") return {};
  words >> name >> rest;
  return rest == "{" || rest == ":" || rest == "final" ? name : std::string{};
}

// Relies on clang-format's namespaces: unindented, closed by a comment.
std::vector<std::string> types_of(const std::string& text) {
  std::vector<std::string> types;
  std::vector<std::string> spaces;  // an unnamed one is private to its file
  int nameless = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("namespace ") && line.ends_with("{")) {
      spaces.push_back(line.size() > 11 ? line.substr(10, line.size() - 12) : "");
      nameless += spaces.back().empty() ? 1 : 0;
    } else if (line.starts_with("}  // namespace") && !spaces.empty()) {
      nameless -= spaces.back().empty() ? 1 : 0;
      spaces.pop_back();
    } else if (nameless == 0 && !spaces.empty()) {
      if (const std::string type = defined_type(line); !type.empty() && !line.starts_with(' '))
        types.push_back(spaces.back() + "::" + type);
    }
  }
  return types;
}

std::vector<std::string> defined_twice(const SourceTree& tree) {
  std::map<std::string, std::string> first;  // type → file
  std::vector<std::string> found;
  for (const auto& [path, text] : tree) {
    if (path.find("/aarch64/") != std::string::npos) continue;  // never linked with x86/
    for (const std::string& type : types_of(text))
      if (const auto [known, is_new] = first.try_emplace(type, path); !is_new)
        found.push_back(type + " in " + known->second + " and " + path);
  }
  return found;
}

TEST(TypeNames, AreDefinedOnce) { EXPECT_THAT(defined_twice(read_source_tree()), IsEmpty()); }

TEST(TypeNames, DuplicatesAreFound) {
  const std::string one = "namespace a {\nstruct Series {\n};\n}  // namespace a\n";
  const std::string other = "namespace b {\nclass Series final {\n};\n}  // namespace b\n";
  const std::string hidden =
      "namespace a {\nnamespace {\nstruct Series {\n};\n}  // namespace\n"
      "struct Series;\n}  // namespace a\n";
  EXPECT_THAT(defined_twice({{"x.h", one}, {"y.h", other}, {"z.cpp", hidden}}), IsEmpty());
  EXPECT_THAT(defined_twice({{"x.h", one}, {"y.h", one}}), ElementsAre("a::Series in x.h and y.h"));
}

}  // namespace
}  // namespace ridgeline::testing
