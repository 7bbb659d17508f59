// With n readers a sample takes serial + (alone − serial) / n; the serial part is the mean over all
// rows with several readers.
#include "planner/training/measured_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/units.h"

namespace ridgeline {
namespace {

template <class Row>
std::vector<const Row*> ok_rows(const Profile& profile, std::vector<Row> ProfileMode::*rows) {
  std::vector<const Row*> found;
  for (const ProfileMode& mode : profile.modes)
    for (const Row& row : mode.*rows)
      if (row.status == Status::ok) found.push_back(&row);
  return found;
}

double sample_s(const StorageRow& row) {
  return static_cast<double>(row.bytes_per_read) / row.bytes_per_s->value;
}

}  // namespace

std::optional<StorageMedium> measured_medium(const Profile& profile, const std::string& name) {
  const StorageRow *whole = nullptr, *alone = nullptr;
  const auto rows = ok_rows(profile, &ProfileMode::storage);
  for (const StorageRow* row : rows) {
    if (!row->bytes_per_s || !(row->bytes_per_s->value > 0)) continue;
    if (row->pattern == "sequential" && (whole == nullptr || row->readers < whole->readers))
      whole = row;
    if (row->pattern == "samples" && row->readers == 1) alone = row;
  }
  if (whole == nullptr || alone == nullptr) return std::nullopt;
  StorageMedium medium;
  medium.name = alone->medium.empty() ? name : alone->medium;
  medium.source = Source::measured;
  medium.cost.bytes_per_s = whole->bytes_per_s->value;
  const double alone_s = sample_s(*alone);
  medium.cost.access_s =
      std::max(0.0, alone_s - static_cast<double>(alone->bytes_per_read) / medium.cost.bytes_per_s);
  double serial_s = 0;
  int rows_of_many = 0;
  for (const StorageRow* row : rows) {
    if (row->pattern != "samples" || row->readers < 2 || !row->bytes_per_s ||
        row->bytes_per_read != alone->bytes_per_read)
      continue;
    const double readers = row->readers;
    serial_s += (readers * sample_s(*row) - alone_s) / (readers - 1);
    ++rows_of_many;
  }
  if (rows_of_many > 0)
    medium.cost.serial_share = std::clamp(serial_s / rows_of_many / alone_s, 0.0, 1.0);
  medium.origin = fmt::format("{}: {} long reads, {} per sample of {}{}", name,
                              format_si(medium.cost.bytes_per_s, "B/s"), format_seconds(alone_s),
                              format_si(static_cast<double>(alone->bytes_per_read), "B"),
                              rows_of_many > 0 ? "" : "; one reader only was measured");
  return medium;
}

std::optional<Decoding> measured_decoding(const Profile& profile, const std::string& name) {
  const DecodeRow* best = nullptr;  // with the fewest threads, which disturb each other least
  for (const DecodeRow* row : ok_rows(profile, &ProfileMode::decode)) {
    if (!row->time_s || !row->clock_hz || row->bytes == 0) continue;
    if (best == nullptr || row->threads < best->threads) best = row;
  }
  if (best == nullptr) return std::nullopt;
  return Decoding{
      best->time_s->value * best->clock_hz->value / static_cast<double>(best->bytes),
      fmt::format("{}: {} {}×{} of {} in {} at {} by {}, decoding alone", name, best->format,
                  best->width, best->height, format_si(static_cast<double>(best->bytes), "B"),
                  format_seconds(best->time_s->value), format_hz(best->clock_hz->value),
                  best->library)};
}

}  // namespace ridgeline
