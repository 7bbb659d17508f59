// Parses NAME=FLOP:BYTES[:SECONDS].
// Rejects zeros: logarithmic axes cannot show them.
#include "roofline/ceilings/given_point.h"

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"

namespace ridgeline {
namespace {

// "2GFLOP", "2 GFLOP" and "2G" are the same count.
double parse_flop(std::string_view text, const std::string& where) {
  for (const std::string_view unit : {"FLOP", "OP"})
    if (text.ends_with(unit)) {
      text.remove_suffix(unit.size());
      break;
    }
  return static_cast<double>(parse_count(text, where));
}

void require_positive(double value, const std::string& where, const std::string& noun) {
  if (!(value > 0)) throw usage_error(where, noun + " must be more than 0");
}

// A name goes into JSON, XML and the terminal.
bool is_printable_utf8(const std::string& name) {
  for (const char c : name)
    if ((c >= 0 && c < 32) || c == 127) return false;
  try {
    Json(name).dump();
  } catch (const Json::type_error&) {
    return false;
  }
  return true;
}

}  // namespace

GivenPoint parse_given_point(const std::string& text, const std::string& where) {
  const auto equals = text.find('=');
  const auto parts = split(
      equals == std::string::npos ? std::string_view() : std::string_view(text).substr(equals + 1),
      ':');
  if (equals == std::string::npos || equals == 0 || parts.size() < 2 || parts.size() > 3)
    throw usage_error(where, quote(text) + " is not NAME=FLOP:BYTES[:SECONDS]",
                      "write for example gemm=2e9:48MB:3.1ms");
  GivenPoint point;
  point.name = text.substr(0, equals);
  if (!is_printable_utf8(point.name))
    throw usage_error(where, quote(point.name) + " is not a name of printable UTF-8 characters");
  const std::string here = where + " " + point.name;
  point.flop = parse_flop(parts[0], here);
  require_positive(point.flop, here, "FLOP");
  point.bytes = static_cast<double>(parse_bytes(parts[1], here));
  require_positive(point.bytes, here, "the number of bytes");
  if (parts.size() == 3) {
    point.time_s = parse_seconds(parts[2], here);
    require_positive(*point.time_s, here, "the time");
  }
  return point;
}

}  // namespace ridgeline
