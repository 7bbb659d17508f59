// Parses with Boost.Program_options and words its faults as ours.
// Abbreviated options are refused: a script that uses one breaks when a new option arrives.
#include <boost/program_options.hpp>

#include "base/nearest.h"
#include "cli/command.h"

namespace ridgeline::cli {
namespace {

namespace po = boost::program_options;
using Words = std::vector<std::string>;

std::string see_help(const Command& command) {
  const bool bare = &command == &commands().front();
  return "see 'ridgeline " + (bare ? "" : std::string(command.name) + ' ') + "--help'";
}

Words option_names(const OptionsDescription& options) {
  Words names;
  for (const Option& option : options.options()) names.push_back("--" + option.long_name);
  return names;
}

const po::value_semantic* semantic(const Option& option) {
  switch (option.kind) {
    case OptionKind::flag:
      return po::bool_switch();
    case OptionKind::integer:
      return po::value<int>();
    case OptionKind::list:
      return po::value<Words>();
    case OptionKind::text:
      break;
  }
  auto* text = po::value<std::string>();
  if (!option.default_value.empty()) text->default_value(option.default_value);
  return text;
}

// "--train --on": the value was forgotten, and the next option would be taken for it.
void check_value(const Option& option, const std::string& value) {
  if (value.size() < 3 || !value.starts_with("--")) return;
  throw usage_error("--" + option.long_name, "needs a value, but " + value + " follows",
                    "write --" + option.long_name + " " + option.value_name);
}

Words values(const po::variable_value& given, const Option& option) {
  if (option.kind == OptionKind::integer) return {std::to_string(given.as<int>())};
  const Words words =
      option.kind == OptionKind::list ? given.as<Words>() : Words{given.as<std::string>()};
  for (const std::string& word : words) check_value(option, word);
  return words;
}

Options parse(const OptionsDescription& visible, const Words& words) {
  po::options_description all;
  for (const Option& option : visible.options()) {
    const std::string names =
        option.long_name + (option.short_name.empty() ? "" : "," + option.short_name);
    all.add_options()(names.c_str(), semantic(option));
  }
  all.add_options()("positional", po::value<Words>());
  po::positional_options_description positional;
  positional.add("positional", -1);
  po::variables_map parsed;
  po::store(po::command_line_parser(words)
                .options(all)
                .positional(positional)
                .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                .run(),
            parsed);
  po::notify(parsed);

  Options options;
  for (const Option& option : visible.options()) {
    const auto found = parsed.find(option.long_name);
    if (found == parsed.end()) continue;
    if (option.kind != OptionKind::flag)
      options.set(option.long_name, values(found->second, option));
    else if (found->second.as<bool>())
      options.set(option.long_name, Words{});
  }
  if (parsed.count("positional")) options.set("positional", parsed["positional"].as<Words>());
  return options;
}

void check_positional(const Command& command, const Options& options) {
  const Words given = positional(options);
  const auto allowed = static_cast<std::size_t>(command.max_positional);
  if (given.size() > allowed)
    throw usage_error({}, "unexpected argument '" + given[allowed] + "'", see_help(command));
}

}  // namespace

Options parse_options(const Command& command, const Words& words) {
  OptionsDescription visible = own_options(command);
  visible.add(global_options());
  try {
    Options options = parse(visible, words);
    check_positional(command, options);
    return options;
  } catch (const po::unknown_option& fault) {
    const std::string name = fault.get_option_name();
    const std::string nearest = suggestion(name, option_names(visible));
    throw usage_error({}, "unknown option '" + name + "'",
                      nearest.empty() ? see_help(command) : nearest);
  } catch (const po::error& fault) {
    throw usage_error({}, fault.what(), see_help(command));
  }
}

bool flag(const Options& options, const char* name) { return options.has(name); }

Words positional(const Options& options) {
  return options.has("positional") ? options.list("positional") : Words{};
}

}  // namespace ridgeline::cli
