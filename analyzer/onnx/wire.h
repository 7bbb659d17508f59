// Wire: the fields of one protobuf message, in place. What is not asked for is not read from disk.
// protozero decodes the numbers; its own reader keeps lengths in 32 bits, and weights can be
// longer.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "analyzer/onnx/paged_file.h"

namespace ridgeline::onnx {

static_assert(std::endian::native == std::endian::little, "numbers in files are little endian");

template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// The file that messages are parts of.
struct WireSource {
  std::string_view bytes;
  std::string name;                // stands in errors
  PagedFile* on_demand = nullptr;  // whose bytes they are, where they are not all in memory

  void load(const char* from, std::size_t count) const {
    if (on_demand != nullptr) on_demand->load(from, count);
  }
};

class Wire {
 public:
  // `message` lies inside of the source; `type` is its name in onnx.proto.
  Wire(std::string_view message, const char* type, const WireSource& source)
      : rest_(message), type_(type), source_(&source) {}

  // To the next field; false where there is none.
  bool next() {
    if (rest_.empty()) return false;
    read_field();
    return true;
  }

  std::uint32_t field() const { return field_; }

  // The field's value. Another wire type than the one that the field must have is an Error.
  std::int64_t integer() const;
  float real() const;
  std::string_view bytes() const;
  std::string_view extent() const;  // where bytes() are, without reading them
  Wire message(const char* type) const { return {extent(), type, *source_}; }

  // Elements of a repeated field, which may be packed or stand alone.
  template <class List>
  void append_integers(List& values) const {
    if (!is_packed()) return values.push_back(integer());
    Wire numbers(bytes(), type_, *source_);
    while (!numbers.rest_.empty()) values.push_back(static_cast<std::int64_t>(numbers.varint()));
  }
  std::string_view fixed_values(std::size_t value_bytes) const;  // of 4 or 8 bytes, side by side
  std::size_t fixed_count(std::size_t value_bytes) const;        // of them, without reading them
  bool is_packed() const { return kind_ == Kind::length_delimited; }

  std::string_view remaining() const { return rest_; }  // the whole message before the first next()

  std::uint64_t offset() const;                           // of the field, in the file
  [[noreturn]] void fail(const std::string& what) const;  // Error: file, byte and cause

 private:
  enum class Kind : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

  static constexpr std::size_t max_varint_bytes = 10;

  // Of bytes that are loaded.
  std::uint64_t varint() {
    // Most tags, lengths and numbers are one byte.
    if (!rest_.empty()) {
      const auto first = static_cast<unsigned char>(rest_.front());
      if (first < 0x80) {
        rest_.remove_prefix(1);
        return first;
      }
    }
    return long_varint();
  }
  std::uint64_t long_varint();
  void read_field();
  std::string_view take(std::uint64_t count);
  void expect(Kind kind) const;

  std::string_view rest_;
  const char* type_;
  const WireSource* source_;
  const char* start_ = nullptr;  // of the field
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::varint;
  std::uint64_t number_ = 0;  // of a varint
  std::string_view bytes_;    // of the other kinds
};

}  // namespace ridgeline::onnx
