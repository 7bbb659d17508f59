// Quantities of options as they are typed: a number whose unit is missing is asked back.
// Which options there are is the commands' to say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace ridgeline::cli {

// The value of an option that takes one word.
std::optional<std::string> word_of(const Options& options, const char* name);

// "--latency 10ms": for errors, and for people.
std::string as_typed(const char* name, const std::string& value);

// Words between commas; an empty one is a usage error.
std::vector<std::string> list_of(const std::string& text, const std::string& where);

// A number alone is a usage error: "write 10ms or s".
void require_unit(const std::string& text, const std::string& where, const char* units);

double positive(double value, const std::string& where);
double plain_number(const std::string& text, const std::string& where, const char* example);
double per_second(const std::string& text, const std::string& where);  // "30/s"
double percent(const std::string& text, const std::string& where);     // "5%" → 0.05

// With a unit, and more than zero.
double seconds_of(const std::string& text, const std::string& where);
double watts_of(const std::string& text, const std::string& where);
double joules_of(const std::string& text, const std::string& where, const char* units = "J or mJ");

}  // namespace ridgeline::cli
