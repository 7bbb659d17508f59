// The one table of every parameter that a MachineModel may hold: name, unit, distribution, scope,
// and the value that counts where a model lacks it. A name that is not in the table is an Error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tokens.h"

namespace ridgeline {

// How a parameter is believed to spread. Fixed ones are facts: they have no variance.
enum class Distribution { fixed, log_normal, normal };

// What a value holds for: the hardware, its power (times depend on it only under a cap), one
// runtime on it, or one network alone.
enum class Scope { machine, power, runtime, network };

struct ParameterRow {
  // A family has {placeholders}: "cpu{cluster}_cores" is cpu0_cores, cpu1_cores …
  std::string_view name;
  std::string_view unit;  // "1" for shares and counts
  Distribution distribution = Distribution::log_normal;
  Scope scope = Scope::machine;
  std::optional<double> if_absent;  // none: the parameter must be there, or be asked for first
  std::string_view meaning;
};

std::span<const ParameterRow> parameter_rows();

// nullptr for a name that no row declares.
const ParameterRow* find_parameter_row(std::string_view name);
// An Error says where the name is unknown and which one may be meant.
const ParameterRow& parameter_row(std::string_view name, const std::string& where);
// What is wrong with a name that no row declares: "\"gpu_l2_byte\" is not a parameter …".
std::string unknown_parameter_text(std::string_view name);

// Families that are read as a whole, not name by name.
namespace families {
inline constexpr std::string_view gpu_rate = "gpu_{rate}_per_sm_clock";
inline constexpr std::string_view cpu_rate = "cpu{cluster}_{rate}_per_core_clock";
inline constexpr std::string_view dla_rate = "dla_{rate}_per_engine_clock";
inline constexpr std::string_view cluster_cores = "cpu{cluster}_cores";
inline constexpr std::string_view gpu_cache = "gpu_{cache}_bytes";
inline constexpr std::string_view cluster_cache = "cpu{cluster}_{cache}_bytes";
inline constexpr std::string_view cpu_cache = "cpu_{cache}_bytes";
inline constexpr std::string_view idle_at_clock = "idle_at_{mhz}_mhz_w";
inline constexpr std::string_view voltage_at_clock = "gpu_voltage_at_{mhz}_mhz_ratio";
inline constexpr std::string_view unfamiliar = "unfamiliar_{subject}_time_scale";
inline constexpr std::string_view matmul_efficiency = "{engine}_matmul_{dtype}_efficiency";
}  // namespace families

// The words that stand for the placeholders of a family, in their order; nullopt where the name is
// none of the family's.
std::optional<std::vector<std::string>> family_words(std::string_view family,
                                                     std::string_view name);

// All names of a row, those of a family with numbers for its first number only.
std::vector<std::string> example_names(const ParameterRow& row);

// The parts of a rate's name: operations per clock of one SM, core or engine.
struct RateName {
  std::string processor;  // "gpu", "cpu0", "dla"
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  bool sparse = false;

  friend bool operator==(const RateName&, const RateName&) = default;
};

std::string rate_parameter(const RateName& name);
// The highest clock that the maker counts the unit at.
std::string ceiling_parameter(const RateName& name);
std::optional<RateName> parse_rate_parameter(std::string_view parameter);  // nullopt for all others

}  // namespace ridgeline
