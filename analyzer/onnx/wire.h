// Wire: the fields of one protobuf message, in place. Bytes are read from disk only on access.
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
  std::string name;                // for errors
  PagedFile* on_demand = nullptr;  // the file behind `bytes`, if not all of them are in memory

  void load(const char* from, std::size_t count) const {
    if (on_demand != nullptr) on_demand->load(from, count);
  }
};

class Wire {
 public:
  // `message` lies inside the source; `type` is its name in onnx.proto.
  Wire(std::string_view message, const char* type, const WireSource& source)
      : at_(message.data()), end_(at_ + message.size()), type_(type), source_(&source) {}

  // Advances to the next field; false at the end.
  bool next() {
    if (at_ == end_) return false;
    read_field();
    return true;
  }

  std::uint32_t field() const { return field_; }

  // The field's value. A wire type that does not match is an Error.
  std::int64_t integer() const {
    expect(Kind::varint);
    return static_cast<std::int64_t>(number_);
  }
  float real() const;
  std::string_view bytes() const {
    const std::string_view found = extent();
    source_->load(found.data(), found.size());
    return found;
  }
  std::string_view extent() const {  // location of bytes(), without reading them
    expect(Kind::length_delimited);
    return bytes_;
  }
  Wire message(const char* type) const { return {extent(), type, *source_}; }

  // Elements of a repeated field, packed or not.
  template <class List>
  void append_integers(List& values) const {
    if (!is_packed()) return values.push_back(integer());
    Wire numbers(bytes(), type_, *source_);
    while (numbers.at_ != numbers.end_)
      values.push_back(static_cast<std::int64_t>(numbers.varint()));
  }
  std::string_view fixed_values(std::size_t value_bytes) const;  // of 4 or 8 bytes, concatenated
  std::size_t fixed_count(std::size_t value_bytes) const;  // their number, without reading them
  bool is_packed() const { return kind_ == Kind::length_delimited; }

  // The whole message, before the first next().
  std::string_view remaining() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

  std::uint64_t offset() const;                           // of the field in the file
  [[noreturn]] void fail(const std::string& what) const;  // Error: file, byte and cause

 private:
  enum class Kind : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

  static constexpr std::size_t max_varint_bytes = 10;

  // The bytes must be loaded. Most tags, lengths and numbers are one byte.
  std::uint64_t varint() {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80)
      return static_cast<unsigned char>(*at_++);
    return long_varint();
  }
  std::uint64_t long_varint();
  void read_field();
  std::string_view take(std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(end_ - at_)) fail_length(count);
    at_ += count;
    return {at_ - count, static_cast<std::size_t>(count)};
  }
  void expect(Kind kind) const {
    if (kind_ != kind) fail_kind(kind);
  }
  [[noreturn]] void fail_length(std::uint64_t count) const;
  [[noreturn]] void fail_kind(Kind kind) const;
  [[noreturn]] void fail_tag(std::uint64_t tag) const;

  const char* at_;
  const char* end_;
  const char* type_;
  const WireSource* source_;
  const char* start_ = nullptr;  // of the field
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::varint;
  std::uint64_t number_ = 0;  // of a varint
  std::string_view bytes_;    // of the other kinds
};

}  // namespace ridgeline::onnx
