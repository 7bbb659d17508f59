// Options of a command: as it declares them, and as they were given on a command line.
// Plain data: what parses it (Boost.Program_options) is known to cli/parse.cpp alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ridgeline::cli {

enum class OptionKind { flag, text, integer, list };  // a list may be given more than once

struct Option {
  std::string long_name;   // "output"
  std::string short_name;  // "o"; empty = none
  OptionKind kind = OptionKind::flag;
  std::string value_name;     // "FILE"; empty = takes no value
  std::string default_value;  // of a text; empty = none
  std::string description;

  std::string spelling() const;  // "-o, --output FILE"
};

// Names are "output,o" or "output". The value's name guides completion: "FILE" completes paths,
// "a|b|c" those words.
class OptionsDescription {
 public:
  void add_flag(std::string_view name, std::string description);
  void add_text(std::string_view name, std::string value_name, std::string description,
                std::string default_value = {});
  void add_integer(std::string_view name, std::string value_name, std::string description);
  void add_list(std::string_view name, std::string value_name, std::string description);
  void add(const OptionsDescription& others);

  const std::vector<Option>& options() const { return options_; }

 private:
  Option& append(std::string_view name, OptionKind kind, std::string description);

  std::vector<Option> options_;
};

// What was given. A flag that was not given is not there; a text with a default value always is.
class Options {
 public:
  bool has(std::string_view name) const { return values_.find(name) != values_.end(); }

  // The option must be there, of that kind.
  const std::string& text(std::string_view name) const;
  int integer(std::string_view name) const;
  const std::vector<std::string>& list(std::string_view name) const;

  // The text of an option, where it was given.
  std::optional<std::string> word(std::string_view name) const {
    return has(name) ? std::optional(text(name)) : std::nullopt;
  }
  std::string text_or_empty(std::string_view name) const { return word(name).value_or(""); }

  void set(std::string_view name, std::vector<std::string> values);
  void set(std::string_view name, std::string value);
  void erase(std::string_view name);

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

// A usage error where the option is given: "--name: what (fix)".
void refuse(const Options& options, std::string_view name, std::string what, std::string fix = {});

}  // namespace ridgeline::cli
