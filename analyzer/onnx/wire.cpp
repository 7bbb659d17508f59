// Decoding of protobuf fields, bounds-checked against the bytes that exist. Encoding:
// protobuf.dev/programming-guides/encoding. Groups (wire types 3 and 4) never occur.
#include "analyzer/onnx/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

#include "base/error.h"

namespace ridgeline::onnx {
namespace {

constexpr std::uint64_t max_field_number = (std::uint64_t{1} << 29) - 1;

}  // namespace

std::uint64_t Wire::offset() const {
  return static_cast<std::uint64_t>((start_ != nullptr ? start_ : at_) - source_->bytes.data());
}

void Wire::fail(const std::string& what) const {
  throw Error(source_->name, fmt::format("byte {}: {}", offset(), what));
}

void Wire::fail_length(std::uint64_t count) const {
  fail(fmt::format("field {} of {} needs {} bytes, {} are left", field_, type_, count, end_ - at_));
}

void Wire::fail_kind(Kind kind) const {
  fail(fmt::format("field {} of {} has wire type {}, needs {}", field_, type_,
                   static_cast<std::uint32_t>(kind_), static_cast<std::uint32_t>(kind)));
}

void Wire::fail_tag(std::uint64_t tag) const {
  if (tag >> 3 == 0 || tag >> 3 > max_field_number)
    fail(fmt::format("{} has no field {}", type_, tag >> 3));
  fail(fmt::format("field {} of {} has the unknown wire type {}", tag >> 3, type_, tag & 7));
}

std::uint64_t Wire::long_varint() {
  try {
    return protozero::decode_varint(&at_, end_);
  } catch (const protozero::end_of_buffer_exception&) {
    fail(fmt::format("{} ends inside of a number", type_));
  } catch (const protozero::exception&) {
    fail(fmt::format("a number of more than 10 bytes in {}", type_));
  }
}

void Wire::read_field() {
  start_ = at_;
  // The tag and the varint after it.
  source_->load(at_, std::min(static_cast<std::size_t>(end_ - at_), 2 * max_varint_bytes));
  const std::uint64_t tag = varint();
  if (tag >> 3 == 0 || tag >> 3 > max_field_number) fail_tag(tag);
  field_ = static_cast<std::uint32_t>(tag >> 3);
  kind_ = static_cast<Kind>(tag & 7);
  switch (kind_) {
    case Kind::varint:
      number_ = varint();
      return;
    case Kind::fixed64:
      bytes_ = take(8);
      return;
    case Kind::fixed32:
      bytes_ = take(4);
      return;
    case Kind::length_delimited:
      bytes_ = take(varint());
      return;
  }
  fail_tag(tag);
}

float Wire::real() const {
  expect(Kind::fixed32);
  source_->load(bytes_.data(), bytes_.size());
  return load<float>(bytes_.data());
}

std::size_t Wire::fixed_count(std::size_t value_bytes) const {
  if (!is_packed()) expect(value_bytes == 8 ? Kind::fixed64 : Kind::fixed32);
  if (bytes_.size() % value_bytes != 0)
    fail(fmt::format("field {} of {} ends inside of a number", field_, type_));
  return bytes_.size() / value_bytes;
}

std::string_view Wire::fixed_values(std::size_t value_bytes) const {
  source_->load(bytes_.data(), fixed_count(value_bytes) * value_bytes);
  return bytes_;
}

}  // namespace ridgeline::onnx
