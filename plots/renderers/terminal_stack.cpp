// Gives every plot the same room for ticks and labels, so that one column is one intensity in all
// of them, and shows the legend once.
#include "plots/renderers/terminal_stack.h"

#include <algorithm>

#include "base/text_table.h"

namespace ridgeline {
namespace {

constexpr int rows_of_a_plot = 14, tick_columns = 6;

}  // namespace

std::string terminal_plot(const FigureStack& stack, const TerminalStyle& style) {
  TerminalStyle low = style;
  low.most_rows = rows_of_a_plot;
  low.tick_columns = tick_columns;
  for (const Figure& figure : stack.figures)
    for (const Label& label : figure.labels)
      if (label.place == LabelPlace::right_margin)
        low.label_columns = std::max(
            low.label_columns,
            display_width(style.width < full_label_columns ? label.short_text : label.text));
  std::string text;
  for (std::size_t i = 0; i < stack.figures.size(); ++i) {
    Figure figure = stack.figures[i];
    if (i + 1 == stack.figures.size()) figure.legend = stack.legend;
    const std::string plot = terminal_plot(figure, low);
    if (plot.empty()) return "";
    text += (i > 0 ? "\n" : "") + plot;
  }
  return text;
}

}  // namespace ridgeline
