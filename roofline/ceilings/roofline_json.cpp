// A Roofline as JSON (docs/schemas/roofline.schema.json) and as CSV.
// Full precision; the roofline command prints the text form.

#include "base/csv.h"
#include "base/json.h"
#include "roofline/ceilings/roofline.h"

namespace ridgeline {
namespace {

Json roof_json(const Roof& roof) {
  Json json;
  json["name"] = roof.name;
  json["processor"] = to_string(roof.processor);
  json["unit"] = to_string(roof.unit);
  json["dtype"] = to_string(roof.dtype);
  json["accumulate"] = to_string(roof.accumulate);
  json["sparse"] = roof.sparse;
  json["isa"] = roof.isa;
  json["kernel"] = roof.kernel;
  json["threads"] = roof.threads;
  json["status"] = to_string(roof.status);
  json["note"] = roof.note;
  json["chosen"] = roof.chosen;
  json["sustained"] = roof.sustained;
  json["flops_per_s"] = to_json(roof.flops_per_s);
  return json;
}

Json slope_json(const Slope& slope) {
  Json json;
  json["name"] = slope.name;
  json["processor"] = to_string(slope.processor);
  json["level"] = to_string(slope.level);
  json["direction"] = to_string(slope.direction);
  json["isa"] = slope.isa;
  json["kernel"] = slope.kernel;
  json["threads"] = slope.threads;
  json["status"] = to_string(slope.status);
  json["note"] = slope.note;
  json["chosen"] = slope.chosen;
  json["sustained"] = slope.sustained;
  json["bytes_per_s"] = to_json(slope.bytes_per_s);
  return json;
}

Json point_json(const Point& point, const Roofline& roofline) {
  Json json;
  json["name"] = point.name;
  json["kind"] = to_string(point.kind);
  json["processor"] = to_string(point.processor);
  json["dtype"] = to_string(point.dtype);
  json["kernel"] = point.kernel;
  json["status"] = to_string(point.status);
  json["note"] = point.note;
  json["flop_per_byte"] = to_json(point.flop_per_byte);
  json["flops_per_s"] = nullable(point.flops_per_s);
  json["roof"] = point.roof ? Json(roofline.roofs[*point.roof].name) : Json(nullptr);
  json["slope"] = point.slope ? Json(roofline.slopes[*point.slope].name) : Json(nullptr);
  json["attainable_flops_per_s"] = nullable(point.attainable_flops_per_s);
  json["bound"] = point.bound ? Json(to_string(*point.bound)) : Json(nullptr);
  json["fraction_of_roof"] = nullable(point.fraction_of_roof);
  return json;
}

Json left_out_json(const LeftOut& row) {
  return {{"name", row.name},
          {"processor", to_string(row.processor)},
          {"kernel", row.kernel},
          {"threads", row.threads},
          {"status", to_string(row.status)},
          {"note", row.note},
          {"instead", row.instead.empty() ? Json(nullptr) : Json(row.instead)},
          {"flops_per_s", nullable(row.flops_per_s)},
          {"bytes_per_s", nullable(row.bytes_per_s)}};
}

struct ThreeNumbers {
  std::string value, low, high;
};

ThreeNumbers three(const std::optional<Estimate>& estimate) {
  if (!estimate) return {};
  return {csv_number(estimate->value), csv_number(estimate->low), csv_number(estimate->high)};
}

// One record; each kind fills only its own columns.
struct Record {
  std::string kind, name, processor, unit, dtype, accumulate, isa, level, direction, kernel,
      threads, status;
  std::optional<Estimate> flop_per_byte, flops_per_s, bytes_per_s, attainable, fraction;
  std::string bound, roof, slope, source, note;
};

std::vector<std::string> header() {
  return {"kind",
          "name",
          "processor",
          "unit",
          "dtype",
          "accumulate",
          "isa",
          "level",
          "direction",
          "kernel",
          "threads",
          "status",
          "flop_per_byte",
          "flop_per_byte_low",
          "flop_per_byte_high",
          "flops_per_s",
          "flops_per_s_low",
          "flops_per_s_high",
          "bytes_per_s",
          "bytes_per_s_low",
          "bytes_per_s_high",
          "attainable_flops_per_s",
          "fraction_of_roof",
          "bound",
          "roof",
          "slope",
          "source",
          "note"};
}

std::vector<std::string> cells(const Record& r) {
  const ThreeNumbers intensity = three(r.flop_per_byte), rate = three(r.flops_per_s),
                     bandwidth = three(r.bytes_per_s);
  return {r.kind,
          r.name,
          r.processor,
          r.unit,
          r.dtype,
          r.accumulate,
          r.isa,
          r.level,
          r.direction,
          r.kernel,
          r.threads,
          r.status,
          intensity.value,
          intensity.low,
          intensity.high,
          rate.value,
          rate.low,
          rate.high,
          bandwidth.value,
          bandwidth.low,
          bandwidth.high,
          three(r.attainable).value,
          three(r.fraction).value,
          r.bound,
          r.roof,
          r.slope,
          r.source,
          r.note};
}

Record record_of(const Roof& roof) {
  Record record;
  record.kind = "roof";
  record.name = roof.name;
  record.processor = to_string(roof.processor);
  record.unit = to_string(roof.unit);
  record.dtype = to_string(roof.dtype);
  record.accumulate = to_string(roof.accumulate);
  record.isa = roof.isa;
  record.kernel = roof.kernel;
  record.threads = std::to_string(roof.threads);
  record.status = to_string(roof.status);
  record.flops_per_s = roof.flops_per_s;
  record.source = to_string(roof.flops_per_s.source);
  record.note = roof.note;
  return record;
}

Record record_of(const Slope& slope) {
  Record record;
  record.kind = "slope";
  record.name = slope.name;
  record.processor = to_string(slope.processor);
  record.isa = slope.isa;
  record.level = to_string(slope.level);
  record.direction = to_string(slope.direction);
  record.kernel = slope.kernel;
  record.threads = std::to_string(slope.threads);
  record.status = to_string(slope.status);
  record.bytes_per_s = slope.bytes_per_s;
  record.source = to_string(slope.bytes_per_s.source);
  record.note = slope.note;
  return record;
}

Record record_of(const Ridge& ridge, const Roofline& roofline) {
  const Roof& roof = roofline.roofs[ridge.roof];
  const Slope& slope = roofline.slopes[ridge.slope];
  Record record;
  record.kind = "ridge";
  record.name = roof.name + " × " + slope.name;
  record.processor = to_string(roof.processor);
  record.dtype = to_string(roof.dtype);
  record.level = to_string(slope.level);
  record.direction = to_string(slope.direction);
  record.flop_per_byte = ridge.flop_per_byte;
  record.flops_per_s = roof.flops_per_s;
  record.roof = roof.name;
  record.slope = slope.name;
  record.source = to_string(ridge.flop_per_byte.source);
  return record;
}

Record record_of(const Point& point, const Roofline& roofline) {
  Record record;
  record.kind = std::string(to_string(point.kind)) + " point";
  record.name = point.name;
  record.processor = to_string(point.processor);
  record.dtype = to_string(point.dtype);
  record.kernel = point.kernel;
  record.status = to_string(point.status);
  record.flop_per_byte = point.flop_per_byte;
  record.flops_per_s = point.flops_per_s;
  record.attainable = point.attainable_flops_per_s;
  record.fraction = point.fraction_of_roof;
  if (point.bound) record.bound = to_string(*point.bound);
  if (point.roof) record.roof = roofline.roofs[*point.roof].name;
  if (point.slope) record.slope = roofline.slopes[*point.slope].name;
  record.source =
      to_string(point.flops_per_s ? point.flops_per_s->source : point.flop_per_byte.source);
  record.note = point.note;
  return record;
}

Record record_of(const LeftOut& row) {
  Record record;
  record.kind = row.flops_per_s ? "left out roof" : "left out slope";
  record.name = row.name;
  record.processor = to_string(row.processor);
  if (row.dtype) record.dtype = to_string(*row.dtype);
  record.kernel = row.kernel;
  record.threads = std::to_string(row.threads);
  record.status = to_string(row.status);
  record.flops_per_s = row.flops_per_s;
  record.bytes_per_s = row.bytes_per_s;
  record.source = to_string((row.flops_per_s ? *row.flops_per_s : *row.bytes_per_s).source);
  record.note = row.note;
  return record;
}

}  // namespace

Json to_json(const Roofline& roofline) {
  Json json;
  json["schema"] = Roofline::schema;
  json["machine"] = roofline.machine;
  json["mode"] = to_json(roofline.mode);
  json["date"] = roofline.date;
  json["profile"] = roofline.profile;
  json["complete"] = roofline.complete;
  json["disturbed"] = roofline.disturbed;
  json["roofs"] = Json::array();
  for (const Roof& roof : roofline.roofs) json["roofs"].push_back(roof_json(roof));
  json["slopes"] = Json::array();
  for (const Slope& slope : roofline.slopes) json["slopes"].push_back(slope_json(slope));
  json["ridges"] = Json::array();
  for (const Ridge& ridge : roofline.ridges)
    json["ridges"].push_back({{"roof", roofline.roofs[ridge.roof].name},
                              {"slope", roofline.slopes[ridge.slope].name},
                              {"flop_per_byte", to_json(ridge.flop_per_byte)}});
  json["points"] = Json::array();
  for (const Point& point : roofline.points) json["points"].push_back(point_json(point, roofline));
  json["left_out"] = array_of(roofline.left_out, left_out_json);
  json["main"] = {
      {"roof", roofline.main_roof ? Json(roofline.roofs[*roofline.main_roof].name) : Json(nullptr)},
      {"slope",
       roofline.main_slope ? Json(roofline.slopes[*roofline.main_slope].name) : Json(nullptr)}};
  return json;
}

std::string to_csv(const Roofline& roofline) {
  std::string csv = csv_row(header());
  for (const Roof& roof : roofline.roofs) csv += csv_row(cells(record_of(roof)));
  for (const Slope& slope : roofline.slopes) csv += csv_row(cells(record_of(slope)));
  for (const Ridge& ridge : roofline.ridges) csv += csv_row(cells(record_of(ridge, roofline)));
  for (const Point& point : roofline.points) csv += csv_row(cells(record_of(point, roofline)));
  for (const LeftOut& row : roofline.left_out) csv += csv_row(cells(record_of(row)));
  return csv;
}

}  // namespace ridgeline
