// Reading JSON with the path of what is wrong: a cursor that knows where it stands.
// Writing is plain Json values; same input gives the same bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline {

class JsonCursor {
 public:
  JsonCursor(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  JsonCursor at(std::string_view key) const;                   // required member
  std::optional<JsonCursor> find(std::string_view key) const;  // absent or null → nullopt
  std::vector<JsonCursor> items() const;                       // of an array

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
    fail_token(word, TokenTable<E>::noun);
  }

  [[noreturn]] void fail(const std::string& what) const;  // Error with this cursor's path
  const std::string& path() const { return path_; }
  const Json& value() const { return *value_; }

 private:
  [[noreturn]] void fail_token(const std::string& word, std::string_view noun) const;

  const Json* value_;
  std::string path_;
};

// Parses a whole file; truncated or malformed text is an Error with file and byte.
Json read_json_file(const std::string& path);
Json parse_json(std::string_view text, const std::string& name);

// Two-space indent and a final newline.
std::string dump_json(const Json& value);

}  // namespace ridgeline
