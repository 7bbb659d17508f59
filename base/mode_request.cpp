// The grammar of power modes and the JSON form of a request.
// devices/modes/ decides whether a machine has such a mode.
#include "base/mode_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/csv.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/units.h"

namespace ridgeline {
namespace {

// One row per knob: its word, its member, and the unit of its value.
struct ClockKnob {
  std::string_view word;
  std::optional<double> ModeRequest::*member;
};
struct CountKnob {
  std::string_view word;
  std::optional<int> ModeRequest::*member;
};
constexpr std::array<ClockKnob, 3> clock_knobs{{{"gpu", &ModeRequest::gpu_hz},
                                                {"emc", &ModeRequest::memory_hz},
                                                {"cpu", &ModeRequest::cpu_hz}}};
constexpr std::array<CountKnob, 2> count_knobs{
    {{"cores", &ModeRequest::cpu_cores}, {"sm", &ModeRequest::gpu_units}}};
constexpr std::string_view cap_word = "cap";

std::vector<std::string> knob_words() {
  std::vector<std::string> words;
  for (const auto& knob : clock_knobs) words.emplace_back(knob.word);
  for (const auto& knob : count_knobs) words.emplace_back(knob.word);
  words.emplace_back(cap_word);
  return words;
}

// In MHz where that reads back as the same double.
std::string clock_text(double hz) {
  const std::string text = csv_number(hz / 1e6) + "MHz";
  return parse_hz(text) == hz ? text : csv_number(hz) + "Hz";
}

[[noreturn]] void fail(const std::string& where, const std::string& what,
                       std::string fix = "write for example 30W or gpu=612MHz,cores=4") {
  throw usage_error(where, what, std::move(fix));
}

template <class T>
void set_once(std::optional<T>& member, T value, T max, std::string_view item,
              const std::string& where) {
  if (member) fail(where, fmt::format("{} sets a knob a second time", quote(item)));
  if (value <= 0) fail(where, fmt::format("{} is zero", quote(item)));
  if (value > max)
    fail(where, fmt::format("{} is out of range, the limit is {:g}", quote(item),
                            static_cast<double>(max)));
  member = value;
}

void parse_cap(std::string_view item, ModeRequest& request, const std::string& where) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) fail(where, fmt::format("{} has no value", quote(item)));
  const std::string_view word = item.substr(0, equals);
  const std::string_view value = item.substr(equals + 1);
  for (const auto& knob : clock_knobs)
    if (knob.word == word)
      return set_once(request.*knob.member, parse_hz(value, where), max_clock_hz, item, where);
  for (const auto& knob : count_knobs)
    if (knob.word == word) {
      const std::uint64_t count = parse_count(value, where);
      return set_once(request.*knob.member,
                      static_cast<int>(std::min<std::uint64_t>(count, max_units + 1)), max_units,
                      item, where);
    }
  if (word == cap_word)
    return set_once(request.cap_w, parse_watts(value, where), max_power_w, item, where);

  const auto words = knob_words();
  const auto guess = nearest(word, words);
  fail(where, fmt::format("unknown knob {}, known are {}", quote(word), fmt::join(words, ", ")),
       guess ? "did you mean " + *guess + "?" : "");
}

}  // namespace

ModeRequest parse_mode_request(std::string_view text, const std::string& where) {
  ModeRequest request;
  if (text.empty()) fail(where, "empty mode");
  if (text.find('=') == std::string_view::npos) {
    const bool is_word = std::all_of(
        text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c != ',' && c != 0x7f; });
    if (!is_word)
      fail(where, quote(text) + " is not a mode",
           text.find(',') == std::string_view::npos ? "" : "write one mode; --modes takes several");
    request.label = text;
    // A number with a W is a power, anything else is only a name.
    const bool is_power = text.front() >= '0' && text.front() <= '9' && text.ends_with('W') &&
                          text.find_first_not_of("0123456789.") == text.size() - 1;
    if (is_power) set_once(request.cap_w, parse_watts(text, where), max_power_w, text, where);
    return request;
  }
  for (const std::string_view cap : split(text, ',')) parse_cap(cap, request, where);
  return request;
}

std::string to_text(const ModeRequest& request) {
  if (!request.label.empty()) return request.label;
  std::vector<std::string> caps;
  for (const auto& knob : clock_knobs)
    if (const auto& hz = request.*knob.member)
      caps.push_back(fmt::format("{}={}", knob.word, clock_text(*hz)));
  for (const auto& knob : count_knobs)
    if (const auto& count = request.*knob.member)
      caps.push_back(fmt::format("{}={}", knob.word, *count));
  if (request.cap_w) caps.push_back(fmt::format("{}={}W", cap_word, csv_number(*request.cap_w)));
  return fmt::format("{}", fmt::join(caps, ","));
}

Json to_json(const ModeRequest& request) {
  return {{"label", request.label},
          {"cap_w", nullable(request.cap_w)},
          {"gpu_hz", nullable(request.gpu_hz)},
          {"memory_hz", nullable(request.memory_hz)},
          {"cpu_hz", nullable(request.cpu_hz)},
          {"cpu_cores", nullable(request.cpu_cores)},
          {"gpu_units", nullable(request.gpu_units)},
          {"locked", request.locked},
          {"reach", to_string(request.reach)}};
}

ModeRequest mode_request_from_json(const JsonCursor& cursor) {
  ModeRequest request;
  request.label = cursor.at("label").text();
  request.cap_w = optional_bounded(cursor, "cap_w", max_power_w);
  request.gpu_hz = optional_bounded(cursor, "gpu_hz", max_clock_hz);
  request.memory_hz = optional_bounded(cursor, "memory_hz", max_clock_hz);
  request.cpu_hz = optional_bounded(cursor, "cpu_hz", max_clock_hz);
  request.cpu_cores = optional_units(cursor, "cpu_cores");
  request.gpu_units = optional_units(cursor, "gpu_units");
  request.locked = cursor.at("locked").boolean();
  request.reach = cursor.at("reach").token<Reach>();
  return request;
}

}  // namespace ridgeline
