// One block per finding: what, what it costs, the remedy, the layers that lose most.
#include "report/lint.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/csv.h"
#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"
#include "report/analysis.h"

namespace ridgeline {
namespace {

using tensorrt::Finding;
using tensorrt::FindingLayer;
using tensorrt::LintReport;

constexpr std::size_t layers_shown = 3;

constexpr int indent = 2;

std::string indented(const std::string& words, int width) {
  return std::string(indent, ' ') + wrap(words, width, 2 * indent, indent) + "\n";
}

std::string layers_words(std::size_t count) {
  return fmt::format("{} layer{}", count, count == 1 ? "" : "s");
}

std::string engine_words(const LintReport& report) {
  std::string text = std::filesystem::path(report.path).filename().string();
  for (const std::string* part : {&report.version, &report.device})
    if (!part->empty()) text += ", " + *part;
  return text;
}

std::string summary_words(const LintReport& report) {
  std::string text = layers_words(report.layers);
  if (report.time_s)
    text += fmt::format(", {} per run ({}{})", format_seconds(*report.time_s),
                        to_string(*report.time_source),
                        *report.time_source == Source::predicted ? " for " + report.machine : "");
  if (report.findings.empty()) return text + ": nothing to report";
  return text + fmt::format(": {} finding{}", report.findings.size(),
                            report.findings.size() == 1 ? "" : "s");
}

std::string share_words(const LintReport& report, double lost_s) {
  if (!report.time_s || *report.time_s <= 0) return {};
  return fmt::format(", {} of the run", format_percent(lost_s / *report.time_s, 1));
}

std::string loss_words(const LintReport& report, const Finding& finding) {
  std::string text;
  if (finding.lost_s)
    text = fmt::format("{}{} ({})", format_seconds(*finding.lost_s),
                       share_words(report, *finding.lost_s), to_string(finding.source));
  if (finding.lost_bytes)
    text += fmt::format("{}{} moved (counted)", text.empty() ? "" : "; ",
                        bytes_text(*finding.lost_bytes));
  return text.empty() ? "not known from this file" : text;
}

std::string layer_loss(const FindingLayer& layer) {
  if (layer.lost_s) return format_seconds(*layer.lost_s);
  return layer.lost_bytes ? bytes_text(*layer.lost_bytes) : "";
}

std::string layer_lines(const LintReport& report, const Finding& finding, bool all, int width) {
  TextTable table{
      {{"lost", Align::right}, {"layer", Align::left, true}, {"detail", Align::left, true}}, {}};
  const std::size_t shown =
      all ? finding.layers.size() : std::min(finding.layers.size(), layers_shown);
  for (std::size_t i = 0; i < shown; ++i)
    table.rows.push_back({layer_loss(finding.layers[i]),
                          printable(report.layer_names[finding.layers[i].layer]),
                          printable(finding.layers[i].detail)});
  std::string text;
  const std::string rendered = render_text(table, width - indent);
  for (std::size_t begin = 0; begin < rendered.size();) {
    const auto end = rendered.find('\n', begin);
    text += std::string(indent, ' ') + rendered.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  if (shown < finding.layers.size())
    text += fmt::format("  and {} more: --all shows them\n", finding.layers.size() - shown);
  return text;
}

std::string csv_number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

}  // namespace

std::string lint_text(const LintReport& report, bool all, int width) {
  std::string text = paragraph(printable(engine_words(report)), width);
  text += paragraph(summary_words(report), width);
  for (const Finding& finding : report.findings) {
    text += "\n" + paragraph(fmt::format("{}: {} ({})", finding.rule, finding.what,
                                         layers_words(finding.layers.size())),
                             width);
    text += indented("lost: " + loss_words(report, finding), width);
    text += indented("remedy: " + finding.remedy, width);
    text += layer_lines(report, finding, all, width);
  }
  if (!report.skipped.empty() || !report.notes.empty()) text += "\n";
  for (const auto& skipped : report.skipped)
    text += paragraph(fmt::format("not judged: {}, which {}", skipped.rule, skipped.why), width);
  for (const std::string& note : report.notes) text += paragraph("note: " + note, width);
  return text;
}

std::string lint_csv(const LintReport& report) {
  std::string text =
      csv_row({"rule", "layer", "lost_s", "lost_source", "lost_bytes", "detail", "what", "remedy"});
  for (const Finding& finding : report.findings)
    for (const FindingLayer& layer : finding.layers)
      text += csv_row({std::string(finding.rule), report.layer_names[layer.layer],
                       csv_number(layer.lost_s),
                       layer.lost_s ? std::string(to_string(finding.source)) : "",
                       csv_number(layer.lost_bytes), layer.detail, finding.what, finding.remedy});
  return text;
}

std::string lint_markdown(const LintReport& report) {
  TextTable table{{{"rule"}, {"lost"}, {"what"}, {"remedy"}}, {}};
  for (const Finding& finding : report.findings)
    table.rows.push_back(
        {std::string(finding.rule), loss_words(report, finding), finding.what, finding.remedy});
  return fmt::format("{}: {}\n\n", engine_words(report), summary_words(report)) +
         render_markdown(table);
}

}  // namespace ridgeline
