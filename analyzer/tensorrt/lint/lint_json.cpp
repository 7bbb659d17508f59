// The JSON form, ridgeline.lint/1: every layer of every finding, where the text shows the first.
#include "analyzer/tensorrt/lint/lint.h"
#include "base/json.h"

namespace ridgeline::tensorrt {
namespace {

Json finding_json(const Finding& finding, const LintReport& report) {
  return {{"rule", finding.rule},
          {"what", finding.what},
          {"remedy", finding.remedy},
          {"lost_s", nullable(finding.lost_s)},
          {"lost_source", finding.lost_s ? Json(to_string(finding.source)) : Json()},
          {"lost_bytes", nullable(finding.lost_bytes)},
          {"layers", array_of(finding.layers, [&](const FindingLayer& layer) {
             return Json{{"name", report.layer_names[layer.layer]},
                         {"lost_s", nullable(layer.lost_s)},
                         {"lost_bytes", nullable(layer.lost_bytes)},
                         {"detail", layer.detail}};
           })}};
}

}  // namespace

Json to_json(const LintReport& report) {
  return {
      {"schema", LintReport::schema},
      {"engine", {{"path", report.path}, {"version", report.version}, {"device", report.device}}},
      {"machine", report.machine},
      {"layers", report.layers},
      {"time_s", nullable(report.time_s)},
      {"time_source", report.time_source ? Json(to_string(*report.time_source)) : Json()},
      {"findings", array_of(report.findings,
                            [&](const Finding& finding) { return finding_json(finding, report); })},
      {"skipped", array_of(report.skipped,
                           [](const SkippedRule& skipped) {
                             return Json{{"rule", skipped.rule}, {"why", skipped.why}};
                           })},
      {"notes", report.notes}};
}

}  // namespace ridgeline::tensorrt
