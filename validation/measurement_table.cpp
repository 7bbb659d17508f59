// Reads cells by the names of their columns. Nothing is guessed, because a wrong cell would bend
// the model that is fitted to it: a cell is either understood or reported.
#include "validation/measurement_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "base/csv.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/limits.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/text_file.h"
#include "devices/machine/identification.h"
#include "devices/modes/mode_space.h"
#include "validation/measured_files.h"
#include "workloads/registry.h"

namespace ridgeline {
namespace {

constexpr std::string_view required_columns[] = {"model", "batch", "dtype", "runtime", "time_ms"};

// Thrown and caught within this file: the row is understood but cannot be compared.
struct Skip {
  std::string reason;
};

std::string or_did_you_mean(std::string what, std::string_view word,
                            const std::vector<std::string>& known) {
  if (const auto guess = nearest(word, known)) what += "; did you mean " + *guess + "?";
  return what;
}

// A clock as written in its column.
std::string in_mhz(double hz) { return csv_number(hz / 1e6); }

// The operating point as a row states it; clocks in Hz.
struct StatedPoint {
  std::string label;
  std::optional<int> gpu_units, cpu_cores;
  std::optional<double> gpu_hz, memory_hz, cpu_hz;
};

// A clock with the device's highest.
struct StatedClock {
  const char* column;
  std::optional<double> stated;
  std::optional<double> ceiling;
};

std::optional<double> highest(const std::vector<double>& clocks) {
  if (clocks.empty()) return std::nullopt;
  return *std::max_element(clocks.begin(), clocks.end());
}

std::array<StatedClock, 3> stated_clocks(const StatedPoint& stated,
                                         const OperatingPoint& ceilings) {
  return {{{"gpu_mhz", stated.gpu_hz, ceilings.gpu_hz},
           {"memory_mhz", stated.memory_hz, ceilings.memory_hz},
           {"cpu_mhz", stated.cpu_hz, highest(ceilings.cpu_hz)}}};
}

// No processor's clock is outside this range, whatever the catalog knows of its ceiling.
constexpr double slowest_hz = 10e6, fastest_hz = 20e9;

std::string wrong_unit(const StatedClock& clock) {
  if (!clock.stated) return {};
  const double least = clock.ceiling ? *clock.ceiling / 200 : slowest_hz;
  const double most = clock.ceiling ? *clock.ceiling * 20 : fastest_hz;
  if (*clock.stated > least && *clock.stated < most) return {};
  const bool is_large = *clock.stated >= most;
  // 1300500 is kHz, 1300500000 is Hz.
  const char* unit = !is_large ? "GHz" : *clock.stated < most * 1000 ? "kHz" : "Hz";
  return fmt::format("{} {} looks like {}, about {} times {} (the column is in MHz{})",
                     clock.column, in_mhz(*clock.stated), unit,
                     unit[0] == 'k'   ? "1000"
                     : unit[0] == 'H' ? "1000000"
                                      : "1/1000",
                     clock.ceiling ? "what the device can do" : "what a clock can be",
                     clock.ceiling ? fmt::format(", the device reaches {}", in_mhz(*clock.ceiling))
                                   : std::string());
}

// A device with the ceilings of its newest configuration, against which rows are read.
class MeasuredDevice {
 public:
  explicit MeasuredDevice(const catalog::Device& device) : device_(device) {
    const catalog::Configuration& configuration = catalog::configuration(device);
    ceilings_ = resolve(device, configuration, {}).point;
    for (const DeviceMode& mode : stock_modes(device, configuration))
      stock_points_.push_back(mode.point);
    default_point_ = ceilings_;
    if (configuration.modes.empty())
      default_point_.cap_w = default_mode(device, configuration).point.cap_w;
  }

  const catalog::Device& device() const { return device_; }

  // "… looks like kHz, about 1000 times what the device can do …"; empty if every unit is right.
  std::string wrong_clock_unit(const StatedPoint& stated) const {
    for (const StatedClock& clock : stated_clocks(stated, ceilings_))
      if (std::string text = wrong_unit(clock); !text.empty()) return text;
    return {};
  }

  // Why the device cannot run there: "gpu_mhz 1500 is above the 1300.5 of …"; empty if it can.
  std::string out_of_range(const StatedPoint& stated) const {
    // Read-backs differ from the catalog by a rounding, and boards by a step.
    constexpr double tolerance = 1.05;
    for (const StatedClock& clock : stated_clocks(stated, ceilings_))
      if (clock.stated && clock.ceiling && *clock.stated > *clock.ceiling * tolerance)
        return fmt::format("{} {} is above the {} of {}", clock.column, in_mhz(*clock.stated),
                           in_mhz(*clock.ceiling), device_.id);
    const auto too_many = [&](const char* column, std::optional<int> count,
                              std::optional<int> most) {
      return count && most && *count > *most
                 ? fmt::format("{} {}: {} has {}", column, *count, device_.id, *most)
                 : std::string();
    };
    const std::string units = too_many("gpu_units", stated.gpu_units, ceilings_.gpu_units);
    return units.empty() ? too_many("cpu_cores", stated.cpu_cores, ceilings_.cpu_cores) : units;
  }

  // With all knobs. Locked clocks were read back, so no power cap acts on them.
  OperatingPoint point(const StatedPoint& stated, bool locked) const {
    OperatingPoint point = unstated(stated.label);
    if (stated.gpu_units) point.gpu_units = stated.gpu_units;
    if (stated.gpu_hz) point.gpu_hz = stated.gpu_hz;
    if (stated.memory_hz) point.memory_hz = stated.memory_hz;
    if (stated.cpu_hz) point.cpu_hz = {*stated.cpu_hz};
    if (stated.cpu_cores) point.cpu_cores = stated.cpu_cores;
    if (locked && stated.gpu_hz) point.cap_w.reset();
    point.label = stated.label.empty() ? request_text(point) : stated.label;
    return point;
  }

 private:
  const OperatingPoint& unstated(const std::string& label) const {
    for (const OperatingPoint& point : stock_points_)
      if (point.label == label) return point;
    return default_point_;
  }

  const catalog::Device& device_;
  OperatingPoint ceilings_;
  std::vector<OperatingPoint> stock_points_;
  OperatingPoint default_point_;  // for a label that is not a stock mode
};

class TableReader {
 public:
  TableReader(std::string_view text, const std::string& name, const MeasurementOptions& options)
      : rows_(parse_csv(text, name)), name_(name), options_(options) {
    table_.file = name;
    read_header();
    for (const auto& [column, unused] : options_.where)
      if (!columns_.count(column))
        throw usage_error("--where " + column, name_ + " has no such column");
  }

  MeasurementTable run() {
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      row_ = &rows_[i];
      if (row_->cells.size() != rows_.front().cells.size())
        throw Error(fmt::format("{}:{}", name_, row_->line),
                    fmt::format("has {} cells, the header has {}", row_->cells.size(),
                                rows_.front().cells.size()));
      if (!is_wanted()) continue;
      try {
        table_.rows.push_back(observation());
      } catch (const Skip& skip) {
        table_.skipped.push_back({row_->line, skip.reason});
      }
    }
    if (!options_.where.empty() && table_.rows.empty() && table_.skipped.empty())
      throw Error("--where", "selects no row of " + name_, "check the values",
                  ExitCode::incomplete);
    return std::move(table_);
  }

 private:
  void read_header() {
    if (rows_.empty()) throw Error(name_, "is empty", "the first line names the columns");
    const std::vector<std::string>& titles = rows_.front().cells;
    for (std::size_t i = 0; i < titles.size(); ++i)
      if (!titles[i].empty() && !columns_.emplace(titles[i], i).second)
        throw Error(fmt::format("{}:{}", name_, rows_.front().line),
                    fmt::format("column {} is there twice", quote(titles[i])));
    std::vector<std::string> missing;
    for (const std::string_view column : required_columns)
      if (!columns_.count(std::string(column))) missing.emplace_back(column);
    if (options_.device.empty() && !columns_.count("device"))
      missing.insert(missing.begin(), "device");
    if (!columns_.count("mode") && !columns_.count("gpu_mhz") && !columns_.count("cpu_mhz"))
      missing.emplace_back("mode");
    if (missing.empty()) return;
    std::string names;
    for (const std::string& column : missing) names += (names.empty() ? "" : ", ") + column;
    throw Error(name_,
                fmt::format("misses the {} {}", missing.size() == 1 ? "column" : "columns", names));
  }

  const std::string& cell(std::string_view column) const {
    static const std::string empty;
    const auto found = columns_.find(column);
    return found == columns_.end() ? empty : row_->cells[found->second];
  }

  bool is_wanted() const {
    return std::all_of(options_.where.begin(), options_.where.end(), [&](const auto& condition) {
      const auto& [column, words] = condition;
      return std::find(words.begin(), words.end(), cell(column)) != words.end();
    });
  }

  std::string place(std::string_view column) const {
    return fmt::format("{}:{}:{}", name_, row_->line, column);
  }

  std::optional<double> positive(std::string_view column, double most) const {
    const std::string& text = cell(column);
    if (text.empty()) return std::nullopt;
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || !std::isfinite(value))
      throw Error(place(column), quote(text) + " is not a number");
    if (!(value > 0) || value > most)
      throw Error(place(column), fmt::format("{} is not above 0 and at most {}", text, most));
    return value;
  }

  // Output of a tool beside the table; nothing if it is not there yet.
  std::optional<std::string> file_in(std::string_view column) const {
    if (cell(column).empty()) return std::nullopt;
    const auto path = std::filesystem::path(name_).parent_path() / cell(column);
    return std::filesystem::exists(path) ? std::optional(path.string()) : std::nullopt;
  }

  std::optional<int> units(std::string_view column) const {
    const auto value = positive(column, max_units);
    if (!value) return std::nullopt;
    if (*value != std::floor(*value))
      throw Error(place(column), cell(column) + " is not a whole number");
    return static_cast<int>(*value);
  }

  std::optional<double> clock(std::string_view column) const {
    const auto mhz = positive(column, 1e15);  // what is absurd is named with its unit, below
    return mhz ? std::optional(*mhz * 1e6) : std::nullopt;
  }

  template <class E>
  E known_word(std::string_view column, E fallback) const {
    const std::string& word = cell(column);
    if (word.empty()) return fallback;
    if (const auto value = parse_token<E>(word)) return *value;
    std::vector<std::string> words;
    for (const auto& row : TokenTable<E>::rows) words.emplace_back(row.second);
    throw Skip{
        or_did_you_mean(fmt::format("no {} {}", TokenTable<E>::noun, quote(word)), word, words)};
  }

  bool locked() const {
    const std::string& word = cell("locked");
    if (word.empty() || word == "yes") return true;
    if (word != "no") throw Error(place("locked"), quote(word) + " is neither yes nor no");
    return false;
  }

  const MeasuredDevice& device() {
    const std::string& word = columns_.count("device") ? cell("device") : options_.device;
    const auto known = devices_.find(word);
    if (known != devices_.end()) return known->second;
    const catalog::IndexRow* entry = catalog::find(word);
    if (!entry) {
      std::vector<std::string> ids;
      for (const catalog::IndexRow& row : catalog::index()) ids.emplace_back(row.id);
      throw Skip{or_did_you_mean("no device " + quote(word) + " in the catalog", word, ids)};
    }
    const std::string id(entry->id);
    auto loaded = table_.devices.find(id);
    if (loaded == table_.devices.end())
      loaded = table_.devices.emplace(id, named_device(word, place("device"))).first;
    return devices_.emplace(word, loaded->second).first->second;
  }

  Conditions conditions(const MeasuredDevice& device) const {
    Conditions conditions;
    if (cell("runtime").empty()) throw Skip{"no runtime is stated"};
    conditions.runtime = known_word("runtime", Runtime::ideal);
    conditions.locked = locked();
    const bool is_card = device.device().kind == catalog::Kind::gpu;
    conditions.power_kind =
        known_word("power_kind", is_card ? PowerKind::board : PowerKind::module);
    const StatedPoint stated{cell("mode"),     units("gpu_units"),  units("cpu_cores"),
                             clock("gpu_mhz"), clock("memory_mhz"), clock("cpu_mhz")};
    if (const std::string unit = device.wrong_clock_unit(stated); !unit.empty())
      throw Error(fmt::format("{}:{}", name_, row_->line), unit);
    if (const std::string range = device.out_of_range(stated); !range.empty()) throw Skip{range};
    conditions.point = device.point(stated, conditions.locked);
    return conditions;
  }

  // Resolved here once, so that a network that cannot be built is reported with its row.
  WorkloadOptions workload_options() const {
    const std::string& model = cell("model");
    const std::optional<Workload> workload = find_workload(model);
    if (!workload) {
      std::vector<std::string> names;
      for (const Workload& known : all_workloads()) names.emplace_back(known.name);
      throw Skip{or_did_you_mean("no network " + quote(model), model, names)};
    }
    if (cell("batch").empty()) throw Skip{"no batch is stated"};
    units("batch");  // a fraction or a word is an error of the file, not of the network
    if (cell("dtype").empty()) throw Skip{"no dtype is stated"};
    try {
      WorkloadOptions options = ridgeline::parse_options(stated_options());
      set_option(options, WorkloadOption::batch, cell("batch"));
      set_option(options, WorkloadOption::dtype, cell("dtype"));
      resolve(*workload, options);
      return options;
    } catch (const Error& error) {
      throw Skip{model + " cannot be built so: " + error.what()};
    }
  }

  // Tables of others state PyTorch's automatic mixed precision in words only.
  std::string stated_options() const {
    std::string options = cell("options");
    const bool is_16_bits = cell("dtype") == "fp16" || cell("dtype") == "bf16";
    if (is_16_bits && cell("note").starts_with("autocast") &&
        options.find("precision=") == std::string::npos)
      options += (options.empty() ? "" : ";") + std::string("precision=autocast");
    return options;
  }

  // Cells that must be numbers come first: a broken cell in a skipped row is still an error.
  Observation observation() {
    Observation row;
    row.line = row_->line;
    const auto time_ms = positive("time_ms", max_time_s * 1e3);
    row.power_w = positive("power_w", max_power_w);
    row.time_s = time_ms.value_or(0) / 1e3;  // 0: not stated
    if (const auto file = file_in("time_file"); file && row.time_s == 0)
      row.time_s = measured_time_s(*file);
    if (const auto file = file_in("power_file"); file && !row.power_w)
      row.power_w = measured_power(*file).power_w;
    for (const std::string_view column : {"gpu_mhz", "memory_mhz", "cpu_mhz"}) clock(column);
    for (const std::string_view column : {"gpu_units", "cpu_cores", "batch"}) units(column);
    const MeasuredDevice& measured = device();
    row.device = measured.device().id;
    row.source =
        cell("source").empty() ? std::filesystem::path(name_).filename().string() : cell("source");
    row.network = cell("model");
    row.options = stated_options();
    row.conditions = conditions(measured);
    row.task = known_word("task", Task::inference);
    const WorkloadOptions wanted = workload_options();
    row.batch = wanted.batch.value_or(1);
    row.dtype = parse_token<DType>(cell("dtype")).value_or(DType::fp32);
    if (row.time_s == 0)
      throw Skip{cell("time_file").empty()
                     ? std::string("no time_ms is stated")
                     : fmt::format("no time_ms is stated, and {} is not there", cell("time_file"))};
    return row;
  }

  std::vector<CsvRow> rows_;
  const std::string& name_;
  const MeasurementOptions& options_;
  std::map<std::string, std::size_t, std::less<>> columns_;
  MeasurementTable table_;
  std::map<std::string, MeasuredDevice> devices_;  // by id or alias
  const CsvRow* row_ = nullptr;
};

}  // namespace

MeasurementTable parse_measurement_table(std::string_view text, const std::string& name,
                                         const MeasurementOptions& options) {
  return TableReader(text, name, options).run();
}

MeasurementTable read_measurement_table(const std::string& path,
                                        const MeasurementOptions& options) {
  const KnownFile file = file_kind(path);
  if (file.kind != FileKind::unknown && file.kind != FileKind::table)
    throw Error(path, "is not a table of measured runs", file.hint);
  return parse_measurement_table(read_text_file(path), path, options);
}

}  // namespace ridgeline
