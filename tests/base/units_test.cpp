// Quantities as text: rounding at prefix boundaries, special numbers, and what parsers refuse.
#include "base/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "tests/base/error_line.h"

namespace ridgeline::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(Units, SiPrefixes) {
  EXPECT_EQ(format_si(183.4e9, "FLOP/s"), "183 GFLOP/s");
  EXPECT_EQ(format_si(18.34e9, "FLOP/s"), "18.3 GFLOP/s");
  EXPECT_EQ(format_si(1.834e9, "B/s", 4), "1.834 GB/s");
  EXPECT_EQ(format_si(999.4e9, "FLOP/s"), "999 GFLOP/s");
  EXPECT_EQ(format_si(999.5e9, "FLOP/s"), "1.00 TFLOP/s");
  EXPECT_EQ(format_si(999.96, "W", 4), "1.000 kW");
  EXPECT_EQ(format_si(183e9, "B/s", 1), "200 GB/s");
  EXPECT_EQ(format_si(1, "W"), "1.00 W");
  EXPECT_EQ(format_si(0.25, "J"), "250 mJ");
  EXPECT_EQ(format_si(-1500, "J"), "-1.50 kJ");
  EXPECT_EQ(format_si(1e21, "FLOP/s"), "1.00 ZFLOP/s");
  EXPECT_EQ(format_si(5, ""), "5.00");
}

TEST(Units, StrangeNumbers) {
  EXPECT_EQ(format_si(0, "W"), "0 W");
  EXPECT_EQ(format_si(-0.0, "W"), "0 W");
  EXPECT_EQ(format_si(infinity, "W"), "inf W");
  EXPECT_EQ(format_si(-infinity, "W"), "-inf W");
  EXPECT_EQ(format_si(not_a_number, "W"), "nan W");
  EXPECT_EQ(format_si(5e-324, "s"), "4.94e-324 s");
  EXPECT_EQ(format_si(1e300, "s"), "1.00e+300 s");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_bytes(infinity), "inf B");
  EXPECT_EQ(format_bytes(1e300), "8.67e+281 EiB");
  EXPECT_EQ(format_seconds(not_a_number), "nan s");
  EXPECT_EQ(format_seconds(1e300), "1.00e+300 s");
  EXPECT_EQ(format_percent(not_a_number), "nan %");
  EXPECT_EQ(format_percent(1e300), "1.00e+302 %");
}

TEST(Units, Numbers) {
  EXPECT_EQ(format_number(0.25), "0.250");
  EXPECT_EQ(format_number(0.00099996), "0.00100");
  EXPECT_EQ(format_number(12.345), "12.3");
  EXPECT_EQ(format_number(99.96), "100");
  EXPECT_EQ(format_number(12345), "12300");
  EXPECT_EQ(format_number(1.5e-9, 2), "1.5e-09");
}

TEST(Units, Bytes) {
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(24576), "24 KiB");
  EXPECT_EQ(format_bytes(1.02 * 1073741824), "1.02 GiB");
  EXPECT_EQ(format_bytes(1023.7 * 1024), "1.00 MiB");
  EXPECT_EQ(format_bytes(1048576), "1 MiB");
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(1010.4 * 1024), "1010 KiB");
}

TEST(Units, TimesClocksPercents) {
  EXPECT_EQ(format_seconds(1.734e-6), "1.73 µs");
  EXPECT_EQ(format_seconds(12.4), "12.4 s");
  EXPECT_EQ(format_seconds(119.4), "119 s");
  EXPECT_EQ(format_seconds(125), "2 min 5 s");
  EXPECT_EQ(format_seconds(3599.6), "1 h 0 min");
  EXPECT_EQ(format_seconds(9000), "2 h 30 min");
  EXPECT_EQ(format_hz(612e6), "612 MHz");
  EXPECT_EQ(format_hz(1.3005e9), "1.30 GHz");
  EXPECT_EQ(format_percent(0.483), "48 %");
  EXPECT_EQ(format_percent(0.483, 1), "48.3 %");
  EXPECT_EQ(format_half_width(0.0414, 1), "± 4.1 %");
  EXPECT_EQ(format_half_width(3.13), "over ± 100 %");
  EXPECT_EQ(format_percent(0.001), "<1 %");
  EXPECT_EQ(format_percent(0.00001, 2), "<0.01 %");
  EXPECT_EQ(format_percent(-0.0001), "0 %");
  EXPECT_EQ(format_percent(0), "0 %");
}

// Three digits are within half of the last digit of the value, and no mantissa reaches 1000.
TEST(Units, SiTextIsAlwaysNearTheValue) {
  Random random{7};
  for (int trial = 0; trial < 20000; ++trial) {
    const double value = std::exp(random.unit() * 60 - 25);
    const std::string text = format_si(value, "x");
    const double mantissa = std::stod(text);
    EXPECT_LT(mantissa, 1000) << text;
    EXPECT_GE(mantissa, 1) << text;
    const double scale = std::pow(1000, std::round(std::log10(value / mantissa) / 3));
    EXPECT_NEAR(mantissa * scale / value, 1, 0.00501) << text;
  }
}

TEST(Units, Parse) {
  EXPECT_EQ(parse_bytes("512"), 512u);
  EXPECT_EQ(parse_bytes("4MiB"), 4194304u);
  EXPECT_EQ(parse_bytes("4 mib"), 4194304u);
  EXPECT_EQ(parse_bytes("1GB"), 1000000000u);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536u);
  EXPECT_EQ(parse_bytes("2.14GB"), 2140000000u);
  EXPECT_EQ(parse_bytes("1e3"), 1000u);
  EXPECT_EQ(parse_hz("612MHz"), 612e6);
  EXPECT_EQ(parse_hz("1.2ghz"), 1.2e9);
  EXPECT_EQ(parse_seconds("10ms"), 0.01);
  EXPECT_EQ(parse_seconds("3us"), 3e-6);
  EXPECT_EQ(parse_seconds("3µs"), 3e-6);
  EXPECT_EQ(parse_seconds("2min"), 120);
  EXPECT_EQ(parse_hz("1065.6MHz"), 1065600000.0);
  EXPECT_EQ(parse_watts("7500mW"), 7.5);
  EXPECT_EQ(parse_count("64k"), 64000u);
}

TEST(Units, WhatCannotBeParsedIsAUsageErrorWithTheText) {
  for (const char* text : {"", " ", "x", "-1", "-0", "nan", "inf", "1e999", "1 2", "4M", "4MiBs",
                           "0.3", "1e30", "0x10", "4  MiB", "MiB", "1,5KiB", "+1"}) {
    try {
      parse_bytes(text, "--size");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << text;
      EXPECT_EQ(error.where(), "--size");
      EXPECT_NE(error.cause().find("\"" + std::string(text) + "\""), std::string::npos) << text;
    }
  }
  EXPECT_EQ(
      error_line([] { parse_bytes("64K", "--size"); }),
      "--size: \"64K\" is not a size in bytes, unknown unit \"K\" (write for example 64KiB or "
      "1GB)");
  EXPECT_EQ(error_line([] { parse_hz("5 W"); }),
            "\"5 W\" is not a frequency, unknown unit \"W\" (write for example 612MHz)");
  EXPECT_EQ(error_line([] { parse_hz("600", "--mode"); }),
            "--mode: \"600\" has no unit (write for example 612MHz)");
  EXPECT_NE(error_line([] { parse_seconds("0.5"); }), "no error");
  EXPECT_NE(error_line([] { parse_joules("5"); }), "no error");
  EXPECT_NE(error_line([] { parse_watts("5"); }), "no error");
  EXPECT_NE(error_line([] { parse_seconds("5Ms"); }), "no error");
  EXPECT_NE(error_line([] { parse_watts("30w"); }), "no error");
}

TEST(Units, AProbabilityIsNeverCertain) {
  EXPECT_EQ(format_probability(0.9), "90 %");
  EXPECT_EQ(format_probability(0.99), "99 %");
  EXPECT_EQ(format_probability(0.995), "> 99 %");
  EXPECT_EQ(format_probability(1), "> 99 %");
  EXPECT_EQ(format_probability(0.002), "< 1 %");
  EXPECT_EQ(format_probability(0), "< 1 %");
}

}  // namespace
}  // namespace ridgeline::testing
