// Fills the values of a mode into the lines of another one of the same file.
// A clock is written for clusters that stay online only: the files of the others vanish.
#include "devices/nvpmodel/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "devices/nvpmodel/knob.h"
#include "devices/nvpmodel/stated_mode.h"

namespace ridgeline::nvpmodel {
namespace {

using catalog::StockMode;

std::int64_t whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

// Statements of one mode, with the file that they are for and the values that they are to have.
class Composer {
 public:
  Composer(const Configuration& file, const catalog::Device& device, const StockMode& values,
           const std::string& file_name)
      : file_(file), values_(values), file_name_(file_name), numbers_(core_numbers(device)) {
    for (std::size_t cluster = 0; cluster < numbers_.size(); ++cluster)
      for (std::size_t core = 0; core < numbers_[cluster].size(); ++core)
        if (cluster >= values.cores.size() || static_cast<int>(core) < values.cores[cluster])
          online_.push_back(numbers_[cluster][core]);
  }

  PowerModel from_pattern(const PowerModel& pattern) {
    pattern_ = &pattern;
    for (const Statement& statement : pattern.statements) {
      const KnobKind kind = knob_of(file_, statement.parameter, statement.argument).kind;
      if (kind == KnobKind::other || kind == KnobKind::dla_clock)
        add(statement.parameter, statement.argument, statement.value);
      else
        write(kind);
    }
    write_rest();
    return finish();
  }

  PowerModel from_declarations() {
    write(KnobKind::core);
    write(KnobKind::fbp_mask);
    write(KnobKind::tpc_mask);
    write_word("GPU_PWR_CNTL_EN", "on");
    write(KnobKind::cpu_clock);
    write(KnobKind::gpu_clock);
    write_word("GPU_PWR_CNTL_DIS", "auto");
    write(KnobKind::memory_clock);
    write_rest();
    return finish();
  }

 private:
  void add(std::string_view parameter, std::string_view argument, std::string value) {
    model_.statements.push_back({std::string(parameter), std::string(argument), std::move(value)});
  }
  void add(std::string_view parameter, std::string_view argument, std::int64_t value) {
    add(parameter, argument, std::to_string(value));
  }

  bool is_online(int core) const {
    return std::find(online_.begin(), online_.end(), core) != online_.end();
  }

  // All statements of a kind at once, the first time that it is met.
  void write(KnobKind kind) {
    if (std::find(done_.begin(), done_.end(), kind) != done_.end()) return;
    done_.push_back(kind);
    switch (kind) {
      case KnobKind::core:
        return write_cores();
      case KnobKind::cpu_clock:
        return write_cpu_clocks();
      case KnobKind::gpu_clock:
        return write_clock(KnobKind::gpu_clock, values_.gpu_min_hz, values_.gpu_max_hz);
      case KnobKind::memory_clock:
        return write_clock(KnobKind::memory_clock, std::nullopt, values_.memory_max_hz);
      case KnobKind::tpc_mask:
        return write_mask(KnobKind::tpc_mask, "TPC_PG_MASK", values_.tpc_pg_mask);
      case KnobKind::fbp_mask:
        return write_mask(KnobKind::fbp_mask, "FBP_PG_MASK", values_.fbp_pg_mask);
      case KnobKind::dla_clock:
      case KnobKind::other:
        return;
    }
  }

  // What the pattern lacked; silent where there is neither a value nor a knob.
  void write_rest() {
    for (const KnobKind kind : {KnobKind::core, KnobKind::fbp_mask, KnobKind::tpc_mask,
                                KnobKind::cpu_clock, KnobKind::gpu_clock, KnobKind::memory_clock})
      write(kind);
  }

  // Those that the pattern lists; a core that it never lists (TX2's first) is not to be listed.
  void write_cores() {
    std::vector<std::pair<int, std::pair<std::string, std::string>>> listed;
    const auto list = [&](const std::string& parameter, const std::string& argument) {
      const Knob knob = knob_of(file_, parameter, argument);
      if (knob.kind == KnobKind::core && knob.index >= 0)
        listed.push_back({knob.index, {parameter, argument}});
    };
    if (pattern_)
      for (const Statement& statement : pattern_->statements)
        list(statement.parameter, statement.argument);
    if (listed.empty())
      for (const Parameter& parameter : file_.parameters)
        for (const Argument& argument : parameter.arguments)
          if (!argument.name.ends_with("_KNEXT")) list(parameter.name, argument.name);
    if (listed.empty() && !values_.cores.empty()) fail_undeclared("cores");
    for (const auto& [core, names] : listed)
      add(names.first, names.second, is_online(core) ? 1 : 0);
  }

  // The cluster's first core is the last of it to go offline.
  void write_cpu_clocks() {
    bool found = false;
    for (const Parameter& parameter : file_.parameters) {
      const Knob knob = knob_of(file_, parameter.name, "MAX_FREQ");
      if (knob.kind != KnobKind::cpu_clock) continue;
      found = true;
      const auto cluster = cluster_of(knob.index);
      if (!cluster || !is_online(knob.index)) continue;
      write_pair(parameter, at(values_.cpu_min_hz, *cluster), at(values_.cpu_max_hz, *cluster),
                 1e-3);
    }
    const bool wanted = std::any_of(values_.cpu_max_hz.begin(), values_.cpu_max_hz.end(),
                                    [](const auto& clock) { return clock.has_value(); });
    if (wanted && !found) fail_undeclared("the CPU clock");
  }

  void write_clock(KnobKind kind, std::optional<double> minimum, std::optional<double> maximum) {
    for (const Parameter& parameter : file_.parameters) {
      if (knob_of(file_, parameter.name, "MAX_FREQ").kind != kind) continue;
      return write_pair(parameter, minimum, maximum, 1);
    }
    if (maximum)
      fail_undeclared(kind == KnobKind::gpu_clock ? "the GPU clock" : "the memory clock");
  }

  // A minimum that the mode does not fix is the pattern's, as far as the maximum allows it.
  void write_pair(const Parameter& parameter, std::optional<double> minimum_hz,
                  std::optional<double> maximum_hz, double unit) {
    if (!maximum_hz) return;
    const auto in_file = [&](double hz) { return hz < 0 ? std::int64_t{-1} : whole(hz * unit); };
    const std::int64_t maximum = in_file(*maximum_hz);
    std::optional<std::int64_t> minimum;
    if (minimum_hz)
      minimum = in_file(*minimum_hz);
    else if (pattern_)
      minimum = pattern_minimum(parameter.name);
    if (minimum && parameter.find("MIN_FREQ")) {
      if (maximum >= 0) minimum = std::min(*minimum, maximum);
      add(parameter.name, "MIN_FREQ", *minimum);
    }
    add(parameter.name, "MAX_FREQ", maximum);
  }

  // Of the same knob, or of one of its kind: a cluster that the pattern has offline has none.
  std::optional<std::int64_t> pattern_minimum(const std::string& parameter) const {
    const KnobKind kind = knob_of(file_, parameter, "MIN_FREQ").kind;
    std::optional<std::int64_t> minimum;
    for (const Statement& statement : pattern_->statements) {
      if (statement.argument != "MIN_FREQ") continue;
      if (statement.parameter == parameter) return parse_integer(statement.value);
      if (knob_of(file_, statement.parameter, "MIN_FREQ").kind == kind)
        minimum = parse_integer(statement.value);
    }
    return minimum;
  }

  void write_mask(KnobKind kind, std::string_view argument, std::optional<std::uint32_t> mask) {
    if (!mask) return;
    for (const Parameter& parameter : file_.parameters)
      if (knob_of(file_, parameter.name, argument).kind == kind && parameter.find(argument))
        return add(parameter.name, argument, static_cast<std::int64_t>(*mask));
    fail_undeclared(argument);
  }

  void write_word(std::string_view argument, const char* value) {
    for (const Parameter& parameter : file_.parameters)
      if (parameter.find(argument)) return add(parameter.name, argument, std::string(value));
  }

  std::optional<std::size_t> cluster_of(int core) const {
    for (std::size_t cluster = 0; cluster < numbers_.size(); ++cluster)
      for (const int number : numbers_[cluster])
        if (number == core) return cluster;
    return std::nullopt;
  }

  static std::optional<double> at(const std::vector<std::optional<double>>& clocks,
                                  std::size_t cluster) {
    return cluster < clocks.size() ? clocks[cluster] : std::nullopt;
  }

  [[noreturn]] void fail_undeclared(std::string_view knob) const {
    throw Error(file_name_, fmt::format("no PARAM section declares a file for {}", knob),
                "use the configuration file of the device", ExitCode::incomplete);
  }

  PowerModel finish() {
    model_.id = values_.id;
    model_.name = values_.name;
    return std::move(model_);
  }

  const Configuration& file_;
  const StockMode& values_;
  const std::string& file_name_;
  const std::vector<std::vector<int>> numbers_;
  std::vector<int> online_;
  const PowerModel* pattern_ = nullptr;
  std::vector<KnobKind> done_;
  PowerModel model_;
};

std::optional<std::int64_t> mask_of(const Configuration& file, const PowerModel& model) {
  for (const Statement& statement : model.statements)
    if (knob_of(file, statement.parameter, statement.argument).kind == KnobKind::tpc_mask)
      return parse_integer(statement.value);
  return std::nullopt;
}

// Lines with their ends; the last may have none.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

void add_line(std::string& hunk, char mark, const std::string& line) {
  hunk += mark + line;
  if (!line.ends_with('\n')) hunk += "\n\\ No newline at end of file\n";
}

// "3,7" or, for one line, "3"; an empty range names the line before it.
std::string range(std::size_t first, std::size_t count) {
  if (count == 0) return fmt::format("{},0", first);
  return count == 1 ? std::to_string(first + 1) : fmt::format("{},{}", first + 1, count);
}

}  // namespace

StockMode block_values(const Configuration& file, const DeviceMode& mode,
                       const BlockOptions& options) {
  StockMode values;
  values.id = next_id(file);
  values.name = options.name.empty() ? "CUSTOM_" + std::to_string(values.id) : options.name;
  values.cores = mode.cores;
  values.tpc_pg_mask = mode.tpc_pg_mask;
  values.fbp_pg_mask = mode.fbp_pg_mask;
  const auto is_free = [&](std::optional<ClockLimit> limit) {
    return limit == ClockLimit::bpmp && !options.locked;
  };
  const OperatingPoint& point = mode.point;
  if (point.gpu_hz) {
    values.gpu_max_hz = is_free(mode.gpu_limit) ? -1 : *point.gpu_hz;
    if (options.locked) values.gpu_min_hz = point.gpu_hz;
  }
  // nvpmodel has no minimum for the memory clock: a lock is a cap here.
  if (point.memory_hz)
    values.memory_max_hz = mode.memory_limit == ClockLimit::bpmp
                               ? static_cast<double>(unclamped_memory_value(file))
                               : *point.memory_hz;
  std::size_t next = 0;
  for (std::size_t cluster = 0; cluster < mode.cores.size(); ++cluster) {
    values.cpu_max_hz.emplace_back();
    values.cpu_min_hz.emplace_back();
    if (mode.cores[cluster] == 0 || next >= point.cpu_hz.size()) continue;
    const double clock = point.cpu_hz[next++];
    values.cpu_max_hz.back() = is_free(mode.cpu_limit) ? -1 : clock;
    if (options.locked) values.cpu_min_hz.back() = clock;
  }
  return values;
}

PowerModel compose(const Configuration& file, const catalog::Device& device,
                   const StockMode& values, const std::string& file_name) {
  Composer composer(file, device, values, file_name);
  if (file.models.empty()) return composer.from_declarations();
  const auto same_mask =
      std::find_if(file.models.begin(), file.models.end(), [&](const PowerModel& model) {
        const auto mask = mask_of(file, model);
        return mask.has_value() == values.tpc_pg_mask.has_value() &&
               (!mask || *mask == static_cast<std::int64_t>(*values.tpc_pg_mask));
      });
  return composer.from_pattern(same_mask == file.models.end() ? file.models.front() : *same_mask);
}

int next_id(const Configuration& file) {
  int id = -1;
  for (const PowerModel& model : file.models) id = std::max(id, model.id);
  if (id < std::numeric_limits<int>::max()) return id + 1;
  for (id = 0; file.model(id);) ++id;
  return id;
}

std::string to_text(const PowerModel& model) {
  std::string text = fmt::format("< POWER_MODEL ID={} NAME={} >\n", model.id, model.name);
  for (const Statement& statement : model.statements)
    text += fmt::format("{} {} {}\n", statement.parameter, statement.argument, statement.value);
  return text;
}

std::string to_text(const Configuration& file) {
  std::string text;
  for (const Parameter& parameter : file.parameters) {
    text += fmt::format("< PARAM TYPE={} NAME={} >\n", parameter.type, parameter.name);
    for (const Argument& argument : parameter.arguments)
      if (!argument.path.empty())
        text += fmt::format("{} {}{}{}\n", argument.name, argument.path,
                            argument.attribute.empty() ? "" : " ", argument.attribute);
    text += '\n';
  }
  for (const PowerModel& model : file.models) text += to_text(model) + '\n';
  return text + fmt::format("< PM_CONFIG DEFAULT={} >\n", file.default_id);
}

std::string unified_diff(std::string_view text, const Configuration& file, PowerModel model,
                         const std::string& file_name) {
  const std::vector<std::string> old_lines = lines_of(text);
  const bool crlf = !old_lines.empty() && old_lines.front().ends_with("\r\n");
  const auto same_name =
      std::find_if(file.models.begin(), file.models.end(),
                   [&](const PowerModel& one) { return one.name == model.name; });
  std::size_t begin = old_lines.size();  // lines [begin, end) go
  std::size_t end = begin;
  std::string block;
  if (same_name != file.models.end()) {
    model.id = same_name->id;
    begin = static_cast<std::size_t>(same_name->line) - 1;
    end = static_cast<std::size_t>(same_name->last_line());
    block = to_text(model);
  } else if (!file.models.empty()) {
    begin = end = static_cast<std::size_t>(file.models.back().last_line());
    block = "\n" + to_text(model);
  } else {
    block = to_text(model);
  }

  std::vector<std::string> removed(old_lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                   old_lines.begin() + static_cast<std::ptrdiff_t>(end));
  std::vector<std::string> added = lines_of(block);
  if (crlf)
    for (std::string& line : added) line.insert(line.size() - 1, "\r");
  // A last line without an end has to get one before another can follow.
  if (begin == end && begin > 0 && !old_lines[begin - 1].ends_with('\n')) {
    --begin;
    removed.push_back(old_lines[begin]);
    added.insert(added.begin(), old_lines[begin] + (crlf ? "\r\n" : "\n"));
  }
  if (removed == added) return {};

  constexpr std::size_t context = 3;
  const std::size_t first = begin - std::min(begin, context);
  const std::size_t last = std::min(old_lines.size(), end + context);
  const std::size_t kept = (begin - first) + (last - end);
  std::string hunk =
      fmt::format("--- {0}\n+++ {0}\n@@ -{1} +{2} @@\n", file_name,
                  range(first, kept + removed.size()), range(first, kept + added.size()));
  for (std::size_t line = first; line < begin; ++line) add_line(hunk, ' ', old_lines[line]);
  for (const std::string& line : removed) add_line(hunk, '-', line);
  for (const std::string& line : added) add_line(hunk, '+', line);
  for (std::size_t line = end; line < last; ++line) add_line(hunk, ' ', old_lines[line]);
  return hunk;
}

}  // namespace ridgeline::nvpmodel
