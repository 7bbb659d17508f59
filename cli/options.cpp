// Options as data. Nothing is checked here but that a command reads what it declared.
#include "cli/options.h"

#include <stdexcept>
#include <utility>

#include "base/error.h"

namespace ridgeline::cli {

std::string Option::spelling() const {
  std::string text = short_name.empty() ? "" : "-" + short_name + ", ";
  text += "--" + long_name;
  return value_name.empty() ? text : text + " " + value_name;
}

Option& OptionsDescription::append(std::string_view name, OptionKind kind,
                                   std::string description) {
  Option& option = options_.emplace_back();
  const std::size_t comma = name.find(',');
  option.long_name = name.substr(0, comma);
  if (comma != std::string_view::npos) option.short_name = name.substr(comma + 1);
  option.kind = kind;
  option.description = std::move(description);
  return option;
}

void OptionsDescription::add_flag(std::string_view name, std::string description) {
  append(name, OptionKind::flag, std::move(description));
}

void OptionsDescription::add_text(std::string_view name, std::string value_name,
                                  std::string description, std::string default_value) {
  Option& option = append(name, OptionKind::text, std::move(description));
  option.value_name = std::move(value_name);
  option.default_value = std::move(default_value);
}

void OptionsDescription::add_integer(std::string_view name, std::string value_name,
                                     std::string description) {
  append(name, OptionKind::integer, std::move(description)).value_name = std::move(value_name);
}

void OptionsDescription::add_list(std::string_view name, std::string value_name,
                                  std::string description) {
  append(name, OptionKind::list, std::move(description)).value_name = std::move(value_name);
}

void OptionsDescription::add(const OptionsDescription& others) {
  options_.insert(options_.end(), others.options_.begin(), others.options_.end());
}

const std::vector<std::string>& Options::list(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end())
    throw std::logic_error("option --" + std::string(name) + " is read but not given");
  return found->second;
}

const std::string& Options::text(std::string_view name) const { return list(name).at(0); }

int Options::integer(std::string_view name) const { return std::stoi(text(name)); }

void Options::set(std::string_view name, std::vector<std::string> values) {
  values_.insert_or_assign(std::string(name), std::move(values));
}

void Options::set(std::string_view name, std::string value) {
  set(name, std::vector<std::string>{std::move(value)});
}

void Options::erase(std::string_view name) { values_.erase(std::string(name)); }

void refuse(const Options& options, std::string_view name, std::string what, std::string fix) {
  if (options.has(name))
    throw usage_error("--" + std::string(name), std::move(what), std::move(fix));
}

}  // namespace ridgeline::cli
