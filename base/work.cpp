// Sums of Work and its JSON form.
// Counting rules per operator are in analyzer/.
#include "base/work.h"

#include <algorithm>
#include <tuple>

#include "base/json.h"
#include "base/limits.h"

namespace ridgeline {
namespace {

constexpr double max_amount = 1e30;  // a year of a hundred thousand exaflop machines

}  // namespace

Work& Work::operator+=(const Work& other) {
  // By index: a Work may be added to itself.
  const std::size_t count = other.flop.size();
  for (std::size_t i = 0; i < count; ++i) {
    const FlopCount entry = other.flop[i];
    add_flop(*this, entry.unit, entry.dtype, entry.flop);
  }
  macs += other.macs;
  transcendentals += other.transcendentals;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  weight_bytes_read += other.weight_bytes_read;
  weight_bytes_written += other.weight_bytes_written;
  return *this;
}

void add_flop(Work& work, Unit unit, DType dtype, double flop) {
  const auto place = std::find_if(work.flop.begin(), work.flop.end(), [&](const FlopCount& entry) {
    return std::tie(entry.unit, entry.dtype) >= std::tie(unit, dtype);
  });
  if (place != work.flop.end() && place->unit == unit && place->dtype == dtype)
    place->flop += flop;
  else
    work.flop.insert(place, {unit, dtype, flop});
}

double total_bytes(const Work& work) {
  return work.bytes_read + work.bytes_written + work.weight_bytes_read + work.weight_bytes_written;
}

double total_operations(const Work& work) { return total_flop(work) + total_integer_ops(work); }

double total_flop(const Work& work) {
  double total = 0;
  for (const FlopCount& entry : work.flop)
    if (!is_integer(entry.dtype)) total += entry.flop;
  return total;
}

double total_integer_ops(const Work& work) {
  double total = 0;
  for (const FlopCount& entry : work.flop)
    if (is_integer(entry.dtype)) total += entry.flop;
  return total;
}

Json to_json(const Work& work) {
  Json flop = Json::array();
  for (const FlopCount& entry : work.flop)
    flop.push_back(
        {{"unit", to_string(entry.unit)}, {"dtype", to_string(entry.dtype)}, {"flop", entry.flop}});
  return {{"flop", std::move(flop)},
          {"macs", work.macs},
          {"transcendentals", work.transcendentals},
          {"bytes_read", work.bytes_read},
          {"bytes_written", work.bytes_written},
          {"weight_bytes_read", work.weight_bytes_read},
          {"weight_bytes_written", work.weight_bytes_written}};
}

Work work_from_json(const JsonCursor& cursor) {
  Work work;
  for (const JsonCursor& entry : cursor.at("flop").items())
    add_flop(work, entry.at("unit").token<Unit>(), entry.at("dtype").token<DType>(),
             bounded(entry.at("flop"), max_amount));
  work.macs = bounded(cursor.at("macs"), max_amount);
  work.transcendentals = bounded(cursor.at("transcendentals"), max_amount);
  work.bytes_read = bounded(cursor.at("bytes_read"), max_amount);
  work.bytes_written = bounded(cursor.at("bytes_written"), max_amount);
  work.weight_bytes_read = bounded(cursor.at("weight_bytes_read"), max_amount);
  work.weight_bytes_written = bounded(cursor.at("weight_bytes_written"), max_amount);
  return work;
}

}  // namespace ridgeline
