// The drawing, from back to front; where things go is decided in svg_layout.cpp.
// Coordinates are rounded to a hundredth of a pixel, which also makes the bytes stable.
#include "plots/svg.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "plots/svg_layout.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

using namespace svg_page;

struct InkColor {
  std::string_view line;
  std::string_view text;  // darker where the line colour is too light to read
};

// Okabe and Ito, "Color Universal Design"; the greys are ours.
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
  }
  return {"#1a1a1a", "#1a1a1a"};
}

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

// Escaped for XML; control characters, which XML forbids, become U+FFFD.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
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
        if (static_cast<unsigned char>(c) < 32)
          out += "\xEF\xBF\xBD";
        else
          out += c;
    }
  }
  return out;
}

// "12.5", "12": two decimals at most.
std::string px(double value) {
  std::string text = fmt::format("{:.2f}", std::round(value * 100) / 100 + 0.0);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

class Drawing {
 public:
  Drawing(const Figure& figure, const SvgLayout& layout) : figure_(figure), layout_(layout) {}

  std::string run() {
    open();
    zones();
    grid();
    series_lines();
    frame();
    series_marks();
    labels();
    axes();
    legend();
    caption();
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(std::string_view format, const Args&... args) {
    fmt::format_to(std::back_inserter(out_), fmt::runtime(format), args...);
    out_ += '\n';
  }

  void open() {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}")"
        R"( font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif")"
        R"( role="img" aria-labelledby="title desc">)",
        px(layout_.width), px(layout_.height));
    add(R"(<title id="title">{}</title>)", escaped(figure_.title));
    add(R"(<desc id="desc">{}</desc>)", escaped(figure_.description + " " + figure_.caption));
    add(R"(<rect width="{}" height="{}" fill="#ffffff"/>)", px(layout_.width), px(layout_.height));
    text(svg_page::margin, 24, figure_.title, title_px, "start", "#1a1a1a",
         R"( font-weight="bold")");
  }

  void text(double x, double y, std::string_view content, double size, std::string_view anchor,
            std::string_view fill, std::string_view more = "") {
    add(R"(<text x="{}" y="{}" font-size="{}" text-anchor="{}" fill="{}"{}>{}</text>)", px(x),
        px(y), size, anchor, fill, more, escaped(content));
  }

  std::string path(const std::vector<XY>& points) const {
    std::string d;
    for (const XY& point : points) {
      const XY at = layout_.view.screen(point);
      d += fmt::format("{}{} {}", d.empty() ? "M" : " L", px(at.x), px(at.y));
    }
    return d;
  }

  void zones() {
    for (const Zone& zone : figure_.zones)
      add(R"(<path d="{} Z" fill="{}" fill-opacity="0.09"/>)", path(zone.outline),
          color_of(zone.ink).line);
  }

  void grid() {
    const Viewport& view = layout_.view;
    std::string d;
    for (const Tick& tick : x_ticks())
      if (!tick.label.empty())
        d += fmt::format("M{0} {1}V{2}", px(view.screen_x(tick.value)), px(view.top),
                         px(view.bottom()));
    for (const Tick& tick : y_ticks())
      if (!tick.label.empty())
        d += fmt::format("M{0} {1}H{2}", px(view.left), px(view.screen_y(tick.value)),
                         px(view.right()));
    add(R"(<path d="{}" stroke="#000000" stroke-opacity="0.08" fill="none"/>)", d);
  }

  void line(const std::string& d, const Style& style) {
    const std::string_view dashes = dash_array(style.dash);
    add(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}"{}/>)", d,
        color_of(style.ink).line, px(style.width),
        dashes.empty() ? std::string() : fmt::format(R"( stroke-dasharray="{}")", dashes));
  }

  void series_lines() {
    for (const Series& series : figure_.series)
      if (series.style.width > 0 && series.points.size() > 1)
        line(path(series.points), series.style);
  }

  void frame() {
    const Viewport& view = layout_.view;
    add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#333333"/>)",
        px(view.left), px(view.top), px(view.width), px(view.height));
  }

  void series_marks() {
    const Viewport& view = layout_.view;
    for (const Series& series : figure_.series) {
      if (series.style.marker == Marker::none) continue;
      for (std::size_t i = 0; i < series.points.size(); ++i) {
        const XY at = view.screen(series.points[i]);
        if (i < series.y_intervals.size()) interval_bar(at.x, series.y_intervals[i], series.style);
        marker(at, series.style);
      }
    }
  }

  // Only where it is longer than the marker itself would hide.
  void interval_bar(double x, const Interval& interval, const Style& style) {
    const double low = layout_.view.screen_y(interval.low);
    const double high = layout_.view.screen_y(interval.high);
    add(R"(<path d="M{0} {1}V{2}M{3} {1}H{4}M{3} {2}H{4}" stroke="{5}" fill="none"/>)", px(x),
        px(low), px(high), px(x - 3), px(x + 3), color_of(style.ink).line);
  }

  void marker(XY at, const Style& style) {
    const std::string_view color = color_of(style.ink).line;
    const auto diamond = [&](std::string_view fill, std::string_view stroke) {
      add(R"(<path d="M{0} {1}l5 5l-5 5l-5 -5Z" fill="{2}" stroke="{3}" stroke-width="1.2"/>)",
          px(at.x), px(at.y - 5), fill, stroke);
    };
    switch (style.marker) {
      case Marker::none:
        break;
      case Marker::dot:
        add(R"(<circle cx="{}" cy="{}" r="3" fill="{}" stroke="#ffffff" stroke-width="0.8"/>)",
            px(at.x), px(at.y), color);
        break;
      case Marker::ring:
        add(R"(<circle cx="{}" cy="{}" r="3.2" fill="#ffffff" stroke="{}" stroke-width="1.2"/>)",
            px(at.x), px(at.y), color);
        break;
      case Marker::square:
        add(R"(<rect x="{}" y="{}" width="7" height="7" fill="{}" stroke="#ffffff"/>)",
            px(at.x - 3.5), px(at.y - 3.5), color);
        break;
      case Marker::diamond:
        diamond(color, "#ffffff");
        break;
      case Marker::open_diamond:
        diamond("#ffffff", color);
        break;
    }
  }

  void labels() {
    for (const PlacedLabel& placed : layout_.labels) {
      const Label& label = figure_.labels[placed.label];
      const InkColor color = color_of(label.ink);
      const bool margin = label.place == LabelPlace::right_margin;
      if (placed.leader)
        add(R"(<path d="M{} {}L{} {}" stroke="{}" stroke-width="0.8" fill="none"/>)",
            px(placed.leader->from.x), px(placed.leader->from.y),
            px(placed.leader->to.x - (margin ? 3 : 0)), px(placed.leader->to.y), color.line);
      std::string more = label.emphasis ? R"( font-weight="bold")" : "";
      if (label.place == LabelPlace::left_of || label.place == LabelPlace::right_of)
        more += R"( font-style="italic")";
      // A white rim keeps a label readable where a line runs behind it.
      if (!margin)
        more +=
            R"( stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke")";
      const XY along = placed.box.along;
      if (along.y != 0)
        more += fmt::format(R"x( transform="rotate({} {} {})")x",
                            px(std::atan2(along.y, along.x) * 180 / 3.14159265358979323846),
                            px(placed.box.center.x), px(placed.box.center.y));
      text(margin ? placed.box.center.x - placed.box.width / 2 : placed.box.center.x,
           placed.box.center.y + label_px * 0.36, placed.text, label_px,
           margin ? "start" : "middle", color.text, more);
    }
  }

  std::vector<Tick> x_ticks() const { return ticks_of(figure_.x, layout_.view.width, 46); }
  std::vector<Tick> y_ticks() const { return ticks_of(figure_.y, layout_.view.height, 26); }

  void axes() {
    const Viewport& view = layout_.view;
    std::string d;
    for (const Tick& tick : x_ticks()) {
      const double x = view.screen_x(tick.value);
      d += fmt::format("M{} {}v{}", px(x), px(view.bottom()), tick.label.empty() ? 3 : 6);
      if (!tick.label.empty())
        text(x, view.bottom() + 18, tick.label, tick_px, "middle", "#333333");
    }
    for (const Tick& tick : y_ticks()) {
      const double y = view.screen_y(tick.value);
      d += fmt::format("M{} {}h{}", px(view.left), px(y), tick.label.empty() ? -3 : -6);
      if (!tick.label.empty())
        text(view.left - 9, y + tick_px * 0.36, tick.label, tick_px, "end", "#333333");
    }
    add(R"(<path d="{}" stroke="#333333" fill="none"/>)", d);
    text(view.left + view.width / 2, view.bottom() + 38,
         fmt::format("{} [{}]", figure_.x.title, figure_.x.unit), axis_px, "middle", "#1a1a1a");
    const double middle = view.top + view.height / 2;
    text(svg_page::margin + 8, middle, fmt::format("{} [{}]", figure_.y.title, figure_.y.unit),
         axis_px, "middle", "#1a1a1a",
         fmt::format(R"x( transform="rotate(-90 {} {})")x", px(svg_page::margin + 8), px(middle)));
  }

  void legend() {
    double x = svg_page::margin, y = layout_.legend_top + legend_height / 2;
    for (const LegendEntry& entry : figure_.legend) {
      const double width = legend_entry_width(entry);
      if (x > svg_page::margin && x + width > layout_.width) {
        x = svg_page::margin;
        y += legend_height;
      }
      if (entry.style.width > 0) line(fmt::format("M{} {}h24", px(x), px(y)), entry.style);
      marker({x + 12, y}, entry.style);
      text(x + 30, y + label_px * 0.36, entry.text, label_px, "start", "#333333");
      x += width;
    }
  }

  void caption() {
    double y = layout_.view.bottom() + 62;
    for (const std::string& caption_line : layout_.caption_lines) {
      text(svg_page::margin, y, caption_line, caption_px, "start", "#5e5e5e");
      y += line_height;
    }
  }

  const Figure& figure_;
  const SvgLayout& layout_;
  std::string out_;
};

}  // namespace

std::string svg(const Figure& figure) { return Drawing(figure, svg_layout(figure)).run(); }

}  // namespace ridgeline
