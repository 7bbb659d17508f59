// JsonWriter: JSON text written while it is made, for documents of ten thousands of values; the
// same bytes as dump_json of the whole, without building it. Does not check that the calls fit
// together: a key before each member of an object, none in an array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

#include "base/json_fwd.h"

namespace ridgeline {

class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void open_object() { open('{'); }
  void close_object() { close('}'); }
  void open_array() { open('['); }
  void close_array() { close(']'); }
  // An object on one line with all that is in it: a row of a long table.
  void open_row();
  void close_row();
  void key(std::string_view name);  // of letters, digits and _, as all of our own are

  void text(std::string_view value);
  void boolean(bool value) { written(value ? "true" : "false"); }
  void null() { written("null"); }
  void integer(std::int64_t value);
  void number(double value);             // null where it is not finite
  void written(std::string_view value);  // JSON text: a number that was spelled before
  void tree(const Json& value);

  void finish();  // the last line break; nothing is written after it

 private:
  void open(char bracket);
  void close(char bracket);
  void start_line();
  void start_value();
  void put(std::string_view bytes);
  void put(char byte);
  char* room(std::size_t bytes);  // where to write so many, which are few
  void flush();

  std::ostream& out_;
  std::array<char, 16384> buffer_;
  std::size_t used_ = 0;
  std::size_t depth_ = 0;
  bool is_first_ = true;   // nothing was written yet in the innermost object or array
  bool after_key_ = true;  // the value goes on the line that was begun
  bool in_row_ = false;
};

}  // namespace ridgeline
