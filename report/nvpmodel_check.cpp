// Lays out the report: the modes with what differs from the stock ones, then the findings by line.
// Modes that equal the stock ones take one line each.
#include "report/nvpmodel_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text_table.h"
#include "base/wrap.h"
#include "report/modes.h"

namespace ridgeline {
namespace {

using nvpmodel::CheckedMode;
using nvpmodel::ModeOrigin;
using nvpmodel::Severity;

// Of the rest only the number is printed: a damaged file has as many findings as lines.
constexpr std::size_t most_findings_shown = 50;

std::string what_differs(const CheckedMode& checked) {
  if (checked.origin != ModeOrigin::changed) return std::string(to_string(checked.origin));
  return fmt::format("changed: {}", fmt::join(checked.differences, ", "));
}

std::string fingerprint_text(const ModesCheck& check) {
  return fmt::format("{:016x}", check.configuration.fingerprint);
}

std::size_t error_count(const ModesCheck& check) {
  return static_cast<std::size_t>(std::count_if(
      check.report.findings.begin(), check.report.findings.end(),
      [](const nvpmodel::Finding& finding) { return finding.severity == Severity::error; }));
}

Json checked_json(const CheckedMode& checked) {
  Json json = mode_json(checked.mode);
  json["line"] = checked.line;
  json["origin"] = to_string(checked.origin);
  json["differences"] = checked.differences;
  return json;
}

}  // namespace

std::string check_text(const ModesCheck& check, int width) {
  std::string text = wrap(fmt::format("{}, checked against {}, configuration {}", check.file,
                                      check.device.name, check.report.configuration),
                          width, 2) +
                     "\n\n";
  TextTable table{{{"id", Align::right},
                   {"mode", Align::left, true},
                   {"SMs", Align::right},
                   {"GPU MHz", Align::right},
                   {"EMC MHz", Align::right},
                   {"CPU MHz", Align::right},
                   {"cores", Align::right},
                   {"reach"},
                   {"is"}},
                  {}};
  const auto count = [](std::optional<int> value) { return value ? std::to_string(*value) : ""; };
  for (const CheckedMode& checked : check.report.modes) {
    const OperatingPoint& point = checked.mode.point;
    table.rows.push_back({count(checked.mode.id), checked.name, count(point.gpu_units),
                          megahertz(point.gpu_hz), megahertz(point.memory_hz), cpu_megahertz(point),
                          count(point.cpu_cores), std::string(to_string(checked.mode.reach)),
                          std::string(to_string(checked.origin))});
  }
  text += render_text(table, width);
  for (const CheckedMode& checked : check.report.modes)
    if (checked.origin == ModeOrigin::changed)
      text += wrap(checked.name + " " + what_differs(checked), width, 2) + "\n";
  if (!check.report.missing.empty())
    text += wrap(fmt::format("missing stock modes: {}", fmt::join(check.report.missing, ", ")),
                 width, 2) +
            "\n";
  text += "\n";
  const auto& findings = check.report.findings;
  for (std::size_t i = 0; i < std::min(findings.size(), most_findings_shown); ++i)
    text += wrap(fmt::format("line {}: {}: {}", findings[i].line, to_string(findings[i].severity),
                             findings[i].what),
                 width, 2) +
            "\n";
  if (findings.size() > most_findings_shown)
    text += fmt::format("and {} more\n", findings.size() - most_findings_shown);
  const std::size_t errors = error_count(check);
  const std::size_t warnings = findings.size() - errors;
  text += fmt::format("{} error{}, {} warning{}\n", errors, errors == 1 ? "" : "s", warnings,
                      warnings == 1 ? "" : "s");
  return text;
}

std::string check_csv(const ModesCheck& check) {
  std::string text = "line,severity,what\n";
  for (const nvpmodel::Finding& finding : check.report.findings)
    text += csv_row(
        {std::to_string(finding.line), std::string(to_string(finding.severity)), finding.what});
  for (const CheckedMode& checked : check.report.modes)
    text += csv_row(
        {std::to_string(checked.line), "mode", checked.name + ": " + what_differs(checked)});
  return text;
}

std::string check_json(const ModesCheck& check) {
  const Json findings = array_of(check.report.findings, [](const nvpmodel::Finding& finding) {
    return Json{
        {"line", finding.line}, {"severity", to_string(finding.severity)}, {"what", finding.what}};
  });
  return dump_json({{"schema", ModesCheck::schema},
                    {"file", check.file},
                    {"fingerprint", fingerprint_text(check)},
                    {"device", check.device.id},
                    {"configuration", check.report.configuration},
                    {"default", check.configuration.default_id},
                    {"modes", array_of(check.report.modes, checked_json)},
                    {"missing", check.report.missing},
                    {"findings", findings}});
}

void throw_first_error(const ModesCheck& check) {
  const auto& findings = check.report.findings;
  const auto first = std::find_if(
      findings.begin(), findings.end(),
      [](const nvpmodel::Finding& finding) { return finding.severity == Severity::error; });
  if (first == findings.end()) return;
  const std::size_t others = error_count(check) - 1;
  throw Error(fmt::format("{}:{}", check.file, first->line), first->what,
              others == 0 ? "" : fmt::format("and {} more, see the report", others));
}

}  // namespace ridgeline
