// Elements of SVG as text. The palette is fixed, so that colours mean the same in every picture.
#include "plots/renderers/svg_pen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text_table.h"
#include "plots/renderers/svg_layout.h"

namespace ridgeline {
namespace {

std::string_view dash_array(Dash dash) {
  switch (dash) {
    case Dash::solid:
      return "";
    case Dash::long_dash:
      return "10 4";
    case Dash::dashed:
      return "5 3";
    case Dash::dotted:
      return "1.5 3";
    case Dash::dash_dot:
      return "8 3 1.5 3";
  }
  return "";
}

// Escaped for XML, which forbids control characters and bytes that are not UTF-8: names come from
// files.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c == '\n' ? ' ' : c;
    }
  }
  return out;
}

}  // namespace

// Okabe and Ito, "Color Universal Design"; Paul Tol's muted scheme; the ramp is cividis (Nuñez et
// al. 2018) in five steps; the greys are ours.
InkColor color_of(Ink ink) {
  switch (ink) {
    case Ink::black:
      return {"#1a1a1a", "#1a1a1a"};
    case Ink::grey:
      return {"#777777", "#5e5e5e"};
    case Ink::pale:
      return {"#b8b8b8", "#5e5e5e"};
    case Ink::blue:
      return {"#0072b2", "#00588a"};
    case Ink::vermillion:
      return {"#d55e00", "#a94a00"};
    case Ink::green:
      return {"#009e73", "#006f51"};
    case Ink::purple:
      return {"#cc79a7", "#98507a"};
    case Ink::orange:
      return {"#e69f00", "#8f6300"};
    case Ink::sky:
      return {"#56b4e9", "#1f739f"};
    case Ink::indigo:
      return {"#332288", "#332288"};
    case Ink::wine:
      return {"#882255", "#882255"};
    case Ink::teal:
      return {"#44aa99", "#226b5f"};
    case Ink::rose:
      return {"#cc6677", "#a33d50"};
    case Ink::sand:
      return {"#ddcc77", "#73681f"};
    case Ink::ramp_1:
      return {"#00224e", "#00224e"};
    case Ink::ramp_2:
      return {"#35486e", "#35486e"};
    case Ink::ramp_3:
      return {"#666970", "#5e6168"};
    case Ink::ramp_4:
      return {"#a39468", "#6f6531"};
    case Ink::ramp_5:
      return {"#dcc030", "#756800"};
  }
  return {"#1a1a1a", "#1a1a1a"};
}

std::string px(double value) {
  std::string text = fmt::format("{:.2f}", std::round(value * 100) / 100 + 0.0);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

void SvgPen::element(const std::string& xml) { out_ += xml + '\n'; }

void SvgPen::open(double width, double height, const std::string& title,
                  const std::string& description) {
  element(fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}")"
      R"( font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif")"
      R"( role="img" aria-labelledby="title desc">)",
      px(width), px(height)));
  element(fmt::format(R"(<title id="title">{}</title>)", escaped(title)));
  element(fmt::format(R"(<desc id="desc">{}</desc>)", escaped(description)));
  element(fmt::format(R"(<rect width="{}" height="{}" fill="#ffffff"/>)", px(width), px(height)));
}

std::string SvgPen::close() {
  element("</svg>");
  return std::move(out_);
}

void SvgPen::text(double x, double y, std::string_view content, double size,
                  std::string_view anchor, std::string_view fill, std::string_view more) {
  element(
      fmt::format(R"(<text x="{}" y="{}" font-size="{}" text-anchor="{}" fill="{}"{}>{}</text>)",
                  px(x), px(y), size, anchor, fill, more, escaped(content)));
}

void SvgPen::line(const std::string& d, const Style& style) {
  const std::string_view dashes = dash_array(style.dash);
  element(fmt::format(
      R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}"{}/>)", d, color_of(style.ink).line,
      px(style.width),
      dashes.empty() ? std::string() : fmt::format(R"( stroke-dasharray="{}")", dashes)));
}

void SvgPen::fill(const std::string& d, Ink ink, double opacity) {
  element(fmt::format(R"(<path d="{} Z" fill="{}" fill-opacity="{}"/>)", d, color_of(ink).line,
                      px(opacity)));
}

void SvgPen::marker(XY at, const Style& style) {
  const std::string_view color = color_of(style.ink).line;
  // Where many lie on each other, each shines through, and so does its rim.
  const std::string faint =
      style.opacity < 1
          ? fmt::format(R"( fill-opacity="{0}" stroke-opacity="{0}")", px(style.opacity))
          : "";
  const auto diamond = [&](std::string_view fill, std::string_view stroke) {
    element(fmt::format(
        R"(<path d="M{0} {1}l5 5l-5 5l-5 -5Z" fill="{2}" stroke="{3}" stroke-width="1.2"{4}/>)",
        px(at.x), px(at.y - 5), fill, stroke, faint));
  };
  switch (style.marker) {
    case Marker::none:
      break;
    case Marker::speck:
      element(fmt::format(R"(<circle cx="{}" cy="{}" r="1.6" fill="{}"{}/>)", px(at.x), px(at.y),
                          color, faint));
      break;
    case Marker::dot:
      element(fmt::format(
          R"(<circle cx="{}" cy="{}" r="3" fill="{}" stroke="#ffffff" stroke-width="0.8"{}/>)",
          px(at.x), px(at.y), color, faint));
      break;
    case Marker::ring:
      element(fmt::format(
          R"(<circle cx="{}" cy="{}" r="3.2" fill="#ffffff" stroke="{}" stroke-width="1.2"{}/>)",
          px(at.x), px(at.y), color, faint));
      break;
    case Marker::square:
      element(
          fmt::format(R"(<rect x="{}" y="{}" width="7" height="7" fill="{}" stroke="#ffffff"{}/>)",
                      px(at.x - 3.5), px(at.y - 3.5), color, faint));
      break;
    case Marker::diamond:
      diamond(color, "#ffffff");
      break;
    case Marker::open_diamond:
      diamond("#ffffff", color);
      break;
    case Marker::star:
      element(fmt::format(
          R"(<path d="M{} {}l2.6 6.4l6.9 0.5l-5.3 4.5l1.7 6.7l-5.9 -3.7l-5.9 3.7l1.7 -6.7l-5.3 -4.5l6.9 -0.5Z" )"
          R"(fill="{}" stroke="#ffffff" stroke-width="1"/>)",
          px(at.x), px(at.y - 10), color));
      break;
  }
}

void SvgPen::bubble(XY at, double area, Ink ink) {
  constexpr double smallest_radius = 1.5;
  const std::string_view color = color_of(ink).line;
  element(fmt::format(
      R"(<circle cx="{}" cy="{}" r="{}" fill="{}" fill-opacity="0.45" stroke="{}"/>)", px(at.x),
      px(at.y), px(std::max(smallest_radius, svg_page::largest_bubble * std::sqrt(area))), color,
      color));
}

}  // namespace ridgeline
