// The traps of the library, each seen: a figure that is not quiet opens a window, gnuplot's markup
// turns conv_2 into a subscript, without gnuplot the process dies by SIGPIPE, and its legend lies
// over the lines (so the entries are text here, coloured as their lines).
#include <fmt/format.h>
#include <matplot/matplot.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <exception>
#include <filesystem>
#include <thread>

#include "base/child_process.h"
#include "base/error.h"
#include "base/temporary_folder.h"
#include "base/text_file.h"
#include "plots/renderers/gnuplot.h"
#include "plots/renderers/matplot/matplot.h"
#include "plots/renderers/svg_layout.h"
#include "plots/renderers/svg_pen.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

using namespace svg_page;

// The library writes into a pipe; if gnuplot ends early, that is an error and not our end.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignored, &before_);
  }
  ~WithoutSigpipe() { sigaction(SIGPIPE, &before_, nullptr); }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  struct sigaction before_ {};
};

// Text goes into double quotes and through gnuplot's markup: what means something there is
// escaped, and quotes and backquotes, which would end the string or run a program, are replaced.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : gnuplot_text(text)) {
    switch (c) {
      case '"':
      case '`':
        out += '\'';
        break;
      case '\\':
        out += '/';
        break;
      case '&':  // escaped, gnuplot 5.4 writes it into the SVG as it is, which is no XML
        out += "\uff06";
        break;
      case '_':
      case '^':
      case '{':
      case '}':
      case '@':
      case '~':
        out += "\\\\";
        out += c;
        break;
      default:
        out += c;
    }
  }
  return out;
}

// On white: what shines through is mixed in here, since the alpha of fills is lost on the way.
std::array<float, 4> color(std::string_view hex, double opacity = 1) {
  const auto part = [&](std::size_t at) {
    const double value = std::stoi(std::string(hex.substr(at, 2)), nullptr, 16) / 255.0;
    return static_cast<float>(1 - opacity + opacity * value);
  };
  return {0, part(1), part(3), part(5)};
}

const char* line_style(Dash dash) {
  switch (dash) {
    case Dash::solid:
      return "-";
    case Dash::long_dash:
    case Dash::dashed:
      return "--";
    case Dash::dotted:
      return ":";
    case Dash::dash_dot:
      return "-.";
  }
  return "-";
}

const char* marker_style(Marker marker) {
  switch (marker) {
    case Marker::none:
      return "";
    case Marker::square:
      return "s";
    case Marker::diamond:
    case Marker::open_diamond:
      return "d";
    case Marker::star:
      return "p";
    default:
      return "o";
  }
}

float marker_size(Marker marker) {
  return marker == Marker::speck ? 2.0F : marker == Marker::star ? 9.0F : 6.0F;
}

struct Columns {
  std::vector<double> x, y;
};

Columns columns_of(const std::vector<XY>& points) {
  Columns columns;
  for (const XY& at : points) {
    columns.x.push_back(at.x);
    columns.y.push_back(at.y);
  }
  return columns;
}

// The page itself is transparent, which is black in some viewers.
std::string on_white(std::string picture) {
  const auto tag = picture.find("<svg");
  const auto end = tag == std::string::npos ? tag : picture.find('>', tag);
  if (end != std::string::npos)
    picture.insert(end + 1, R"(<rect width="100%" height="100%" fill="#ffffff"/>)");
  return picture;
}

// The library does not wait for gnuplot: the file is complete when its last tag is there.
std::string finished_file(const std::string& path) {
  constexpr int most_looks = 1000;
  for (int look = 0; look < most_looks; ++look) {
    if (std::filesystem::exists(path)) {
      const std::string text = read_text_file(path);
      if (text.find("</svg>") != std::string::npos) return on_white(text);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw Error("--matplot", "gnuplot wrote no picture for Matplot++", "write --svg or --gnuplot");
}

class Drawing {
 public:
  explicit Drawing(const Figure& figure) : figure_(figure), layout_(svg_layout(figure)) {}

  void save(const std::string& path) {
    handle_ = matplot::figure(true);  // quiet
    handle_->size(static_cast<std::size_t>(layout_.width),
                  static_cast<std::size_t>(std::ceil(layout_.height)));
    handle_->color("white");
    for (std::size_t i = 0; i < figure_.panels.size(); ++i) panel(i);
    page_text();
    handle_->save(path, "svg");
  }

 private:
  double share_x(double x) const { return x / layout_.width; }
  double share_y(double y) const { return 1 - y / layout_.height; }

  void panel(std::size_t index) {
    const Panel& panel = figure_.panels[index];
    const Viewport& view = layout_.panels[index].view;
    matplot::axes_handle axes = handle_->add_axes(
        {static_cast<float>(share_x(view.left)), static_cast<float>(share_y(view.bottom())),
         static_cast<float>(view.width / layout_.width),
         static_cast<float>(view.height / layout_.height)});
    axes->hold(true);
    // Shared axes are labelled in the lowest panel of a column and in the first of a row.
    const auto columns = static_cast<std::size_t>(figure_.columns);
    axis(axes->x_axis(), view.x, ticks_of(view.x, view.width, 46),
         index + columns >= figure_.panels.size());
    axis(axes->y_axis(), view.y, ticks_of(view.y, view.height, 26),
         !figure_.shared_y || index % columns == 0);
    for (const Zone& zone : panel.zones) fill(axes, zone);
    for (const Series& series : panel.series) draw(axes, series);
  }

  static void axis(matplot::axis_type& axis, const Axis& from, const std::vector<Tick>& ticks,
                   bool is_labelled) {
    axis.limits({from.low, from.high});
    axis.scale(from.scale == Scale::log ? matplot::axis_type::axis_scale::log
                                        : matplot::axis_type::axis_scale::linear);
    std::vector<double> values;
    std::vector<std::string> labels;
    for (const Tick& tick : ticks) {
      if (tick.label.empty()) continue;
      values.push_back(tick.value);
      labels.push_back(is_labelled ? escaped(tick.label) : " ");
    }
    axis.tick_values(values);
    axis.ticklabels(labels);
    const std::string title =
        from.unit.empty() ? from.title : fmt::format("{} [{}]", from.title, from.unit);
    axis.label(is_labelled ? escaped(title) : "");
  }

  static void fill(const matplot::axes_handle& axes, const Zone& zone) {
    if (zone.outline.size() < 3) return;
    const Columns columns = columns_of(zone.outline);
    const auto area = axes->fill(columns.x, columns.y);
    area->color(color(color_of(zone.ink).line, zone.opacity));
    area->line_width(0);
  }

  static void draw(const matplot::axes_handle& axes, const Series& series) {
    if (series.points.empty()) return;
    const Columns columns = columns_of(series.points);
    const std::string_view hex = color_of(series.style.ink).line;
    if (series.style.width > 0 && series.points.size() > 1) {
      const auto line = axes->plot(columns.x, columns.y, line_style(series.style.dash));
      line->line_width(static_cast<float>(series.style.width));
      line->color(color(hex));
    }
    for (std::size_t i = 0; i < series.y_intervals.size(); ++i)
      bar(axes, hex, {series.points[i].x, series.y_intervals[i].low},
          {series.points[i].x, series.y_intervals[i].high});
    for (std::size_t i = 0; i < series.x_intervals.size(); ++i)
      bar(axes, hex, {series.x_intervals[i].low, series.points[i].y},
          {series.x_intervals[i].high, series.points[i].y});
    if (series.style.marker == Marker::none) return;
    const bool is_open =
        series.style.marker == Marker::ring || series.style.marker == Marker::open_diamond;
    if (series.areas.empty()) {
      marks(axes, columns, series.style.marker, marker_size(series.style.marker), !is_open,
            color(hex, series.style.opacity));
      return;
    }
    for (std::size_t i = 0; i < series.areas.size(); ++i)
      marks(axes, {{columns.x[i]}, {columns.y[i]}}, Marker::dot,
            static_cast<float>(std::max(3.0, 2 * largest_bubble * std::sqrt(series.areas[i]))),
            true, color(hex, 0.45));
  }

  static void bar(const matplot::axes_handle& axes, std::string_view hex, XY from, XY to) {
    const auto line =
        axes->plot(std::vector<double>{from.x, to.x}, std::vector<double>{from.y, to.y}, "-");
    line->color(color(hex));
    line->line_width(1);
  }

  static void marks(const matplot::axes_handle& axes, const Columns& columns, Marker marker,
                    float size, bool is_filled, std::array<float, 4> ink) {
    const auto line = axes->plot(columns.x, columns.y, marker_style(marker));
    line->marker_size(size);
    line->marker_face(is_filled);
    line->color(ink);
    line->marker_color(ink);
    line->marker_face_color(ink);
  }

  // The library turns no text: what would stand along a slope stands left of it if it were above,
  // else right of it.
  static XY beside_slope(const Label& label, const PlacedLabel& placed, const Viewport& view) {
    const XY from = view.screen(label.anchor), to = view.screen(label.end), at = placed.box.center;
    const auto slope_y = [&](double x) {
      return from.y + (to.y - from.y) * (x - from.x) / (to.x - from.x);
    };
    if (at.y >= slope_y(at.x)) return {at.x + 14, at.y + 16};
    const double left = at.x - placed.box.width - 14, least = view.left + 6;
    if (left >= least) return {left, at.y - 6};
    return {least, slope_y(least + placed.box.width + 14)};  // further up there is room
  }

  // Title, legend and caption on axes of their own that cover the page and show no frame.
  void page_text() {
    matplot::axes_handle page = handle_->add_axes({0, 0, 1, 1});
    page->hold(true);
    page->x_axis().limits({0, layout_.width});
    page->y_axis().limits({0, layout_.height});
    page->visible(false);
    const auto text = [&](double x, double y, const std::string& words, float size,
                          std::string_view hex) {
      if (words.empty()) return;
      const auto label = page->text(x, layout_.height - y, escaped(words));
      label->font_size(size);
      label->color(color(hex));
    };
    for (std::size_t i = 0; i < figure_.panels.size(); ++i) {
      const Viewport& view = layout_.panels[i].view;
      if (figure_.size == PanelSize::small) {
        text(view.left, view.top - 22, figure_.panels[i].title, 11, "#1a1a1a");
        text(view.left, view.top - 9, figure_.panels[i].note, 9, "#5e5e5e");
      }
      for (const PlacedLabel& placed : layout_.panels[i].labels) {
        const std::string_view ink = color_of(figure_.panels[i].labels[placed.label].ink).line;
        if (placed.leader && placed.box.along.y == 0)
          bar(page, ink, {placed.leader->from.x, layout_.height - placed.leader->from.y},
              {placed.leader->to.x, layout_.height - placed.leader->to.y});
        const XY at = placed.box.along.y != 0
                          ? beside_slope(figure_.panels[i].labels[placed.label], placed, view)
                          : XY{placed.box.center.x - placed.box.width / 2, placed.box.center.y};
        text(at.x, at.y, placed.text, 10,
             color_of(figure_.panels[i].labels[placed.label].ink).text);
      }
    }
    double y = 20;
    for (const std::string& line : layout_.title_lines) {
      text(margin, y, line, 14, "#1a1a1a");
      y += title_height;
    }
    for (const std::string& line : layout_.stamp_lines) {
      text(margin, y, line, 11, color_of(Ink::vermillion).text);
      y += stamp_height;
    }
    double x = margin;
    y = layout_.legend_top + legend_height / 2;
    for (const LegendEntry& entry : figure_.legend) {
      const double entry_width = legend_entry_width(entry);
      if (x > margin && x + entry_width > layout_.width) {
        x = margin;
        y += legend_height;
      }
      Series sample{"", {{x, layout_.height - y}, {x + 24, layout_.height - y}}, entry.style, {}};
      sample.style.marker = Marker::none;
      if (sample.style.width > 0) draw(page, sample);
      if (entry.style.marker != Marker::none)
        draw(page, {"",
                    {{x + 12, layout_.height - y}},
                    {entry.style.ink, Dash::solid, 0, entry.style.marker},
                    {}});
      text(x + 30, y, legend_text(entry), 10, "#333333");
      x += entry_width;
    }
    const double caption =
        layout_.height - line_height * static_cast<double>(layout_.caption_lines.size());
    for (std::size_t i = 0; i < layout_.caption_lines.size(); ++i)
      text(margin, caption + line_height * static_cast<double>(i), layout_.caption_lines[i], 9,
           "#5e5e5e");
  }

  const Figure& figure_;
  const SvgLayout layout_;
  matplot::figure_handle handle_;
};

}  // namespace

bool has_matplot() { return true; }

std::string matplot_svg(const Figure& figure) {
  if (!find_in_path("gnuplot"))
    throw Error("--matplot", "Matplot++ draws with gnuplot, which is not on PATH",
                "install gnuplot-nox, or write --svg", ExitCode::incomplete);
  const WithoutSigpipe guard;
  const TemporaryFolder folder("matplot");
  const std::string path = folder.file("figure.svg");
  try {
    Drawing(figure).save(path);
    return finished_file(path);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {
    throw Error("--matplot", std::string("Matplot++ failed: ") + failure.what(),
                "write --svg or --gnuplot");
  }
}

}  // namespace ridgeline
