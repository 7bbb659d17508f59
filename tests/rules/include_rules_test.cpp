// Checks the sources against the include rules, and the checker against broken sources.
// A failure names file, line and include.
#include "tests/support/include_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ridgeline::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(IncludeRules, SourcesKeepThem) {
  const SourceTree tree = read_source_tree();
  ASSERT_GT(tree.size(), 20U);
  EXPECT_THAT(include_violations(tree), IsEmpty());
}

TEST(IncludeRules, BaseIncludesNothingOfOurs) {
  EXPECT_THAT(include_violations({{"base/a.h", "#include <string>\n#include \"cli/b.h\"\n"}}),
              ElementsAre("base/a.h:2: includes \"cli/b.h\""));
}

TEST(IncludeRules, RoomsToTheRightAreClosed) {
  EXPECT_THAT(include_violations({{"kernels/a.cpp", "#include \"roofline/b.h\"\n"}}),
              ElementsAre("kernels/a.cpp:1: includes \"roofline/b.h\""));
  EXPECT_THAT(include_violations({{"roofline/a.cpp", "#include \"plots/b.h\"\n"}}),
              ElementsAre("roofline/a.cpp:1: includes \"plots/b.h\""));
}

TEST(IncludeRules, RooflineSeesCatalogAndModesOnly) {
  EXPECT_THAT(include_violations({{"roofline/a.cpp", "#include \"devices/catalog/catalog.h\"\n"}}),
              IsEmpty());
  EXPECT_THAT(include_violations({{"roofline/a.cpp", "  # include \"devices/sensors/b.h\"\n"}}),
              ElementsAre("roofline/a.cpp:1: includes \"devices/sensors/b.h\""));
}

TEST(IncludeRules, IncludesAreNamedFromTheRoot) {
  EXPECT_THAT(include_violations({{"plots/a.cpp", "#include \"b.h\"\n"}}),
              ElementsAre("plots/a.cpp:1: includes \"b.h\""));
}

TEST(IncludeRules, KernelBodiesStandAlone) {
  const std::string body =
      "#include <fmt/format.h>\n#include \"base/tokens.h\"\n"
      "#include \"base/error.h\"\n#include \"kernels/cpu/kernel.h\"\n";
  EXPECT_THAT(include_violations({{"kernels/cpu/x86/a.cpp", body}}),
              ElementsAre("kernels/cpu/x86/a.cpp:1: includes \"fmt/format.h\"",
                          "kernels/cpu/x86/a.cpp:3: includes \"base/error.h\""));
}

TEST(IncludeRules, HeadersThatTakeLongToCompileHaveOnePlace) {
  EXPECT_THAT(include_violations({{"cli/parse.cpp", "#include <boost/program_options.hpp>\n"},
                                  {"cli/a.cpp", "#include <boost/program_options.hpp>\n"},
                                  {"roofline/a.cpp", "#include <Eigen/Core>\n"},
                                  {"base/a.h", "#include <fmt/ranges.h>\n"},
                                  {"base/a.cpp", "#include <fmt/ranges.h>\n"}}),
              ElementsAre("base/a.h:1: includes \"fmt/ranges.h\"",
                          "cli/a.cpp:1: includes \"boost/program_options.hpp\"",
                          "roofline/a.cpp:1: includes \"Eigen/Core\""));
}

}  // namespace
}  // namespace ridgeline::testing
