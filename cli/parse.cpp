// Parses with Boost.Program_options and words its faults as ours.
// Abbreviated options are refused: a script that uses one breaks when a new option arrives.
#include "cli/parse.h"

#include "cli/global_options.h"
#include "cli/option_text.h"
#include "cli/suggestion.h"

namespace ridgeline::cli {
namespace {

namespace po = boost::program_options;

std::string see_help(const Command& command) {
  const bool bare = &command == &commands().front();
  return "see 'ridgeline " + (bare ? "" : std::string(command.name) + ' ') + "--help'";
}

std::vector<std::string> option_names(const OptionsDescription& options) {
  std::vector<std::string> names;
  for (const OptionText& option : option_texts(options)) names.push_back("--" + option.long_name);
  return names;
}

Options parse(const OptionsDescription& visible, const std::vector<std::string>& words) {
  OptionsDescription all;
  all.add(visible);
  all.add_options()("positional", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("positional", -1);
  Options options;
  po::store(po::command_line_parser(words)
                .options(all)
                .positional(positional)
                .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                .run(),
            options);
  po::notify(options);
  return options;
}

void check_positional(const Command& command, const Options& options) {
  const std::vector<std::string> given = positional(options);
  const auto allowed = static_cast<std::size_t>(command.max_positional);
  if (given.size() > allowed)
    throw usage_error({}, "unexpected argument '" + given[allowed] + "'", see_help(command));
}

}  // namespace

Options parse_options(const Command& command, const std::vector<std::string>& words) {
  OptionsDescription visible;
  command.add_options(visible);
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

bool flag(const Options& options, const char* name) {
  const auto found = options.find(name);
  if (found == options.end()) return false;
  const bool* given = boost::any_cast<bool>(&found->second.value());
  return given == nullptr || *given;
}

std::vector<std::string> positional(const Options& options) {
  const auto found = options.find("positional");
  return found == options.end() ? std::vector<std::string>{}
                                : found->second.as<std::vector<std::string>>();
}

}  // namespace ridgeline::cli
