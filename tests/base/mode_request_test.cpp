// The grammar of power modes: what it prints it can read back, and errors name what it cannot read.
#include "base/mode_request.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/random.h"
#include "tests/base/error_line.h"

namespace ridgeline::testing {
namespace {

std::string request_error(const std::string& text) {
  return error_line([&] { parse_mode_request(text, "--mode"); });
}

TEST(ModeRequest, WordsAndPowers) {
  const ModeRequest power = parse_mode_request("30W");
  EXPECT_EQ(power.label, "30W");
  EXPECT_EQ(power.cap_w, 30);
  const ModeRequest name = parse_mode_request("MAXN_SUPER");
  EXPECT_EQ(name.label, "MAXN_SUPER");
  EXPECT_FALSE(name.cap_w);
  EXPECT_EQ(to_text(power), "30W");
  EXPECT_EQ(to_text(name), "MAXN_SUPER");
}

TEST(ModeRequest, CapsPerKnob) {
  const ModeRequest request =
      parse_mode_request("gpu=612MHz,emc=2133MHz,cpu=1.2GHz,cores=4,sm=8,cap=15W");
  EXPECT_EQ(request.label, "");
  EXPECT_EQ(request.gpu_hz, 612e6);
  EXPECT_EQ(request.memory_hz, 2133e6);
  EXPECT_EQ(request.cpu_hz, 1.2e9);
  EXPECT_EQ(request.cpu_cores, 4);
  EXPECT_EQ(request.gpu_units, 8);
  EXPECT_EQ(request.cap_w, 15);
  EXPECT_EQ(to_text(request), "gpu=612MHz,emc=2133MHz,cpu=1200MHz,cores=4,sm=8,cap=15W");
  EXPECT_EQ(to_text(ModeRequest{}), "");
}

TEST(ModeRequest, RoundTripOfTextAndJson) {
  Random random{3};
  const auto maybe = [&] { return random.below(2) == 0; };
  const auto clock = [&] {
    return maybe() ? 1e5 * static_cast<double>(1 + random.below(30000)) : random.unit() * 3e9;
  };
  for (int trial = 0; trial < 2000; ++trial) {
    ModeRequest request;
    if (maybe()) request.gpu_hz = clock();
    if (maybe()) request.memory_hz = clock();
    if (maybe()) request.cpu_hz = clock();
    if (maybe()) request.cpu_cores = 1 + static_cast<int>(random.below(1000000));
    if (maybe()) request.gpu_units = 1 + static_cast<int>(random.below(200));
    if (maybe()) request.cap_w = static_cast<double>(1 + random.below(100000)) / 7;
    if (request == ModeRequest{}) continue;
    EXPECT_EQ(parse_mode_request(to_text(request)), request) << to_text(request);
    request.label = "a";
    request.locked = maybe();
    request.reach = maybe() ? Reach::live : Reach::reboot;
    const Json json = to_json(request);
    EXPECT_EQ(mode_request_from_json(JsonCursor(json, "")), request);
  }
}

TEST(ModeRequest, WhatCannotBeRead) {
  EXPECT_EQ(request_error(""), "--mode: empty mode (write for example 30W or gpu=612MHz,cores=4)");
  EXPECT_EQ(request_error("gpuu=612MHz"),
            "--mode: unknown knob \"gpuu\", known are gpu, emc, cpu, cores, sm, cap (did you mean "
            "gpu?)");
  EXPECT_EQ(request_error("gpu=612W"),
            "--mode: \"612W\" is not a frequency, unknown unit \"W\" (write for example 612MHz)");
  for (const char* text : {"gpu=",
                           "=",
                           "=5",
                           "gpu=612MHz,",
                           ",gpu=612MHz",
                           "gpu=612MHz,,sm=8",
                           "gpu=1MHz,gpu=1MHz",
                           "cores=0",
                           "cores=1.5",
                           "cores=99999999999",
                           "gpu=1e12",
                           "gpu=0",
                           "gpu=-1",
                           "30W,gpu=1MHz",
                           "a b",
                           "a,b",
                           "0W",
                           "99999999W",
                           "a\n",
                           "gpu=nan"}) {
    EXPECT_EQ(request_error(text).substr(0, 8), "--mode: ") << text;
    EXPECT_EQ(request_error(text).find('\n'), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace ridgeline::testing
