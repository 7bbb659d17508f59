// The page: title, legend and frame from the top, caption below, roof labels on the right.
// The frame is as high as the labels beside it need.
#include "plots/renderers/svg_layout.h"

#include <algorithm>
#include <string_view>

#include "plots/text_metrics.h"

namespace ridgeline {
namespace {

using namespace svg_page;

constexpr double least_frame_height = 400;
constexpr double leader_length = 20;  // from the frame to the labels in the right margin
constexpr double widest_labels = 300;

}  // namespace

double legend_entry_width(const LegendEntry& entry) {
  return 30 + text_width_px(entry.text, label_px) + 18;
}

int legend_rows(const std::vector<LegendEntry>& legend, double width) {
  int rows = legend.empty() ? 0 : 1;
  double used = 0;
  for (const LegendEntry& entry : legend) {
    const double next = legend_entry_width(entry);
    if (used > 0 && used + next > width) {
      ++rows;
      used = 0;
    }
    used += next;
  }
  return rows;
}

double right_margin(const Figure& figure) {
  double label_width = 0;
  for (const Label& label : figure.labels)
    if (label.place == LabelPlace::right_margin)
      label_width =
          std::max(label_width, text_width_px(label.text, label_px) * (label.emphasis ? 1.1 : 1));
  return label_width > 0 ? std::min(label_width, widest_labels) + leader_length : 10;
}

LabelMetrics svg_label_metrics(const Viewport& view) {
  LabelMetrics metrics;
  metrics.width = [](std::string_view text) { return text_width_px(text, label_px); };
  metrics.line_height = line_height;
  metrics.gap = 6;
  metrics.step_x = 14;
  metrics.step_y = 10;
  metrics.margin_left = view.right() + leader_length;
  metrics.margin_right = svg_page::width - svg_page::margin;
  return metrics;
}

SvgLayout svg_layout(const Figure& figure) {
  SvgLayout layout;
  const auto margin_labels =
      std::count_if(figure.labels.begin(), figure.labels.end(),
                    [](const Label& label) { return label.place == LabelPlace::right_margin; });

  layout.width = svg_page::width;
  layout.stamp_lines = wrapped_lines(figure.stamp, axis_px, svg_page::width - 2 * svg_page::margin);
  layout.legend_top = 32 + stamp_height * static_cast<double>(layout.stamp_lines.size());
  layout.caption_lines =
      wrapped_lines(figure.caption, caption_px, svg_page::width - 2 * svg_page::margin);
  Viewport& view = layout.view;
  view.left = frame_left;
  view.top = layout.legend_top +
             legend_height * legend_rows(figure.legend, svg_page::width - svg_page::margin) + 10;
  view.width = svg_page::width - svg_page::margin - right_margin(figure) - view.left;
  view.height = std::max(least_frame_height, line_height * static_cast<double>(margin_labels));
  view.x = figure.x;
  view.y = figure.y;
  layout.height =
      view.bottom() + 56 + line_height * static_cast<double>(layout.caption_lines.size()) + 6;

  layout.labels = place_labels(figure, view, svg_label_metrics(view));
  return layout;
}

}  // namespace ridgeline
