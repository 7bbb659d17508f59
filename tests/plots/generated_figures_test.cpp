// A hundred generated figures: random machines, networks, modes and names. No label overlaps
// another, a line or the frame, and all text is readable at 800 px.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "plots/figures/energy.h"
#include "plots/figures/layer_bars.h"
#include "plots/figures/layers.h"
#include "plots/figures/overlay.h"
#include "plots/figures/plan.h"
#include "plots/figures/roofline.h"
#include "plots/figures/roofline_panels.h"
#include "plots/renderers/svg.h"
#include "plots/renderers/svg_layout.h"
#include "tests/planner/planned.h"
#include "tests/roofline/explained_network.h"
#include "tests/roofline/made_up_board.h"
#include "tests/roofline/made_up_mode.h"

namespace ridgeline::testing {
namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  double between(double low, double high) {  // evenly in the logarithm
    return low * std::pow(high / low, std::uniform_real_distribution<double>(0, 1)(random_));
  }
  int count(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  std::string name() {
    static const std::vector<std::string> names{
        "conv1",
        "encoder.layer.11.attention.output.dense + add",
        "層.畳み込み.3 + 正規化",
        "блок.7.свёртка",
        "طبقة_الانتباه",
        "🚀.fused_mul_add_relu_transpose_view_matmul_softmax_dropout",
        "<script>alert('x')</script>",
        "downsample.0 + 1",
        std::string(300, 'W'),
        "a\"b`c\\d%s{}"};
    return names[static_cast<std::size_t>(count(0, static_cast<int>(names.size()) - 1))] + "_" +
           std::to_string(count(0, 30));
  }

  Roofline roofline() {
    ProfileMode mode = made_up_mode();
    const double peak = between(1e10, 1e14);
    for (const DType dtype : {DType::fp32, DType::fp64, DType::fp16, DType::bf16, DType::int8})
      if (count(0, 3) > 0)
        mode.compute.push_back(compute_row(dtype, count(0, 1) ? Unit::vector : Unit::matrix,
                                           "avx512f", peak * between(0.1, 20)));
    const double dram = peak / between(2, 200);
    mode.memory = {memory_row(Level::dram, Direction::read, dram)};
    for (const Level level : {Level::l1, Level::l2, Level::l3})
      if (count(0, 1))
        mode.memory.push_back(memory_row(level, Direction::read, dram * between(1.5, 30)));
    RooflineOptions options;
    for (int i = count(0, 6); i > 0; --i)
      options.points.push_back({name(), between(1e6, 1e10), between(1e5, 1e9),
                                count(0, 1) ? std::optional(between(1e-2, 1)) : std::nullopt});
    Machine machine = made_up_machine();
    machine.name = name();
    return roofline_of(mode, machine, options);
  }

  Ceilings ceilings() {
    Ceilings ceilings = made_up_ceilings();
    const double faster = between(0.1, 10), wider = between(0.2, 5);
    for (Peak& peak : ceilings.peaks) peak.flops_per_s *= faster;
    for (Bandwidth& bandwidth : ceilings.bandwidths) bandwidth.bytes_per_s *= wider;
    return ceilings;
  }

  // At most at the roof, as the model predicts.
  Explanation explanation(const Ceilings& ceilings) {
    Explanation made = made_up_explanation();
    made.run.network = name();
    made.run.machine = name();
    made.layers.clear();
    double total = 0;
    for (int i = count(1, 60); i > 0; --i) {
      ExplainedLayer layer;
      layer.name = name();
      layer.bound = static_cast<BoundBy>(count(0, 5));
      layer.intensity = between(0.1, 1000);
      layer.operations = between(1e6, 1e10);
      layer.bytes = layer.operations / *layer.intensity;
      const double roof = std::min(ceilings.peaks[0].flops_per_s,
                                   ceilings.bandwidths[1].bytes_per_s * *layer.intensity);
      layer.time_s = layer.operations / (roof * between(0.05, 1));
      layer.roofs = {{"FP32 vector", 0.5}};
      total += layer.time_s;
      made.layers.push_back(layer);
    }
    for (ExplainedLayer& layer : made.layers) layer.time_share = layer.time_s / total;
    made.time_s = exact(total, Source::predicted);
    return made;
  }

  EnergyRoofline energy(const std::string& label) {
    return made_up_energy(label, count(1, 64), between(1e8, 2e9),
                          count(0, 2) ? std::optional<double>() : between(80, 150));
  }

  // A catalog device under a limit of latency, with names of ours.
  Figure plan() {
    static const std::vector<std::string> devices{"jetson-orin-nano-8gb", "jetson-agx-orin-64gb",
                                                  "jetson-xavier-nx", "a100-80gb-sxm"};
    Planned planned(devices[static_cast<std::size_t>(count(0, 3))],
                    count(0, 1) ? "resnet18" : "lenet5", Runtime::tensorrt);
    planned.problem.machine = name();
    planned.problem.network = name();
    for (CandidateMode& mode : planned.problem.candidates.modes)
      if (mode.stock && count(0, 3) == 0) mode.point.label = name();
    Objective objective = count(0, 1) ? at_rate(between(1, 20)) : least(Goal::energy);
    objective.limits.push_back({LimitKind::latency, between(0.1, 2), 0, "--latency " + name()});
    return plan_figure(planned.problem, planned.plan(objective),
                       count(0, 1) ? ColourKnob::gpu : ColourKnob::memory);
  }

  Figure figure(int kind) {
    switch (kind % 14) {
      case 0:
      case 1:
      case 2:
        return roofline_figure(roofline());
      case 10:
        return roofline_panels({roofline(), roofline(), roofline()});
      case 11:
        return roofline_overlay({roofline(), roofline(), roofline(), roofline()});
      case 12:
      case 13:
        return plan();
      case 3:
      case 4:
      case 5: {
        const Ceilings roofs = ceilings();
        return layers_figure(explanation(roofs), roofs);
      }
      case 6:
        return energy_figure(energy("MAXN"));
      case 7:
        return energy_overlay({energy("15W"), energy("30W"), energy("MAXN")});
      case 8:
        return layer_times_figure(explanation(ceilings()));
      default:
        return energy_panels({energy("15W"), energy("30W")});
    }
  }

 private:
  std::mt19937 random_;
};

class GeneratedFigures : public ::testing::Test {
 protected:
  template <class Check>
  static void each_panel(const Check& check) {
    for (int i = 0; i < 100; ++i) {
      SCOPED_TRACE("figure " + std::to_string(i));
      const Figure figure = Generator(static_cast<unsigned>(i)).figure(i);
      const SvgLayout layout = svg_layout(figure);
      for (std::size_t p = 0; p < figure.panels.size(); ++p)
        check(figure, figure.panels[p], layout, layout.panels[p]);
    }
  }
};

// Roofs, fronts and bars of intervals.
std::vector<Box> lines_of(const Panel& panel, const Viewport& view) {
  std::vector<Box> lines;
  const auto add = [&](XY from, XY to) {
    lines.push_back(segment_box(view.screen(from), view.screen(to)));
  };
  for (const Series& series : panel.series) {
    for (std::size_t i = 1; i < series.points.size() && series.style.width > 0; ++i)
      add(series.points[i - 1], series.points[i]);
    for (std::size_t i = 0; i < series.x_intervals.size(); ++i)
      add({series.x_intervals[i].low, series.points[i].y},
          {series.x_intervals[i].high, series.points[i].y});
    for (std::size_t i = 0; i < series.y_intervals.size(); ++i)
      add({series.points[i].x, series.y_intervals[i].low},
          {series.points[i].x, series.y_intervals[i].high});
  }
  return lines;
}

TEST_F(GeneratedFigures, LabelsOverlapNoOtherNoLineAndNoFrame) {
  std::size_t labels = 0, small_labels = 0, small_on_lines = 0;
  each_panel([&](const Figure& figure, const Panel& panel, const SvgLayout& layout,
                 const SvgPanel& placed) {
    const Viewport& view = placed.view;
    const std::vector<Box> lines = lines_of(panel, view);
    for (std::size_t i = 0; i < placed.labels.size(); ++i) {
      const PlacedLabel& label = placed.labels[i];
      ++labels;
      for (std::size_t k = i + 1; k < placed.labels.size(); ++k)
        EXPECT_FALSE(overlap(label.box, placed.labels[k].box))
            << label.text << " and " << placed.labels[k].text;
      const bool in_margin = panel.labels[label.label].place == LabelPlace::right_margin;
      EXPECT_TRUE(in_margin ? inside(label.box, view.right(), view.top, layout.width, view.bottom())
                            : inside(label.box, view.left, view.top, view.right(), view.bottom()))
          << label.text;
      // Small panels keep few places: there a rim of white keeps a label readable on a line.
      const auto on_a_line = std::any_of(lines.begin(), lines.end(), [&](const Box& line) {
        return !in_margin && overlap(label.box, line);
      });
      if (figure.size == PanelSize::small)
        small_on_lines += on_a_line, ++small_labels;
      else
        EXPECT_FALSE(on_a_line) << label.text;
    }
  });
  EXPECT_GT(labels, 500U);
  EXPECT_LT(small_on_lines, small_labels / 10) << small_labels;
}

TEST_F(GeneratedFigures, TextIsReadableAt800Pixels) {
  EXPECT_EQ(svg_page::width, 800);
  for (int i = 0; i < 100; ++i) {
    const std::string picture = svg(Generator(static_cast<unsigned>(i)).figure(i));
    for (std::size_t at = picture.find("font-size=\""); at != std::string::npos;
         at = picture.find("font-size=\"", at + 1))
      EXPECT_GE(std::stod(picture.substr(at + 11, 5)), 9) << i;
  }
}

TEST_F(GeneratedFigures, TitlesAndLegendsStayOnThePage) {
  for (int i = 0; i < 100; ++i) {
    const Figure figure = Generator(static_cast<unsigned>(i)).figure(i);
    const SvgLayout layout = svg_layout(figure);
    for (const std::string& line : layout.title_lines)
      EXPECT_LE(svg_page::margin + 1.15 * text_width_px(line, svg_page::title_px), layout.width)
          << line;
    for (const LegendEntry& entry : figure.legend)
      EXPECT_LE(legend_entry_width(entry), layout.width) << entry.text;
  }
}

}  // namespace
}  // namespace ridgeline::testing
