// A configuration file of NVIDIA's nvpmodel as a value: knobs, power modes, the default mode.
// As written: nothing is resolved here, and no declared path is trusted to exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::nvpmodel {

// "MAX_FREQ /sys/…": one file that a PARAM section declares. Newer kernels use the path of the
// same argument with _KNEXT at the end of its name.
struct Argument {
  std::string name;
  std::string path;       // empty where the line is damaged: the knob cannot be used
  std::string attribute;  // second word of a HWMON knob: "curr1_max"
  int line = 0;
};

// "< PARAM TYPE=CLOCK NAME=GPU >" with its arguments. The name is a key and nothing more: it
// drifts between releases, and CPU_DENVER_0 is found on cores that are not Denver.
struct Parameter {
  std::string type;  // FILE, CLOCK, HWMON; as written
  std::string name;
  std::vector<Argument> arguments;
  int line = 0;

  const Argument* find(std::string_view argument) const;
};

// "GPU MAX_FREQ 612000000": one line of a mode.
struct Statement {
  std::string parameter;
  std::string argument;
  std::string value;
  int line = 0;
};

// "< POWER_MODEL ID=2 NAME=MODE_30W >" with its statements, which are applied in file order.
struct PowerModel {
  int id = 0;
  std::string name;
  std::vector<Statement> statements;
  int line = 0;

  int last_line() const;
};

struct Configuration {
  std::vector<Parameter> parameters;
  std::vector<PowerModel> models;
  int default_id = 0;
  std::uint64_t fingerprint = 0;  // of the bytes: with ID and name it identifies a mode

  const Parameter* find(std::string_view parameter) const;
  const PowerModel* model(int id) const;
};

enum class Severity { warning, error };

// Something about the file that its owner should know.
struct Finding {
  Severity severity = Severity::warning;
  int line = 0;
  std::string what;
};

struct Reading {
  Configuration configuration;    // what could be read
  std::vector<Finding> findings;  // in the order of lines
};

// Reads on after errors, so that all of them can be shown at once.
Reading read_configuration(std::string_view text);

// The same where a faulty file is of no use: the first error is thrown, with file and line.
// Warnings go to `warnings` if it is given.
Configuration parse_configuration(std::string_view text, const std::string& file,
                                  std::vector<Finding>* warnings = nullptr);

// "MODE_30W" → "30W": the label of a mode is nvpmodel's name without its prefix.
std::string_view label_of(std::string_view name);

// A whole number as the file writes it, decimal or 0x…; nullopt for anything else.
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace ridgeline::nvpmodel
