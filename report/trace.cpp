// The Trace Event Format: complete events ("ph": "X") with begin and duration in microseconds, one
// process per source, one thread per lane.
#include <fmt/format.h>

#include <utility>

#include "base/json.h"
#include "base/units.h"
#include "plots/figures/roofline.h"
#include "report/explanation.h"

namespace ridgeline {
namespace {

constexpr int predicted_pid = 1, measured_pid = 2;
constexpr int host_lane = 1, device_lane = 2;
constexpr double per_s = 1e6;

Json named(const char* what, int pid, int tid, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", name}}}};
}

Json span_event(const std::string& name, const char* category, int pid, int tid,
                const TimelineSpan& span, Json arguments) {
  return {{"ph", "X"},
          {"name", name},
          {"cat", category},
          {"pid", pid},
          {"tid", tid},
          {"ts", span.begin_s * per_s},
          {"dur", span.time_s * per_s},
          {"args", std::move(arguments)}};
}

Json layer_arguments(const ExplainedLayer& layer) {
  return {{"op", to_string(layer.op)},
          {"bound", to_string(layer.bound)},
          {"operations", layer.operations},
          {"bytes", layer.bytes},
          {"energy_j", nullable(layer.energy_j)},
          {"roof_share", nullable(layer.roof_share)},
          {"source", "predicted"}};
}

void add_predicted(const Explanation& explanation, const Timeline& timeline, Json& events) {
  const auto host_span = [&](const char* name, const TimelineSpan& span) {
    if (span.time_s > 0)
      events.push_back(
          span_event(name, "host", predicted_pid, host_lane, span, {{"source", "predicted"}}));
  };
  host_span("begin of the step", timeline.setup);
  for (std::size_t i = 0; i < timeline.kernels.size(); ++i) {
    const TimelineKernel& kernel = timeline.kernels[i];
    const ExplainedLayer& layer = explanation.layers[i];
    if (kernel.host.time_s > 0)
      events.push_back(span_event("launch " + layer.name, "host", predicted_pid, host_lane,
                                  kernel.host, {{"source", "predicted"}}));
    if (kernel.device.time_s > 0)
      events.push_back(span_event(layer.name, "kernel", predicted_pid, device_lane, kernel.device,
                                  layer_arguments(layer)));
  }
  host_span("end of the step", timeline.tail);
  host_span("host and device waiting for each other",
            {timeline.time_s - timeline.waiting_s, timeline.waiting_s});
}

// Profilers give durations, not begins: one kernel after the other.
void add_measured_kernels(const Explanation& explanation, Json& events) {
  if (!explanation.measured) return;
  events.push_back(named("process_name", measured_pid, 0, "measured kernels, back to back"));
  events.push_back(named("thread_name", measured_pid, device_lane, "device"));
  double begin_s = 0;
  for (const ExplainedLayer& layer : explanation.layers) {
    const double time_s = layer.measured_s.value_or(0);
    if (time_s > 0)
      events.push_back(span_event(layer.name, "kernel", measured_pid, device_lane,
                                  {begin_s, time_s},
                                  {{"op", to_string(layer.op)},
                                   {"predicted_s", layer.time_s},
                                   {"roof_share", nullable(layer.measured_roof_share)},
                                   {"source", "measured"}}));
    begin_s += time_s;
  }
}

}  // namespace

std::string trace_json(const Explanation& explanation, const Timeline& timeline) {
  const ExplainedRun& run = explanation.run;
  Json events = Json::array();
  events.push_back(named("process_name", predicted_pid, 0,
                         fmt::format("predicted: {} on {}", run.network, run.machine)));
  events.push_back(named("thread_name", predicted_pid, host_lane, "host"));
  events.push_back(named("thread_name", predicted_pid, device_lane, "device"));
  add_predicted(explanation, timeline, events);
  add_measured_kernels(explanation, events);
  const Json document = {{"displayTimeUnit", "ns"},
                         {"otherData",
                          {{"network", run.network},
                           {"machine", run.machine},
                           {"mode", mode_text(explanation.point)},
                           {"batch", run.batch},
                           {"dtype", to_string(run.dtype)},
                           {"runtime", to_string(explanation.runtime)},
                           {"time", fmt::format("{}, 90 % interval {} to {}, predicted",
                                                format_seconds(explanation.time_s.value),
                                                format_seconds(explanation.time_s.low),
                                                format_seconds(explanation.time_s.high))}}},
                         {"traceEvents", std::move(events)}};
  return dump_json(document);
}

}  // namespace ridgeline
