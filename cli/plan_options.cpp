// Every quantity must carry its unit: 10 may be milliseconds to one and seconds to another.
#include "cli/plan_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/nearest.h"
#include "base/units.h"
#include "cli/token_option.h"
#include "planner/periodic.h"
#include "workloads/options.h"

namespace ridgeline::cli {
namespace {

namespace po = boost::program_options;

std::optional<std::string> word_of(const Options& options, const char* name) {
  if (!options.count(name)) return std::nullopt;
  return options[name].as<std::string>();
}

// "--latency 10ms": for errors, and for people.
std::string as_typed(const char* name, const std::string& value) {
  return fmt::format("--{} {}", name, value);
}

std::vector<std::string> list_of(const std::string& text, const std::string& where) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(',', begin);
    words.push_back(text.substr(begin, end - begin));
    if (words.back().empty()) throw usage_error(where, "a value of the list is empty");
    if (end == std::string::npos) return words;
    begin = end + 1;
  }
}

void require_unit(const std::string& text, const std::string& where, const char* units) {
  if (text.empty()) throw usage_error(where, "needs a value");
  if (text.back() == '.' || (text.back() >= '0' && text.back() <= '9'))
    throw usage_error(where, "the unit is missing", fmt::format("write {}{}", text, units));
}

double positive(double value, const std::string& where) {
  if (!(value > 0)) throw usage_error(where, "must be more than zero");
  return value;
}

double plain_number(const std::string& text, const std::string& where, const char* example) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc() || rest != end || !std::isfinite(value))
    throw usage_error(where, quote(text) + " is not a number",
                      fmt::format("write for example {}", example));
  return positive(value, where);
}

// "30/s".
double per_second(const std::string& text, const std::string& where) {
  require_unit(text, where, "/s");
  if (!text.ends_with("/s"))
    throw usage_error(where, quote(text) + " is not a rate", "write for example 30/s");
  return plain_number(text.substr(0, text.size() - 2), where, "30/s");
}

// "5%" → 0.05.
double percent(const std::string& text, const std::string& where) {
  require_unit(text, where, "%");
  if (!text.ends_with("%"))
    throw usage_error(where, quote(text) + " is not a percentage", "write for example 5%");
  return plain_number(text.substr(0, text.size() - 1), where, "5%") / 100;
}

// "10ms", "10ms@p95".
void add_latency(const Options& options, Objective& objective) {
  const auto text = word_of(options, "latency");
  if (!text) return;
  const std::string where = as_typed("latency", *text);
  const std::size_t at = text->find('@');
  const std::string time = text->substr(0, at);
  require_unit(time, where, "ms or s");
  Limit limit{LimitKind::latency, positive(parse_seconds(time, where), where), 0, where};
  if (at != std::string::npos) {
    const std::string quantile = text->substr(at + 1);
    if (!quantile.starts_with("p"))
      throw usage_error(where, quote(quantile) + " is not a quantile", "write for example @p95");
    const double share = plain_number(quantile.substr(1), where, "@p95") / 100;
    if (share < 0.5 || share > 0.999) throw usage_error(where, "a quantile is from p50 to p99.9");
    objective.latency_quantile = share;
    limit.probability = share;
  }
  objective.limits.push_back(limit);
}

template <class Parse>
void add_limit(const Options& options, Objective& objective, LimitKind kind, Parse parse) {
  const std::string name(to_string(kind));
  if (const auto text = word_of(options, name.c_str())) {
    const std::string where = as_typed(name.c_str(), *text);
    objective.limits.push_back({kind, positive(parse(*text, where), where), 0, where});
  }
}

void add_battery(const Options& options, Objective& objective) {
  const auto battery = word_of(options, "battery"), hours = word_of(options, "hours");
  if (battery.has_value() != hours.has_value())
    throw usage_error(battery ? "--battery" : "--hours", "a battery needs both energy and time",
                      "write --battery 50Wh --hours 4");
  if (!battery) return;
  const std::string where = as_typed("battery", *battery);
  require_unit(*battery, where, "Wh or J");
  const double energy_j = positive(parse_joules(*battery, where), where);
  const double time_h = plain_number(*hours, as_typed("hours", *hours), "4");
  objective.limits.push_back(
      {LimitKind::battery, energy_j / (time_h * 3600), 0, where + " " + as_typed("hours", *hours)});
}

void add_arrivals(const Options& options, Objective& objective) {
  const auto frames = word_of(options, "fps"), rate = word_of(options, "rate");
  if (frames && rate)
    throw usage_error("--rate", "cannot be combined with --fps",
                      "--fps is for samples that come evenly, --rate for those at random");
  if (!frames && !rate) return;
  const std::string where = frames ? as_typed("fps", *frames) : as_typed("rate", *rate);
  const double per_s = frames ? plain_number(*frames, where, "30") : per_second(*rate, where);
  objective.arrivals = Arrivals{per_s, rate.has_value()};
  objective.limits.push_back({LimitKind::arrivals, 1 / per_s, 0, where});
}

// Gathering a batch takes longer than a sample may wait, in any mode.
void check_gathering(const Objective& objective, const std::vector<std::int64_t>& batches) {
  if (!objective.arrivals) return;
  for (const Limit& limit : objective.limits) {
    if (limit.kind != LimitKind::latency) continue;
    double least = INFINITY;
    for (const std::int64_t batch : batches)
      least = std::min(least,
                       latency_at_rate(0, batch, *objective.arrivals, objective.latency_quantile));
    if (least >= limit.bound)
      throw usage_error(limit.text,
                        fmt::format("contradicts the rate and the batch: samples wait {} for their "
                                    "batch in any mode",
                                    format_seconds(least)),
                        "give a smaller --batch");
  }
}

}  // namespace

void add_plan_options(OptionsDescription& options) {
  auto add = options.add_options();
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  add("runtime", text("NAME"),
      "who executes: ideal, tensorrt, torch-eager, torch-eager-hooks, torch-compiled, cuda-graph "
      "or onnxruntime (default: tensorrt on a GPU, torch-eager on a CPU)");
  add("minimize", text("energy|time|power|edp"),
      "what is to be least: energy per sample (default), time, mean power, or energy × delay");
  add("latency", text("TIME[@pNN]"),
      "most time from a sample to its result: 10ms, or 10ms@p95 for 95 of 100 requests");
  add("throughput", text("N/s"), "fewest samples per second");
  add("power", text("WATT"), "most power on average");
  add("peak-power", text("WATT"), "most power while a batch runs");
  add("max-slowdown", text("N%"), "most time over that of the fastest mode of the same batch");
  add("energy", text("JOULE"), "most energy per sample, for example 500mJ");
  add("battery", text("WH"), "energy that must last for --hours, for example 50Wh");
  add("hours", text("N"), "how long --battery must last");
  add("fps", text("N"), "samples come evenly at this rate; the idle time between them counts");
  add("rate", text("N/s"), "samples come at random at this mean rate, and queue");
  add("filter", text("MODES"), "choose among these modes only: gpu>=600MHz,emc=max,cores=4/6");
  add("stock-only", po::bool_switch(), "choose among the modes that the device comes with");
  add("reach", text("live|reboot"),
      "live: only modes that can be entered at once from --mode; default: all, and the best "
      "without a reboot is shown too");
  add("risk", text("P"), "probability with which all limits must hold (default: 0.9)");
  add("board-offset", text("WATT"),
      "power of the carrier board that is to be added, for example 5.5W");
  add("allow-unknown", po::bool_switch(),
      "operators that nobody has described are no error: no FLOP, their tensors are moved");
}

Objective objective_of(const Options& options, const std::vector<std::int64_t>& batches) {
  Objective objective;
  objective.goal = token_option(options, "minimize", Goal::energy);
  if (const auto text = word_of(options, "risk")) {
    const std::string where = as_typed("risk", *text);
    objective.risk =
        text->ends_with("%") ? percent(*text, where) : plain_number(*text, where, "0.9");
    if (objective.risk < 0.5 || objective.risk > 0.99)
      throw usage_error(where, "a probability from 0.5 to 0.99 is wanted");
  }
  add_latency(options, objective);
  const auto watts = [](const std::string& text, const std::string& where) {
    require_unit(text, where, "W or mW");
    return parse_watts(text, where);
  };
  add_limit(options, objective, LimitKind::throughput,
            [](const std::string& text, const std::string& where) {
              return 1 / per_second(text, where);
            });
  add_limit(options, objective, LimitKind::power, watts);
  add_limit(options, objective, LimitKind::peak_power, watts);
  add_limit(options, objective, LimitKind::slowdown, percent);
  add_limit(options, objective, LimitKind::energy,
            [](const std::string& text, const std::string& where) {
              require_unit(text, where, "J or mJ");
              return parse_joules(text, where);
            });
  add_battery(options, objective);
  add_arrivals(options, objective);
  check_gathering(objective, batches);
  return objective;
}

ModeWishes mode_wishes(const Options& options) {
  ModeWishes wishes;
  wishes.stock_only = flag(options, "stock-only");
  wishes.reach = token_option(options, "reach", Reach::reboot);
  if (const auto text = word_of(options, "filter")) wishes.filter = parse_mode_filter(*text);
  return wishes;
}

std::vector<std::int64_t> batches_of(const Options& options) {
  std::vector<std::int64_t> batches;
  const auto text = word_of(options, "batch");
  if (!text) return batches;
  for (const std::string& word : list_of(*text, as_typed("batch", *text))) {
    WorkloadOptions parsed;
    set_option(parsed, WorkloadOption::batch, word);
    if (std::find(batches.begin(), batches.end(), *parsed.batch) == batches.end())
      batches.push_back(*parsed.batch);
  }
  return batches;
}

std::vector<DType> dtypes_of(const Options& options) {
  std::vector<DType> dtypes;
  const auto text = word_of(options, "dtype");
  if (!text) return dtypes;
  const std::string where = as_typed("dtype", *text);
  for (const std::string& word : list_of(*text, where)) {
    const auto dtype = parse_token<DType>(word);
    if (!dtype) {
      std::vector<std::string> names;
      for (const auto& row : TokenTable<DType>::rows) names.emplace_back(row.second);
      const auto near = nearest(word, names);
      throw usage_error(where, quote(word) + " is not a type of numbers",
                        near ? "did you mean " + *near + "?" : "write for example fp16,int8");
    }
    if (std::find(dtypes.begin(), dtypes.end(), *dtype) == dtypes.end()) dtypes.push_back(*dtype);
  }
  return dtypes;
}

Options with_value(Options options, const char* name, const std::string& value) {
  options.erase(name);
  options.insert({name, po::variable_value(boost::any(value), false)});
  return options;
}

}  // namespace ridgeline::cli
