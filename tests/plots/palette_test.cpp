// The palettes by computation: every colour of one differs from every other for people with and
// without colour vision deficiency (Machado, Oliveira and Fernandes 2009, severity 1), steps and
// bounds also in grey print, and text is readable on white.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "plots/renderers/svg_pen.h"

namespace ridgeline::testing {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

// On linear RGB; their table of severity 1.0.
const std::map<std::string, Matrix> visions{{"normal", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
                                            {"protanopia",
                                             {{{0.152286, 1.052583, -0.204868},
                                               {0.114503, 0.786281, 0.099216},
                                               {-0.003882, -0.048116, 1.051998}}}},
                                            {"deuteranopia",
                                             {{{0.367322, 0.860646, -0.227968},
                                               {0.280085, 0.672501, 0.047413},
                                               {-0.011820, 0.042940, 0.968881}}}},
                                            {"tritanopia",
                                             {{{1.255528, -0.076749, -0.178779},
                                               {-0.078411, 0.930809, 0.147602},
                                               {0.004733, 0.691367, 0.303900}}}}};

Triple linear_rgb(std::string_view hex) {
  Triple rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = std::stoi(std::string(hex.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    rgb[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

Triple seen(const Triple& rgb, const Matrix& vision) {
  Triple out{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) out[i] += vision[i][k] * rgb[k];
    out[i] = std::clamp(out[i], 0.0, 1.0);
  }
  return out;
}

double luminance(const Triple& rgb) { return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]; }

// CIE 1976 L*a*b*, D65.
Triple lab(const Triple& rgb) {
  const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
  const double x = f((0.4124 * rgb[0] + 0.3576 * rgb[1] + 0.1805 * rgb[2]) / 0.95047);
  const double y = f(luminance(rgb));
  const double z = f((0.0193 * rgb[0] + 0.1192 * rgb[1] + 0.9505 * rgb[2]) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double least_distance(const std::vector<Ink>& inks, const Matrix& vision) {
  double least = INFINITY;
  for (std::size_t i = 0; i < inks.size(); ++i)
    for (std::size_t k = i + 1; k < inks.size(); ++k) {
      const Triple a = lab(seen(linear_rgb(color_of(inks[i]).line), vision));
      const Triple b = lab(seen(linear_rgb(color_of(inks[k]).line), vision));
      least = std::min(least, std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
    }
  return least;
}

double least_grey_step(const std::vector<Ink>& inks) {
  std::vector<double> greys;
  for (const Ink ink : inks) greys.push_back(lab(linear_rgb(color_of(ink).line))[0]);
  std::sort(greys.begin(), greys.end());
  double least = INFINITY;
  for (std::size_t i = 1; i < greys.size(); ++i) least = std::min(least, greys[i] - greys[i - 1]);
  return least;
}

const std::vector<Ink> types{Ink::blue,   Ink::vermillion, Ink::green,
                             Ink::purple, Ink::orange,     Ink::sky};
const std::vector<Ink> bounds{Ink::black, Ink::indigo, Ink::wine, Ink::teal, Ink::rose, Ink::sand};
const std::vector<Ink> ramp{Ink::ramp_1, Ink::ramp_2, Ink::ramp_3, Ink::ramp_4, Ink::ramp_5};

// 2.3 is the least difference that can be seen side by side; 15 is clear at a glance.
TEST(Palette, EveryColourIsClearForEveryColourVision) {
  for (const auto& [name, vision] : visions)
    for (const auto* inks : {&types, &bounds, &ramp})
      EXPECT_GT(least_distance(*inks, vision), 15) << name;
}

TEST(Palette, TheCheckSeesRedAndGreen) {
  // What it must find: these two are clear to most and one to some.
  const Matrix& vision = visions.at("deuteranopia");
  const auto distance = [](const Triple& a, const Triple& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
  };
  const Triple red = linear_rgb("#b05a3c"), green = linear_rgb("#7a7a32");
  EXPECT_GT(distance(lab(red), lab(green)), 30);
  EXPECT_LT(distance(lab(seen(red, vision)), lab(seen(green, vision))), 15);
}

// Lines of data types have dashes and a label each; bubbles and steps have their colour alone.
TEST(Palette, BoundsAndStepsDifferInGreyPrint) {
  EXPECT_GT(least_grey_step(bounds), 7);
  EXPECT_GT(least_grey_step(ramp), 13);
}

// WCAG 2.1 asks 4.5 : 1 of text.
TEST(Palette, TextIsReadableOnWhite) {
  for (const auto* inks : {&types, &bounds, &ramp})
    for (const Ink ink : *inks) {
      const double contrast = 1.05 / (luminance(linear_rgb(color_of(ink).text)) + 0.05);
      EXPECT_GE(contrast, 4.5) << color_of(ink).text;
    }
}

}  // namespace
}  // namespace ridgeline::testing
