// The page: title, legend and panels from the top, caption below, labels of lines on the right.
// There is no font at hand, so the width of text is an estimate that errs on the wide side.
#include "plots/renderers/svg_layout.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text_table.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

using namespace svg_page;

constexpr SvgPanelSizes large_panel{.head = 0,
                                    .label_px = 11.5,
                                    .tick_px = 11,
                                    .rim = 3,
                                    .long_tick = 6,
                                    .short_tick = 3,
                                    .tick_below = 18,
                                    .tick_left = 9,
                                    .axis_title = 38,
                                    .caption = 62,
                                    .end = 62,
                                    .below_legend = 10,
                                    .right_room = 10};
constexpr SvgPanelSizes small_panel{.head = 40,
                                    .label_px = 9.5,
                                    .tick_px = 10,
                                    .rim = 3.5,
                                    .long_tick = 4,
                                    .short_tick = 2,
                                    .tick_below = 15,
                                    .tick_left = 7,
                                    .axis_title = 34,
                                    .caption = 58,
                                    .end = 54,
                                    .below_legend = 6,
                                    .right_room = 0};

constexpr double bold_width = 1.16;    // of the width of regular text, DejaVu Sans
constexpr std::size_t title_rows = 3;  // at most
constexpr double grid_left = 72;       // room for the y axis
constexpr double title_room = 32;
constexpr double leader_length = 20;  // from the frame to the labels in the right margin
constexpr double widest_labels = 300;
constexpr double least_panel_height = 400;           // of a single large panel
constexpr double stack_height = 640, gap_y = 14;     // of several, and between them
constexpr double gap_x = 16, gap_x_with_ticks = 58;  // between columns

// Thousandths of the font size for the characters from space to '~': advance widths of DejaVu Sans,
// the widest of the usual sans-serif fonts. Helvetica, Arial and Liberation Sans are about 10 %
// narrower, so labels never collide there.
constexpr std::array<std::uint16_t, 95> ascii_widths{
    318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,  // space … /
    636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,  // 0 … ?
    1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,  // @ … O
    603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,  // P … _
    500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,  // ` … o
    635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838};      // p … ~

std::vector<std::string> page_lines(const std::string& text, double font_px, double share = 1) {
  return wrapped_lines(text, (width - 2 * margin) * share,
                       [&](std::string_view piece) { return text_width_px(piece, font_px); });
}

// The middle of a text that is too wide is left out.
std::string fitted(const std::string& text, double font_px, double room) {
  std::string shorter = text;
  for (int columns = display_width(text); columns > 1 && text_width_px(shorter, font_px) > room;)
    shorter = elide_middle(text, --columns);
  return shorter;
}

int legend_rows(const std::vector<LegendEntry>& legend) {
  int rows = legend.empty() ? 0 : 1;
  double used = 0;
  for (const LegendEntry& entry : legend) {
    const double next = legend_entry_width(entry);
    if (used > 0 && used + next > width - margin) {
      ++rows;
      used = 0;
    }
    used += next;
  }
  return rows;
}

// Space for the labels right of the frames.
double right_room(const Figure& figure, const SvgPanelSizes& sizes) {
  double labels = 0;
  for (const Panel& panel : figure.panels)
    for (const Label& label : panel.labels)
      if (label.place == LabelPlace::right_margin)
        labels = std::max(
            labels, text_width_px(label.text, sizes.label_px) * (label.emphasis ? bold_width : 1));
  return labels > 0 ? std::min(labels, widest_labels) + leader_length : sizes.right_room;
}

// A large panel is as high as the labels beside it need; large ones below each other share a page.
double panel_height(const Figure& figure, std::size_t index) {
  if (figure.size == PanelSize::small) {
    if (!figure.shared_y) return 165;
    return figure.columns == 1 ? 360 : figure.columns == 2 ? 240 : 190;
  }
  const Panel& panel = figure.panels[index];
  if (figure.panels.size() == 1) {
    const auto labels =
        std::count_if(panel.labels.begin(), panel.labels.end(),
                      [](const Label& label) { return label.place == LabelPlace::right_margin; });
    return std::max(least_panel_height, line_height * static_cast<double>(labels));
  }
  double whole = 0;
  for (std::size_t i = 0; i < figure.panels.size(); i += static_cast<std::size_t>(figure.columns))
    whole += figure.panels[i].height;
  return stack_height * panel.height / whole;
}

LabelMetrics label_metrics(const Viewport& view, PanelSize size) {
  const SvgPanelSizes& sizes = svg_panel_sizes(size);
  const bool small = size == PanelSize::small;
  LabelMetrics metrics;
  metrics.width = [&sizes](std::string_view text) { return text_width_px(text, sizes.label_px); };
  metrics.line_height = small ? sizes.label_px : line_height;
  metrics.gap = small ? 4 : 6;
  metrics.step_x = 14;
  metrics.step_y = 10;
  metrics.margin_left = view.right() + leader_length;
  metrics.margin_right = width - margin;
  metrics.ranked = small;
  metrics.bubble_radius = largest_bubble;
  return metrics;
}

}  // namespace

const SvgPanelSizes& svg_panel_sizes(PanelSize size) {
  return size == PanelSize::small ? small_panel : large_panel;
}

double text_width_px(std::string_view text, double font_px) {
  double thousandths = 0;
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    const bool continues_character = (code & 0xC0) == 0x80;
    if (code >= 32 && code < 127)
      thousandths += ascii_widths[code - 32U];
    else if (!continues_character)
      thousandths += code >= 0xE3 ? 1100 : 838;  // beyond Latin: full-width and emoji
  }
  return thousandths * font_px / 1000;
}

double legend_entry_width(const LegendEntry& entry) {
  return 30 + text_width_px(legend_text(entry), legend_px) + 18;
}

std::string legend_text(const LegendEntry& entry) {
  return fitted(entry.text, legend_px, width - margin - 60);
}

SvgLayout svg_layout(const Figure& figure) {
  const SvgPanelSizes& sizes = svg_panel_sizes(figure.size);
  SvgLayout layout;
  layout.width = svg_page::width;
  layout.title_lines = page_lines(figure.title, title_px, 1 / bold_width);
  if (layout.title_lines.size() > title_rows) {
    layout.title_lines.resize(title_rows);
    layout.title_lines.back() += "…";
  }
  for (std::string& line : layout.title_lines)  // a word may be wider than the page
    line = fitted(line, title_px * bold_width, width - 2 * margin);
  layout.stamp_lines = page_lines(figure.stamp, axis_px);
  layout.caption_lines = page_lines(figure.caption, caption_px);
  const auto more_titles = layout.title_lines.empty() ? 0 : layout.title_lines.size() - 1;
  layout.legend_top = title_room + title_height * static_cast<double>(more_titles) +
                      stamp_height * static_cast<double>(layout.stamp_lines.size());
  layout.grid_top =
      layout.legend_top + legend_height * legend_rows(figure.legend) + sizes.below_legend;

  const double between = figure.shared_y ? gap_x : gap_x_with_ticks;
  const double panel_width =
      (width - margin - right_room(figure, sizes) - grid_left - between * (figure.columns - 1)) /
      figure.columns;
  double row_top = layout.grid_top;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const int column = static_cast<int>(i) % figure.columns;
    SvgPanel& panel = layout.panels.emplace_back();
    panel.view.left = grid_left + column * (panel_width + between);
    panel.view.top = row_top + sizes.head;
    panel.view.width = panel_width;
    panel.view.height = panel_height(figure, i);
    panel.view.x = figure.panels[i].x;
    panel.view.y = figure.panels[i].y;
    panel.labels =
        place_labels(figure.panels[i], panel.view, label_metrics(panel.view, figure.size));
    layout.grid_bottom = panel.view.bottom();
    if (column + 1 == figure.columns)
      row_top = layout.grid_bottom + (figure.size == PanelSize::large ? gap_y : 0);
  }
  layout.height = layout.grid_bottom + sizes.end +
                  line_height * static_cast<double>(layout.caption_lines.size());
  return layout;
}

}  // namespace ridgeline
