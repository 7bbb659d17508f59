// Reading JSON with the path of what is wrong: a cursor that knows where it stands.
// Writing is plain Json values; same input gives the same bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline {

class JsonCursor {
 public:
  // `path` is empty at the root, or "file: " (see file_cursor). The value must outlive the cursor.
  JsonCursor(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  JsonCursor at(std::string_view key) const;                        // required member
  std::optional<JsonCursor> find(std::string_view key) const;       // absent or null → nullopt
  std::vector<JsonCursor> items() const;                            // of an array
  std::vector<std::pair<std::string, JsonCursor>> members() const;  // of an object, in file order

  std::string text() const;
  bool boolean() const;
  double number() const;         // finite
  double non_negative() const;   // finite, ≥ 0
  std::int64_t integer() const;  //
  std::uint64_t size() const;    // integer ≥ 0
  int count() const;             // integer in [0, 2^31)

  template <class E>
  E token() const {
    const std::string word = text();
    if (const auto value = parse_token<E>(word)) return *value;
    std::string allowed;
    for (const auto& row : TokenTable<E>::rows)
      (allowed += allowed.empty() ? "" : ", ") += row.second;
    fail_token(word, TokenTable<E>::noun, allowed);
  }

  [[noreturn]] void fail(const std::string& what) const;  // Error with this cursor's path
  const std::string& path() const { return path_; }
  const Json& value() const { return *value_; }

 private:
  [[noreturn]] void fail_token(const std::string& word, std::string_view noun,
                               const std::string& allowed) const;
  std::string member_path(std::string_view key) const;

  const Json* value_;
  std::string path_;
};

// The root of a document that came from a file: errors read "profile.json: modes[0].…: negative".
JsonCursor file_cursor(const Json& value, const std::string& file);

// Fails unless the document's "schema" is the one this program reads.
void check_schema(const JsonCursor& document, std::string_view schema);

// A number without a value is null, in text and on the way back.
inline Json nullable(const std::optional<double>& value) { return value ? Json(*value) : Json(); }
inline Json nullable(const std::optional<int>& value) { return value ? Json(*value) : Json(); }

// Arrays of structs, by the function that turns one of them.
template <class T, class ToJson>
Json array_of(const std::vector<T>& values, ToJson to_json_of_one) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(to_json_of_one(value));
  return array;
}

template <class FromJson>
auto vector_of(const JsonCursor& array, FromJson one_from_json) {
  std::vector<decltype(one_from_json(array))> values;
  for (const JsonCursor& item : array.items()) values.push_back(one_from_json(item));
  return values;
}

// Parses a whole file; truncated or malformed text is an Error with file and byte.
Json read_json_file(const std::string& path);
Json parse_json(std::string_view text, const std::string& name);

// Two-space indent and a final newline.
std::string dump_json(const Json& value);

}  // namespace ridgeline
