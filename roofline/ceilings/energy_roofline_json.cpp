// An EnergyRoofline as JSON (docs/schemas/energy_roofline.schema.json) and as CSV.
// Full precision; the printed text is in report/energy_roofline.h.
#include <cmath>

#include "base/csv.h"
#include "base/json.h"
#include "roofline/ceilings/energy_roofline.h"

namespace ridgeline {
namespace {

std::vector<EnergySample> curve_of(const EnergyRoof& roof, const EnergyRoofline& roofline) {
  const IntensityRange range = intensity_range({&roofline, 1});
  return energy_curve(roof.terms, range.low, range.high);
}

// An infinite end is null: the cap limits every intensity above `low`.
Json capped_json(const std::optional<CappedRange>& range) {
  if (!range) return nullptr;
  return {{"low", range->low}, {"high", std::isinf(range->high) ? Json() : Json(range->high)}};
}

Json roof_json(const EnergyRoof& roof, const EnergyRoofline& roofline) {
  Json json;
  json["name"] = roof.name;
  json["unit"] = to_string(roof.unit);
  json["dtype"] = to_string(roof.dtype);
  json["accumulate"] = to_string(roof.accumulate);
  json["flops_per_s"] = to_json(roof.flops_per_s);
  json["joule_per_flop"] = to_json(roof.joule_per_flop);
  json["time_balance"] = to_json(roof.time_balance);
  json["energy_balance"] = nullable(roof.energy_balance);
  json["half_efficiency_balance"] = to_json(roof.half_efficiency_balance);
  json["limit_flop_per_joule"] = to_json(roof.limit_flop_per_joule);
  json["peak_power_w"] = to_json(roof.peak_power_w);
  json["capped"] = capped_json(roof.capped);
  json["race_to_halt"] = nullable(roof.race_to_halt);
  json["curve"] = array_of(curve_of(roof, roofline), [](const EnergySample& sample) -> Json {
    return {{"flop_per_byte", sample.flop_per_byte},
            {"flops_per_s", sample.flops_per_s},
            {"flop_per_joule", sample.flop_per_joule},
            {"power_w", sample.power_w}};
  });
  return json;
}

struct Quantity {
  const char* name;
  const char* unit;
  std::optional<Estimate> value;
};

std::string quantity_row(const std::string& roof, const Quantity& quantity) {
  if (!quantity.value) return "";
  return csv_row({roof, quantity.name, quantity.unit, "", csv_number(quantity.value->value),
                  csv_number(quantity.value->low), csv_number(quantity.value->high),
                  std::string(to_string(quantity.value->source))});
}

std::string sample_row(const std::string& roof, const char* name, const char* unit,
                       double flop_per_byte, double value) {
  return csv_row({roof, name, unit, csv_number(flop_per_byte), csv_number(value), "", "",
                  std::string(to_string(Source::predicted))});
}

Json expected_json(const std::optional<ExpectedEnergy>& expected) {
  if (!expected) return nullptr;
  return {{"flops_per_s", expected->flops_per_s},
          {"bytes_per_s", expected->bytes_per_s},
          {"joule_per_flop", expected->joule_per_flop},
          {"joule_per_byte", expected->joule_per_byte},
          {"constant_power_w", expected->constant_power_w},
          {"idle_power_w", expected->idle_power_w ? Json(*expected->idle_power_w) : Json()}};
}

}  // namespace

Json to_json(const EnergyRoofline& roofline) {
  Json json;
  json["schema"] = EnergyRoofline::schema;
  json["machine"] = roofline.machine;
  json["mode"] = to_json(roofline.mode);
  json["profile"] = roofline.profile;
  json["disturbed"] = roofline.disturbed;
  json["processor"] = to_string(roofline.processor);
  json["bytes_per_s"] = to_json(roofline.bytes_per_s);
  json["joule_per_byte"] = to_json(roofline.joule_per_byte);
  json["constant_power_w"] = to_json(roofline.constant_power_w);
  json["idle_power_w"] = nullable(roofline.idle_power_w);
  json["roofs"] =
      array_of(roofline.roofs, [&](const EnergyRoof& roof) { return roof_json(roof, roofline); });
  json["main"] = roofline.roofs[roofline.main].name;
  json["expected"] = expected_json(roofline.expected);
  return json;
}

std::string to_csv(const EnergyRoofline& roofline) {
  std::string csv =
      csv_row({"roof", "quantity", "unit", "flop_per_byte", "value", "low", "high", "source"});
  for (const Quantity& quantity : {Quantity{"bytes_per_s", "B/s", roofline.bytes_per_s},
                                   Quantity{"joule_per_byte", "J/B", roofline.joule_per_byte},
                                   Quantity{"constant_power_w", "W", roofline.constant_power_w},
                                   Quantity{"idle_power_w", "W", roofline.idle_power_w}})
    csv += quantity_row("", quantity);
  if (const auto& expected = roofline.expected) {
    const auto row = [&](const char* name, const char* unit, double value) {
      csv += csv_row({roofline.main_roof().name, std::string("expected_") + name, unit, "",
                      csv_number(value), "", "", std::string(to_string(Source::predicted))});
    };
    row("flops_per_s", "FLOP/s", expected->flops_per_s);
    row("bytes_per_s", "B/s", expected->bytes_per_s);
    row("joule_per_flop", "J/FLOP", expected->joule_per_flop);
    row("joule_per_byte", "J/B", expected->joule_per_byte);
    row("constant_power_w", "W", expected->constant_power_w);
    if (expected->idle_power_w) row("idle_power_w", "W", *expected->idle_power_w);
  }
  for (const EnergyRoof& roof : roofline.roofs) {
    for (const Quantity& quantity :
         {Quantity{"flops_per_s", "FLOP/s", roof.flops_per_s},
          Quantity{"joule_per_flop", "J/FLOP", roof.joule_per_flop},
          Quantity{"time_balance", "FLOP/byte", roof.time_balance},
          Quantity{"energy_balance", "FLOP/byte", roof.energy_balance},
          Quantity{"half_efficiency_balance", "FLOP/byte", roof.half_efficiency_balance},
          Quantity{"limit_flop_per_joule", "FLOP/J", roof.limit_flop_per_joule},
          Quantity{"peak_power_w", "W", roof.peak_power_w},
          Quantity{"race_to_halt", "1", roof.race_to_halt}})
      csv += quantity_row(roof.name, quantity);
    for (const EnergySample& sample : curve_of(roof, roofline)) {
      const double at = sample.flop_per_byte;
      csv += sample_row(roof.name, "attainable", "FLOP/s", at, sample.flops_per_s);
      csv += sample_row(roof.name, "efficiency", "FLOP/J", at, sample.flop_per_joule);
      csv += sample_row(roof.name, "power", "W", at, sample.power_w);
    }
  }
  return csv;
}

}  // namespace ridgeline
