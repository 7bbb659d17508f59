// The frame of box characters around a canvas, ticks left and below, labels as the layout says.
// Zones are not shaded: their names and the ridge line are enough. Panels below each other
// have equal room for ticks and labels, so that one column is one value of x in all of them.
#include "plots/renderers/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text_table.h"
#include "plots/geometry.h"
#include "plots/label_layout.h"
#include "plots/renderers/canvas.h"
#include "plots/ticks.h"

namespace ridgeline {
namespace {

constexpr int leader_columns = 2;
// From this width on the labels beside the frame carry their values.
constexpr int full_label_columns = 72;

std::string_view marker_text(Marker marker, bool utf8) {
  switch (marker) {
    case Marker::none:
      return "";
    case Marker::speck:
      return utf8 ? "·" : ".";
    case Marker::dot:
      return utf8 ? "•" : "*";
    case Marker::ring:
      return utf8 ? "○" : "o";
    case Marker::square:
      return utf8 ? "■" : "#";
    case Marker::diamond:
      return utf8 ? "◆" : "@";
    case Marker::open_diamond:
      return utf8 ? "◇" : "%";
    case Marker::star:
      return utf8 ? "★" : "&";
  }
  return "";
}

Figure ascii_figure(Figure figure) {
  for (Panel& panel : figure.panels) {
    panel.title = to_ascii(panel.title);
    for (Label& label : panel.labels) {
      label.text = to_ascii(label.text);
      label.short_text = to_ascii(label.short_text);
    }
  }
  for (LegendEntry& entry : figure.legend) entry.text = to_ascii(entry.text);
  return figure;
}

bool has_short_margin(const TerminalStyle& style) { return style.width < full_label_columns; }

// Columns that the labels right of the frame take.
int margin_width(const Panel& panel, const TerminalStyle& style) {
  int columns = 0;
  for (const Label& label : panel.labels)
    if (label.place == LabelPlace::right_margin)
      columns =
          std::max(columns, display_width(has_short_margin(style) ? label.short_text : label.text));
  return columns;
}

// How much of the screen a panel may take and must leave free.
struct PanelRoom {
  int most_rows = 24;
  int tick_columns = 0;   // at least, left of the frame
  int label_columns = 0;  // at least, right of it
};

class PanelPlot {
 public:
  PanelPlot(const Panel& panel, const TerminalStyle& style, const PanelRoom& room)
      : panel_(panel), style_(style) {
    measure(room);
  }

  std::string run() const {
    Canvas canvas(style_.width, rows_, style_.utf8);
    draw_frame(canvas);
    for (const Series& series : panel_.series) draw_line(canvas, series);
    for (const Series& series : panel_.series) draw_markers(canvas, series);
    draw_labels(canvas);
    std::string out = y_title() + "\n";
    for (int row = 0; row < rows_; ++row) out += canvas.row(row, style_.color) + "\n";
    return out + x_axis() + x_labels() + x_title();
  }

 private:
  void measure(const PanelRoom& room) {
    const int label_columns =
        std::min(std::max(room.label_columns, margin_width(panel_, style_)), style_.width * 2 / 5);
    const auto margin_labels = static_cast<int>(
        std::count_if(panel_.labels.begin(), panel_.labels.end(),
                      [](const Label& label) { return label.place == LabelPlace::right_margin; }));
    const int right = label_columns > 0 ? leader_columns + label_columns : 0;

    // As many rows as the shape of the picture wants and the labels need.
    const int guess = std::clamp((style_.width - right) * 2 / 5, 10, room.most_rows);
    rows_ = std::max(guess, margin_labels + 1);
    y_ticks_ = ticks_of(panel_.y, rows_, 2, style_.utf8);
    int tick_columns = room.tick_columns;
    for (const Tick& tick : y_ticks_)
      tick_columns = std::max(tick_columns, display_width(tick.label));
    left_ = tick_columns + 1;

    view_.left = left_ + 1;
    view_.top = 0;
    view_.width = style_.width - right - left_ - 1;
    view_.height = rows_;
    view_.x = panel_.x;
    view_.y = panel_.y;
    metrics_.width = [](std::string_view text) { return static_cast<double>(display_width(text)); };
    metrics_.line_height = 1;
    metrics_.gap = 1;
    metrics_.step_x = 2;
    metrics_.step_y = 1;
    metrics_.margin_left = view_.right() + leader_columns;
    metrics_.margin_right = style_.width;
    metrics_.rings = 2;  // leaders are not drawn here
    metrics_.turns_text = false;
    metrics_.short_inside = true;
    metrics_.short_margin = has_short_margin(style_);
    metrics_.whole_steps = true;
  }

  std::string_view box(std::string_view utf8, std::string_view ascii) const {
    return style_.utf8 ? utf8 : ascii;
  }

  // A value at the very end of the axis still belongs to the last cell.
  int column_of(double x) const {
    return std::min(static_cast<int>(view_.screen_x(x)), static_cast<int>(view_.right()) - 1);
  }
  int row_of(double y) const {
    return std::clamp(static_cast<int>(view_.screen_y(y)), 0, rows_ - 1);
  }

  void draw_frame(Canvas& canvas) const {
    for (int row = 0; row < rows_; ++row) canvas.text(left_, row, box("│", "|"), Ink::black);
    for (const Tick& tick : y_ticks_) {
      if (tick.label.empty()) continue;
      const int row = row_of(tick.value);
      canvas.text(left_ - 1 - display_width(tick.label), row, tick.label, Ink::black);
      canvas.text(left_, row, box("┤", "+"), Ink::black);
    }
  }

  void draw_line(Canvas& canvas, const Series& series) const {
    if (!(series.style.width > 0)) return;
    for (std::size_t i = 1; i < series.points.size(); ++i)
      canvas.line(view_.screen(series.points[i - 1]), view_.screen(series.points[i]),
                  series.style.dash, series.style.ink);
  }

  void draw_markers(Canvas& canvas, const Series& series) const {
    for (const XY& point : series.points)
      canvas.text(column_of(point.x), row_of(point.y),
                  marker_text(series.style.marker, style_.utf8), series.style.ink);
  }

  void draw_labels(Canvas& canvas) const {
    for (const PlacedLabel& placed : place_labels(panel_, view_, metrics_)) {
      const Label& label = panel_.labels[placed.label];
      const int column = static_cast<int>(std::lround(placed.box.center.x - placed.box.width / 2));
      const int row = static_cast<int>(std::floor(placed.box.center.y));
      const std::string text = style_.utf8 ? placed.text : to_ascii(placed.text);
      canvas.text(column, row, text, label.ink);
    }
  }

  static std::string title_of(const Axis& axis) {
    return axis.unit.empty() ? axis.title : fmt::format("{} [{}]", axis.title, axis.unit);
  }

  std::string y_title() const { return title_of(panel_.y); }

  std::string x_axis() const {
    const auto width = static_cast<std::size_t>(view_.width);
    std::vector<std::string_view> line(width, box("─", "-"));
    for (const Tick& tick : x_ticks())
      if (!tick.label.empty())
        line[static_cast<std::size_t>(column_of(tick.value) - left_ - 1)] = box("┬", "+");
    std::string out(static_cast<std::size_t>(left_), ' ');
    out += box("└", "+");
    for (const std::string_view piece : line) out += piece;
    return out + "\n";
  }

  std::vector<Tick> x_ticks() const { return ticks_of(panel_.x, view_.width, 7, style_.utf8); }

  std::string x_labels() const {
    Canvas line(style_.width, 1, style_.utf8);
    int free_from = 0;
    for (const Tick& tick : x_ticks()) {
      const int width = display_width(tick.label);
      const int wanted = column_of(tick.value) - width / 2;
      const int column = std::min(wanted, static_cast<int>(view_.right()) - width);
      if (width == 0 || column < free_from) continue;
      line.text(column, 0, tick.label, Ink::black);
      free_from = column + width + 1;
    }
    return line.row(0, false) + "\n";
  }

  std::string x_title() const {
    const std::string title = title_of(panel_.x);
    const int indent =
        std::max(0, std::min(left_ + 1 + (static_cast<int>(view_.width) - display_width(title)) / 2,
                             style_.width - display_width(title)));
    return std::string(static_cast<std::size_t>(indent), ' ') + title + "\n";
  }

  const Panel& panel_;
  TerminalStyle style_;
  int rows_ = 0;
  int left_ = 0;  // column of the vertical axis
  Viewport view_;
  LabelMetrics metrics_;
  std::vector<Tick> y_ticks_;
};

// Only markers need it: lines are labelled, and dashes are hard to see here.
std::string legend_text(const Figure& figure, const TerminalStyle& style) {
  std::string out, line;
  for (const LegendEntry& entry : figure.legend) {
    if (entry.style.marker == Marker::none) continue;
    const std::string item = fmt::format("{} {}", marker_text(entry.style.marker, style.utf8),
                                         elide_middle(entry.text, style.width - 2));
    if (!line.empty() && display_width(line) + 3 + display_width(item) > style.width) {
      out += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + item;
  }
  return line.empty() ? out : out + line + "\n";
}

PanelRoom room_for(const Figure& figure, const TerminalStyle& style) {
  PanelRoom room;
  if (figure.panels.size() == 1) return room;
  room.most_rows = 14;
  room.tick_columns = 6;
  for (const Panel& panel : figure.panels)
    room.label_columns = std::max(room.label_columns, margin_width(panel, style));
  return room;
}

}  // namespace

std::string terminal_plot(const Figure& figure, const TerminalStyle& style) {
  if (style.width < least_plot_columns) return "";
  const Figure shown = style.utf8 ? figure : ascii_figure(figure);
  const PanelRoom room = room_for(shown, style);
  std::string text;
  for (const Panel& panel : shown.panels) {
    if (!text.empty()) text += "\n";
    if (!panel.title.empty()) text += elide_middle(printable(panel.title), style.width) + "\n";
    text += PanelPlot(panel, style, room).run();
  }
  return text + legend_text(shown, style);
}

std::string to_ascii(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> spellings{
      {{"±", "+-"},
       {"×", "x"},
       {"µ", "u"},
       {"→", "->"},
       {"…", "~"},
       {"–", "-"},
       {"·", "*"},
       {"\u00a0", " "}}};
  std::string out;
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text.front());
    const auto found = std::find_if(spellings.begin(), spellings.end(), [&](const auto& row) {
      return text.substr(0, row.first.size()) == row.first;
    });
    if (found != spellings.end()) {
      out += found->second;
      text.remove_prefix(found->first.size());
      continue;
    }
    if (lead < 0x80)
      out += text.front();
    else if ((lead & 0xC0) != 0x80)
      out += '?';
    text.remove_prefix(1);
  }
  return out;
}

}  // namespace ridgeline
