// tegrastats: words in any order and number; "RAIL now/mean" or "RAIL now/mean/peak" with or
// without mW is power, and only the first value is a reading. jtop: a header, and "Power RAIL"
// columns in mW.
#include "devices/sensors/power_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace ridgeline {
namespace {

constexpr double usual_interval_s = 1;  // tegrastats' own default
constexpr double log_lag_s = 0.43;      // of the INA3221 as boards are set
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string_view> log_words(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && std::isspace(static_cast<unsigned char>(line[at]))) ++at;
    std::size_t end = at;
    while (end < line.size() && !std::isspace(static_cast<unsigned char>(line[end]))) ++end;
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::vector<std::string_view> log_lines(std::string_view text) {
  std::vector<std::string_view> lines = split(text, '\n');
  for (std::string_view& line : lines)
    if (line.ends_with('\r')) line.remove_suffix(1);
  return lines;
}

// "7600mW" or "7600".
std::optional<double> milliwatts(std::string_view word) {
  if (word.ends_with("mW")) word.remove_suffix(2);
  long value = 0;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (fault != std::errc{} || end != word.data() + word.size() || word.empty()) return std::nullopt;
  return static_cast<double>(value);
}

// The first of "now/mean" or "now/mean/peak", if all of them are power.
std::optional<double> power_word(std::string_view word) {
  const std::vector<std::string_view> parts = split(word, '/');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  for (const std::string_view part : parts)
    if (!milliwatts(part)) return std::nullopt;
  return *milliwatts(parts.front()) * 1e-3;
}

bool is_rail_name(std::string_view word) {
  return word.size() > 1 && std::isupper(static_cast<unsigned char>(word.front())) &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool is_all_digits(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

double seconds_from(std::tm parts) {
  parts.tm_isdst = 0;
  return static_cast<double>(timegm(&parts));
}

// "03-14-2024 09:26:53".
std::optional<double> tegrastats_time(std::string_view line) {
  std::tm parts{};
  const std::string text(line.substr(0, 19));
  if (std::sscanf(text.c_str(), "%2d-%2d-%4d %2d:%2d:%2d", &parts.tm_mon, &parts.tm_mday,
                  &parts.tm_year, &parts.tm_hour, &parts.tm_min, &parts.tm_sec) != 6)
    return std::nullopt;
  parts.tm_mon -= 1;
  parts.tm_year -= 1900;
  return seconds_from(parts);
}

// "2024-03-14 09:26:53.123456".
std::optional<double> jtop_time(std::string_view cell) {
  std::tm parts{};
  double second = 0;
  const std::string text(cell);
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d%*1[ T]%2d:%2d:%lf", &parts.tm_year, &parts.tm_mon,
                  &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &second) != 6)
    return std::nullopt;
  parts.tm_mon -= 1;
  parts.tm_year -= 1900;
  return seconds_from(parts) + second;
}

bool looks_like_tegrastats(std::string_view line) {
  const std::vector<std::string_view> words = log_words(line);
  const auto ram = std::ranges::find(words, "RAM");
  return ram != words.end() && ram + 1 != words.end() && (ram + 1)->ends_with("MB") &&
         std::ranges::find(words, "CPU") != words.end();
}

std::size_t channel_named(PowerRecord& record, std::string_view label) {
  const auto found = std::ranges::find(record.channels, label, &PowerChannel::label);
  if (found != record.channels.end())
    return static_cast<std::size_t>(found - record.channels.begin());
  record.channels.push_back({std::string(label), false, log_lag_s, 0});
  return record.channels.size() - 1;
}

// Stamps have whole seconds, and lines may come faster: such lines are spread evenly.
void set_times(PowerRecord& record, const std::vector<std::optional<double>>& stamps,
               std::optional<double> interval_s) {
  const bool stamped = !stamps.empty() && std::ranges::all_of(stamps, [](const auto& stamp) {
    return stamp.has_value();
  });
  if (!stamped || interval_s) {
    if (!interval_s)
      record.notes.push_back(
          "the log has no time: a second between its lines is assumed; give "
          "--interval if it was another");
    for (std::size_t i = 0; i < record.samples.size(); ++i)
      record.samples[i].time_s = static_cast<double>(i) * interval_s.value_or(usual_interval_s);
    return;
  }
  bool repeats = false, steps_back = false;
  for (std::size_t i = 1; i < stamps.size(); ++i) {
    repeats = repeats || *stamps[i] == *stamps[i - 1];
    steps_back = steps_back || *stamps[i] < *stamps[i - 1];
  }
  const double seconds = *stamps.back() - *stamps.front();
  for (std::size_t i = 0; i < record.samples.size(); ++i)
    record.samples[i].time_s =
        repeats && !steps_back && stamps.size() > 1
            ? seconds * static_cast<double>(i) / static_cast<double>(stamps.size() - 1)
            : *stamps[i] - *stamps.front();
}

PowerRecord parse_tegrastats(const std::vector<std::string_view>& lines,
                             std::optional<double> interval_s) {
  PowerRecord record;
  std::vector<std::optional<double>> stamps;
  std::size_t foreign = 0;
  for (const std::string_view line : lines) {
    const std::vector<std::string_view> words = log_words(line);
    if (words.empty()) continue;
    PowerSample sample;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (!is_rail_name(words[i]) || is_all_digits(words[i]) || words[i] == "NC") continue;
      const auto power = power_word(words[i + 1]);
      if (!power) continue;
      const std::size_t channel = channel_named(record, words[i]);
      sample.power_w.resize(std::max(sample.power_w.size(), channel + 1), nothing);
      sample.power_w[channel] = *power;
    }
    if (sample.power_w.empty()) {
      foreign += looks_like_tegrastats(line) ? 0 : 1;
      continue;
    }
    record.samples.push_back(std::move(sample));
    stamps.push_back(tegrastats_time(line));
  }
  set_times(record, stamps, interval_s);
  if (foreign > 0)
    record.notes.push_back(fmt::format("{} line{} that {} not of tegrastats: skipped", foreign,
                                       foreign == 1 ? "" : "s", foreign == 1 ? "is" : "are"));
  return record;
}

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  for (std::string& cell : cells) cell = trimmed(cell);
  return cells;
}

bool looks_like_jtop(std::string_view header) {
  const std::vector<std::string> cells = cells_of(header);
  return cells.size() > 1 && std::ranges::find(cells, "time") != cells.end() &&
         std::ranges::any_of(cells, [](const std::string& cell) {
           return cell.starts_with("Power ") || cell == "uptime" || cell == "nvp model";
         });
}

PowerRecord parse_jtop(const std::vector<std::string_view>& lines,
                       std::optional<double> interval_s) {
  PowerRecord record;
  const std::vector<std::string> header = cells_of(lines.front());
  std::vector<std::size_t> columns;
  std::size_t time_column = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i] == "time") time_column = i;
    constexpr std::string_view prefix = "Power ";
    if (!header[i].starts_with(prefix)) continue;
    columns.push_back(i);
    channel_named(record, header[i].substr(prefix.size()));
  }
  std::vector<std::optional<double>> stamps;
  std::size_t damaged = 0;
  for (std::size_t l = 1; l < lines.size(); ++l) {
    if (trimmed(std::string(lines[l])).empty()) continue;
    const std::vector<std::string> cells = cells_of(lines[l]);
    PowerSample sample;
    bool any = false;
    for (const std::size_t column : columns) {
      const auto value = column < cells.size() ? milliwatts(cells[column]) : std::nullopt;
      sample.power_w.push_back(value ? *value * 1e-3 : nothing);
      any = any || value;
    }
    if (!any) {
      ++damaged;
      continue;
    }
    record.samples.push_back(std::move(sample));
    stamps.push_back(time_column < cells.size() ? jtop_time(cells[time_column]) : std::nullopt);
  }
  set_times(record, stamps, interval_s);
  if (damaged > 0)
    record.notes.push_back(
        fmt::format("{} line{} without power: skipped", damaged, damaged == 1 ? "" : "s"));
  return record;
}

// The rails that make up the board; jtop's own total only where the catalog knows no such board.
void choose_total(PowerRecord& record) {
  const auto own = std::ranges::find(record.channels, "TOT", &PowerChannel::label);
  if (mark_summed_rails(record.channels)) return;
  if (own == record.channels.end()) {
    record.notes.push_back(
        "which of these rails make up the board's power is not known: no total is shown");
    return;
  }
  own->in_sum = true;
  record.notes.push_back("the total is the one that jtop computed");
}

}  // namespace

PowerRecord parse_power_log(std::string_view text, const std::string& name,
                            std::optional<double> interval_s) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::vector<std::string_view> lines = log_lines(text);
  const bool is_jtop = looks_like_jtop(lines.front());
  if (!is_jtop && std::ranges::none_of(lines, looks_like_tegrastats))
    throw Error(name, "is neither a log of tegrastats nor a CSV file of jtop",
                "record one with: tegrastats --interval 100 --logfile " + name);
  PowerRecord record =
      is_jtop ? parse_jtop(lines, interval_s) : parse_tegrastats(lines, interval_s);
  record.source = (is_jtop ? "jtop log " : "tegrastats log ") + name;
  if (record.samples.empty())
    throw Error(name, "no line of it has power rails",
                "the board has no power sensor, or the tool did not see it", ExitCode::incomplete);
  for (PowerSample& sample : record.samples) sample.power_w.resize(record.channels.size(), nothing);
  choose_total(record);
  return record;
}

}  // namespace ridgeline
