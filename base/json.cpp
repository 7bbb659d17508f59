// Parsing and reading of JSON with precise one-line errors, also for hostile text.
// It knows nothing of the nouns; each noun reads itself from a cursor.
#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "base/text_file.h"

namespace ridgeline {
namespace {

// Our documents are about ten levels deep. Copying and dumping of Json values recurse, so text
// that nests deeper is rejected before it becomes a value.
constexpr std::size_t max_depth = 64;

// Doubles hold every integer up to here; beyond it "1e300" would pass for an integer.
constexpr double max_exact_integer = 9007199254740992.0;

std::string type_name(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    default:
      return value.dump();
  }
}

// What the library says about malformed text, without its prefix and without a copy of the text.
std::string parser_reason(std::string message) {
  if (const auto dash = message.find(" - "); dash != std::string::npos) message.erase(0, dash + 3);
  if (const auto cut = message.find("; last read"); cut != std::string::npos) message.erase(cut);
  for (char& c : message)
    if (c < ' ' || c > '~') c = '?';
  return message;
}

// Builds a Json value from parser events. The library's own builder has no depth limit, and looks
// every key of an object up again, which is quadratic. If a key is given twice, the first counts.
class JsonBuilder : public nlohmann::json_sax<Json> {
 public:
  JsonBuilder(std::string_view document, const std::string& document_name)
      : text_(document), name_(document_name) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return add(Json(value)); }
  bool number_float(number_float_t value, const string_t&) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }  // not in text
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    key_ = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const std::size_t byte = std::min(position, text_.size());
    const auto newlines = std::count(text_.begin(), text_.begin() + static_cast<long>(byte), '\n');
    const std::string at = fmt::format("byte {}, line {}: ", byte, newlines + 1);
    constexpr int number_overflow = 406;  // documented by the library
    if (error.id == number_overflow)
      throw Error(name_, at + "the number " + quote(token) + " is too large");
    // The parser counts the end of the text as one more byte.
    if (position > text_.size()) throw Error(name_, at + "the JSON text is cut off here");
    throw Error(name_, at + "malformed JSON: " + parser_reason(error.what()));
  }

 private:
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      return &open_.back()->back();
    }
    auto& members = open_.back()->get_ref<Json::object_t&>();
    members.push_back({std::move(key_), std::move(value)});
    return &members.back().second;
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (open_.size() == max_depth)
      throw Error(name_, fmt::format("JSON nested deeper than {} levels", max_depth));
    // Only the last child of a container is ever open, so growth never moves what we point to.
    open_.push_back(place(std::move(container)));
    // Members have constant keys: each growth would copy them all.
    if (open_.back()->is_object()) open_.back()->get_ref<Json::object_t&>().reserve(8);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  Json root_;
  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

JsonCursor JsonCursor::at(std::string_view key) const {
  if (!value_->is_object()) fail("needs an object, is " + type_name(*value_));
  const auto member = value_->find(std::string(key));
  if (member == value_->end()) throw Error(member_path(key), "missing");
  return JsonCursor(*member, member_path(key));
}

std::optional<JsonCursor> JsonCursor::find(std::string_view key) const {
  if (!value_->is_object()) fail("needs an object, is " + type_name(*value_));
  const auto member = value_->find(std::string(key));
  if (member == value_->end() || member->is_null()) return std::nullopt;
  return JsonCursor(*member, member_path(key));
}

std::vector<JsonCursor> JsonCursor::items() const {
  if (!value_->is_array()) fail("needs an array, is " + type_name(*value_));
  std::vector<JsonCursor> cursors;
  cursors.reserve(value_->size());
  for (const Json& item : *value_)
    cursors.emplace_back(item, fmt::format("{}[{}]", path_, cursors.size()));
  return cursors;
}

std::vector<std::pair<std::string, JsonCursor>> JsonCursor::members() const {
  if (!value_->is_object()) fail("needs an object, is " + type_name(*value_));
  std::vector<std::pair<std::string, JsonCursor>> cursors;
  cursors.reserve(value_->size());
  for (const auto& member : value_->items())
    cursors.emplace_back(member.key(), JsonCursor(member.value(), member_path(member.key())));
  return cursors;
}

std::string JsonCursor::text() const {
  if (!value_->is_string()) fail("needs a string, is " + type_name(*value_));
  return value_->get<std::string>();
}

bool JsonCursor::boolean() const {
  if (!value_->is_boolean()) fail("needs true or false, is " + type_name(*value_));
  return value_->get<bool>();
}

double JsonCursor::number() const {
  if (!value_->is_number()) fail("needs a number, is " + type_name(*value_));
  const double number = value_->get<double>();
  // Text cannot hold these, but a value built in memory can.
  if (!std::isfinite(number)) fail("not finite");
  return number;
}

double JsonCursor::non_negative() const {
  const double number = this->number();
  if (number < 0) fail("negative");
  return number;
}

std::int64_t JsonCursor::integer() const {
  const double approximate = number();
  if (value_->is_number_unsigned()) {
    const auto exact = value_->get<std::uint64_t>();
    if (exact > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail(fmt::format("{} is too large", exact));
    return static_cast<std::int64_t>(exact);
  }
  if (value_->is_number_integer()) return value_->get<std::int64_t>();
  if (approximate != std::floor(approximate)) fail("needs an integer, is " + value_->dump());
  if (std::abs(approximate) > max_exact_integer) fail(value_->dump() + " is too large");
  return static_cast<std::int64_t>(approximate);
}

std::uint64_t JsonCursor::size() const {
  if (value_->is_number_unsigned()) return value_->get<std::uint64_t>();
  const std::int64_t number = integer();
  if (number < 0) fail("negative");
  return static_cast<std::uint64_t>(number);
}

int JsonCursor::count() const {
  const std::uint64_t number = size();
  if (number > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    fail(fmt::format("{} is too large", number));
  return static_cast<int>(number);
}

void JsonCursor::fail(const std::string& what) const {
  const bool at_file_root = path_.size() >= 2 && path_.compare(path_.size() - 2, 2, ": ") == 0;
  throw Error(at_file_root ? path_.substr(0, path_.size() - 2) : path_, what);
}

void JsonCursor::fail_token(const std::string& word, std::string_view noun,
                            const std::string& allowed) const {
  fail(fmt::format("unknown {} {}, known are {}", noun, quote(word), allowed));
}

std::string JsonCursor::member_path(std::string_view key) const {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_';
  });
  if (!plain) return path_ + "[" + quote(key) + "]";
  const bool at_root = path_.empty() || path_.back() == ' ';
  return path_ + (at_root ? "" : ".") + std::string(key);
}

JsonCursor file_cursor(const Json& value, const std::string& file) { return {value, file + ": "}; }

void check_schema(const JsonCursor& document, std::string_view schema) {
  const JsonCursor found = document.at("schema");
  const std::string name = found.text();
  if (name != schema)
    found.fail(fmt::format("is {}, this program reads {}", quote(name), quote(schema)));
}

Json parse_json(std::string_view text, const std::string& name) {
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c); }))
    throw Error(name, "empty, needs JSON");
  JsonBuilder builder(text, name);
  Json::sax_parse(text.data(), text.data() + text.size(), &builder);
  return builder.take();
}

Json read_json_file(const std::string& path) { return parse_json(read_text_file(path), path); }

std::string dump_json(const Json& value) {
  // A machine may report its name in another encoding: a replacement character beats no file.
  return value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ridgeline
