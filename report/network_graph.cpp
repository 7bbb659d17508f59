// Edges follow names in the order of the rows, since names may be used again; rows that are left
// out pass on who wrote their input.
#include "report/network_graph.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/text_table.h"
#include "base/units.h"

namespace ridgeline {
namespace {

constexpr int label_width = 40;

// Within double quotes of the DOT language.
std::string dot_text(std::string_view text) {
  std::string escaped;
  for (const char c : printable(std::string(text))) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

// Narrow types are light, wide ones dark: an engine's mixture is seen at a glance.
std::string_view color(std::string_view dtype) {
  if (dtype.starts_with("int4") || dtype.starts_with("fp4")) return "#d5f0c1";
  if (dtype.starts_with("int8") || dtype.starts_with("fp8")) return "#aad688";
  if (dtype == "fp16" || dtype == "bf16") return "#f5d38b";
  if (dtype == "fp32" || dtype == "tf32") return "#eda58c";
  return "#dddddd";
}

std::string shape_label(const Tensor& tensor) {
  if (tensor.source == ShapeSource::unknown) return "?";
  std::string text;
  for (const std::int64_t size : tensor.shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return fmt::format("{} {}", to_string(tensor.type), text.empty() ? "scalar" : text);
}

bool is_left_out(const AnalysisRow& row) {
  return row.standing != Standing::counted || row.compute_class == ComputeClass::none;
}

std::string node_line(std::size_t index, const AnalysisRow& row) {
  std::string label = fmt::format("{}\\n{} {}", dot_text(elide_middle(row.name, label_width)),
                                  dot_text(row.op), dot_text(row.dtype));
  if (row.time_s) label += fmt::format("\\n{}", format_seconds(*row.time_s));
  const bool only_moves = row.compute_class == ComputeClass::memory;
  return fmt::format("  n{} [label=\"{}\", fillcolor=\"{}\"{}];\n", index, label, color(row.dtype),
                     only_moves ? ", shape=ellipse" : "");
}

}  // namespace

std::string network_dot(const Analysis& analysis, bool all) {
  std::string text = fmt::format(
      "digraph \"{}\" {{\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n"
      "  edge [fontname=\"sans-serif\", fontsize=10];\n",
      dot_text(analysis.model.path));
  std::unordered_map<std::string_view, std::optional<std::size_t>> writers;
  for (std::size_t index = 0; index < analysis.rows.size(); ++index) {
    const AnalysisRow& row = analysis.rows[index];
    const bool is_shown = all || !is_left_out(row);
    if (is_shown) text += node_line(index, row);
    std::optional<std::size_t> first_writer;
    std::set<std::size_t> drawn;
    for (const Tensor* input : row.inputs) {
      const auto found = writers.find(input->name);
      if (found == writers.end() || !found->second) continue;
      if (!first_writer) first_writer = found->second;
      if (is_shown && drawn.insert(*found->second).second)
        text += fmt::format("  n{} -> n{} [label=\"{}\"];\n", *found->second, index,
                            dot_text(shape_label(*input)));
    }
    for (const Tensor* output : row.outputs)
      writers[output->name] = is_shown ? std::optional(index) : first_writer;
  }
  return text + "}\n";
}

}  // namespace ridgeline
