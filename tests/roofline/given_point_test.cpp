// NAME=FLOP:BYTES[:SECONDS] as users write it, and common mistakes.
// The comparison with a roof is in roofline_test.cpp.
#include "roofline/ceilings/given_point.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace ridgeline::testing {
namespace {

TEST(GivenPoint, ReadsPrefixesAndUnits) {
  const GivenPoint gemm = parse_given_point("gemm=2e9:48MB:3.1ms");
  EXPECT_EQ(gemm.name, "gemm");
  EXPECT_EQ(gemm.flop, 2e9);
  EXPECT_EQ(gemm.bytes, 48e6);
  EXPECT_DOUBLE_EQ(*gemm.time_s, 3.1e-3);
  EXPECT_EQ(parse_given_point("a=2GFLOP:1KiB").flop, 2e9);
  EXPECT_EQ(parse_given_point("a=2 GOP:1KiB").flop, 2e9);
  EXPECT_EQ(parse_given_point("a=5:1KiB").bytes, 1024);
  EXPECT_FALSE(parse_given_point("a=5:1").time_s);
  EXPECT_EQ(parse_given_point("layer 1.conv=5:1").name, "layer 1.conv");
}

TEST(GivenPoint, RefusesTheRestWithOneLine) {
  for (const char* text : {"", "gemm", "=1:2", "a=", "a=1", "a=1:2:3:4", "a=x:2", "a=1:x",
                           "a=1:2:x", "a=0:2", "a=1:0", "a=1:2:0", "a=-1:2", "a=nan:2", "a=1:inf",
                           "a=1e300:2", "\xff=1:2", "a\x1b[31m=1:2", "a=1:2:1e400"}) {
    try {
      parse_given_point(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << text;
      EXPECT_EQ(error.where().rfind("--point", 0), 0U) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace ridgeline::testing
