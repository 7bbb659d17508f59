// Reads an nvpmodel configuration line by line; sections run to the next header.
// Accepts what real files hold: odd spacing, blank lines, CRLF, damaged lines, edits by users.
#include "devices/nvpmodel/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "devices/nvpmodel/knob.h"

namespace ridgeline::nvpmodel {
namespace {

using Words = std::vector<std::string_view>;

// Up to a word that begins with '#'.
Words split_words(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\v\f";
  Words words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos || text[begin] == '#') return words;
    const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

bool is_plain_text(std::string_view line) {
  return std::all_of(line.begin(), line.end(), [](char c) {
    return (c >= ' ' && c < 0x7f) || c == '\t' || c == '\r' || c == '\v' || c == '\f';
  });
}

std::uint64_t fnv1a(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3;
  }
  return hash;
}

class Reader {
 public:
  Reading read(std::string_view text) {
    reading_.configuration.fingerprint = fnv1a(text);
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    check_sections();
    check_statements();
    check_declarations();
    std::stable_sort(reading_.findings.begin(), reading_.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.line < b.line; });
    return std::move(reading_);
  }

 private:
  enum class Section { none, parameter, model, ignored };

  void error(int line, std::string what) {
    reading_.findings.push_back({Severity::error, std::max(line, 1), std::move(what)});
  }
  void warn(int line, std::string what) {
    reading_.findings.push_back({Severity::warning, std::max(line, 1), std::move(what)});
  }

  void read_line(std::string_view line) {
    const Words words = split_words(line);
    if (words.empty()) return;
    if (!is_plain_text(line)) {
      error(line_, "the line holds bytes that are not plain text");
      return;
    }
    if (words.front().starts_with('<')) {
      section_ = Section::ignored;  // unless the header can be read
      read_header(line.substr(line.find('<') + 1));
      return;
    }
    switch (section_) {
      case Section::none:
        if (!std::exchange(told_of_stray_text_, true))
          error(line_, fmt::format("{} stands before any section", quote(words.front())));
        return;
      case Section::parameter:
        return read_argument(words);
      case Section::model:
        return read_statement(words);
      case Section::ignored:
        return;
    }
  }

  // Values of "KEY=VALUE" words by key; nullopt, and an error, if the words are anything else.
  std::optional<std::map<std::string, std::string, std::less<>>> read_keys(const Words& words) {
    std::map<std::string, std::string, std::less<>> keys;
    for (auto word = words.begin() + 1; word != words.end(); ++word) {
      const std::size_t equals = word->find('=');
      if (equals == std::string_view::npos || equals == 0 || equals + 1 == word->size()) {
        error(line_, fmt::format("{} in a section header is not KEY=VALUE", quote(*word)));
        return std::nullopt;
      }
      const std::string key(word->substr(0, equals));
      if (!keys.emplace(key, word->substr(equals + 1)).second) {
        error(line_, fmt::format("the section header has {} twice", key));
        return std::nullopt;
      }
    }
    return keys;
  }

  void read_header(std::string_view text) {
    const std::size_t close = text.find('>');
    if (close == std::string_view::npos) {
      error(line_, "the section header has no '>'");
      return;
    }
    if (!split_words(text.substr(close + 1)).empty()) warn(line_, "text after '>' is not read");
    const Words words = split_words(text.substr(0, close));
    if (words.empty()) {
      error(line_, "the section header is empty");
      return;
    }
    const std::string_view keyword = words.front();
    // The fan has its own section in JetPack 4; nothing of it is a power mode.
    if (keyword == "FAN_CONFIG") return;
    if (keyword != "PARAM" && keyword != "POWER_MODEL" && keyword != "PM_CONFIG") {
      warn(line_, fmt::format("unknown section {}, its lines are not read", quote(keyword)));
      return;
    }
    const auto keys = read_keys(words);
    if (!keys) return;
    const auto value = [&](std::string_view key) -> const std::string* {
      const auto found = keys->find(key);
      if (found != keys->end()) return &found->second;
      error(line_, fmt::format("{} has no {}=", keyword, key));
      return nullptr;
    };
    if (keyword == "PARAM")
      begin_parameter(value("TYPE"), value("NAME"));
    else if (keyword == "POWER_MODEL")
      begin_model(value("ID"), value("NAME"));
    else
      set_default(value("DEFAULT"));
  }

  void begin_parameter(const std::string* type, const std::string* name) {
    if (!type || !name) return;
    if (*type != "FILE" && *type != "CLOCK" && *type != "HWMON")
      warn(line_, fmt::format("unknown TYPE={} of {}", quote(*type), *name));
    if (!parameter_names_.insert(*name).second)
      warn(line_, fmt::format("{} is declared a second time, the first counts", quote(*name)));
    reading_.configuration.parameters.push_back({*type, *name, {}, line_});
    section_ = Section::parameter;
  }

  std::optional<int> mode_id(std::string_view text) {
    const auto id = parse_integer(text);
    if (id && *id >= 0 && *id <= std::numeric_limits<int>::max()) return static_cast<int>(*id);
    error(line_, fmt::format("{} is not the number of a mode", quote(text)));
    return std::nullopt;
  }

  void begin_model(const std::string* id_text, const std::string* name) {
    if (!id_text || !name) return;
    const auto id = mode_id(*id_text);
    if (!id) return;
    if (const auto [known, is_new] = model_lines_.try_emplace(*id, line_); !is_new) {
      error(line_, fmt::format("ID={} is taken by the mode of line {}", *id, known->second));
      return;
    }
    if (const auto [known, is_new] = name_lines_.try_emplace(*name, line_); !is_new)
      warn(line_, fmt::format("NAME={} is also the name of the mode of line {}", quote(*name),
                              known->second));
    reading_.configuration.models.push_back({*id, *name, {}, line_});
    section_ = Section::model;
  }

  void set_default(const std::string* text) {
    if (!text) return;
    if (default_line_ > 0) {
      error(line_, fmt::format("a second PM_CONFIG, the first is in line {}", default_line_));
      return;
    }
    default_line_ = line_;
    const auto id = mode_id(*text);
    if (!id) return;
    reading_.configuration.default_id = *id;
    has_default_ = true;
  }

  void read_argument(const Words& words) {
    Parameter& parameter = reading_.configuration.parameters.back();
    const bool is_hwmon = parameter.type == "HWMON";
    const std::size_t expected = is_hwmon ? 3 : 2;
    Argument argument{std::string(words.front()), {}, {}, line_};
    if (words.size() == expected && words[1].starts_with('/')) {
      argument.path = words[1];
      if (is_hwmon) argument.attribute = words[2];
    } else {
      warn(line_, fmt::format("{} of {} is damaged: {} words where a name and {} belong",
                              quote(words.front()), parameter.name, words.size(),
                              is_hwmon ? "a folder and a file" : "one path"));
    }
    if (parameter.find(argument.name))
      warn(line_, fmt::format("{} of {} is declared a second time, the first counts",
                              quote(argument.name), parameter.name));
    parameter.arguments.push_back(std::move(argument));
  }

  void read_statement(const Words& words) {
    PowerModel& model = reading_.configuration.models.back();
    if (words.size() < 3) {
      error(line_, fmt::format("{} is not a statement: write PARAM ARGUMENT value",
                               quote(fmt::format("{}", fmt::join(words, " ")))));
      return;
    }
    if (words.size() > 3)
      warn(line_, fmt::format("{} after the value is not read", quote(words[3])));
    model.statements.push_back(
        {std::string(words[0]), std::string(words[1]), std::string(words[2]), line_});
  }

  void check_sections() {
    const Configuration& file = reading_.configuration;
    if (file.models.empty()) error(line_, "no POWER_MODEL section");
    if (default_line_ == 0)
      error(line_, "no PM_CONFIG section names the default mode");
    else if (has_default_ && !file.models.empty() && !file.model(file.default_id))
      error(default_line_, fmt::format("DEFAULT={} is none of the modes", file.default_id));
  }

  void check_statements() {
    const Configuration& file = reading_.configuration;
    for (const PowerModel& model : file.models) {
      std::map<std::pair<std::string_view, std::string_view>, int> lines;
      for (const Statement& statement : model.statements) {
        check_statement(statement);
        const auto [known, is_new] =
            lines.try_emplace({statement.parameter, statement.argument}, statement.line);
        if (!is_new)
          warn(statement.line, fmt::format("{} {} was set in line {} already, this one counts",
                                           statement.parameter, statement.argument, known->second));
      }
    }
  }

  void check_statement(const Statement& statement) {
    const Configuration& file = reading_.configuration;
    const Parameter* parameter = file.find(statement.parameter);
    if (!parameter)
      warn(statement.line, fmt::format("{} is declared by no PARAM section, nvpmodel has no file "
                                       "to write to",
                                       quote(statement.parameter)));
    else if (!parameter->find(statement.argument))
      warn(statement.line,
           fmt::format("{} has no argument {}", statement.parameter, quote(statement.argument)));
    const Knob knob = knob_of(file, statement.parameter, statement.argument);
    const bool wants_number = is_number(knob.kind) || (parameter && parameter->type == "CLOCK");
    if (wants_number && !parse_integer(statement.value))
      error(statement.line, fmt::format("{} of {} {} is not a whole number", quote(statement.value),
                                        statement.parameter, statement.argument));
    else if (knob.kind == KnobKind::core && statement.value != "0" && statement.value != "1")
      error(statement.line, fmt::format("{} is neither 0 nor 1", quote(statement.value)));
  }

  // All files of one GPU clock are files of one GPU.
  void check_declarations() {
    for (const Parameter& parameter : reading_.configuration.parameters) {
      std::string_view expected;
      for (const Argument& argument : parameter.arguments) {
        const std::string_view address = gpu_address(argument.path);
        if (address.empty()) continue;
        if (expected.empty()) expected = address;
        if (address != expected)
          warn(argument.line, fmt::format("{} of {} belongs to another chip's GPU: {} where the "
                                          "other files have {}",
                                          argument.name, parameter.name, address, expected));
      }
    }
  }

  Reading reading_;
  int line_ = 0;
  Section section_ = Section::none;
  bool told_of_stray_text_ = false;
  bool has_default_ = false;
  int default_line_ = 0;
  std::set<std::string, std::less<>> parameter_names_;
  std::map<int, int> model_lines_;                      // by ID
  std::map<std::string, int, std::less<>> name_lines_;  // by NAME
};

}  // namespace

const Argument* Parameter::find(std::string_view argument) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const Argument& one) { return one.name == argument; });
  return found == arguments.end() ? nullptr : &*found;
}

int PowerModel::last_line() const { return statements.empty() ? line : statements.back().line; }

const Parameter* Configuration::find(std::string_view parameter) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const Parameter& one) { return one.name == parameter; });
  return found == parameters.end() ? nullptr : &*found;
}

const PowerModel* Configuration::model(int id) const {
  const auto found = std::find_if(models.begin(), models.end(),
                                  [&](const PowerModel& one) { return one.id == id; });
  return found == models.end() ? nullptr : &*found;
}

Reading read_configuration(std::string_view text) { return Reader().read(text); }

Configuration parse_configuration(std::string_view text, const std::string& file,
                                  std::vector<Finding>* warnings) {
  Reading reading = read_configuration(text);
  for (Finding& finding : reading.findings) {
    if (finding.severity == Severity::error)
      throw Error(fmt::format("{}:{}", file, finding.line), finding.what);
    if (warnings) warnings->push_back(std::move(finding));
  }
  return std::move(reading.configuration);
}

std::string_view label_of(std::string_view name) {
  constexpr std::string_view prefix = "MODE_";
  return name.starts_with(prefix) && name.size() > prefix.size() ? name.substr(prefix.size())
                                                                 : name;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  if (text.empty() || text.front() == '-' || text.front() == '+') return std::nullopt;
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, hexadecimal ? 16 : 10);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace ridgeline::nvpmodel
