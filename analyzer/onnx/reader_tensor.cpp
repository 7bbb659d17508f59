// Reads TensorProto and SparseTensorProto: names, types, dimensions and where the elements are.
// The elements stay where they are; only their number is held against the dimensions.
#include <fmt/format.h>

#include <charconv>

#include "analyzer/onnx/data_type.h"
#include "analyzer/onnx/reader.h"
#include "analyzer/onnx/tensor_data.h"
#include "base/text.h"

namespace ridgeline::onnx {
namespace {

[[noreturn]] void fail_tensor(const Wire& wire, const TensorProto& tensor,
                              const std::string& what) {
  wire.fail(fmt::format("tensor {}: {}", quote(tensor.name), what));
}

// How many values a typed field can hold, told from its length: a varint has 1 to 10 bytes.
struct ValueRange {
  std::uint64_t least = 0, most = 0;

  void add(std::uint64_t low, std::uint64_t high) {
    least += low;
    most += high;
  }
};

// The elements as the fields of a tensor hold them.
struct StoredElements {
  ValueRange typed[typed_field_count];
  bool external = false;
};

void count_values(const Wire& wire, const TypedField& field, ValueRange& range) {
  if (field.encoding == ValueEncoding::text) {
    static_cast<void>(wire.extent());
    range.add(1, 1);
  } else if (field.encoding == ValueEncoding::varint) {
    if (!wire.is_packed()) static_cast<void>(wire.integer());
    const std::uint64_t bytes = wire.is_packed() ? wire.extent().size() : 1;
    range.add((bytes + 9) / 10, bytes);
  } else {
    const std::uint64_t values = wire.fixed_count(fixed_bytes(field.encoding));
    range.add(values, values);
  }
}

std::uint64_t read_decimal(const Wire& wire, const TensorProto& tensor, std::string_view key,
                           std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail_tensor(wire, tensor,
                fmt::format("{} of its external data is {}, needs a number", key, quote(text)));
  return value;
}

struct ExternalEntry {
  std::string_view key, value;
};

ExternalEntry read_entry(Wire wire) {
  ExternalEntry entry;
  while (wire.next()) {
    if (wire.field() == 1) entry.key = wire.bytes();
    if (wire.field() == 2) entry.value = wire.bytes();
  }
  return entry;
}

ExternalData external_data(const Wire& wire, const TensorProto& tensor,
                           const std::vector<ExternalEntry>& entries) {
  ExternalData data;
  for (const auto& [key, value] : entries) {
    if (key == "location") data.location = value;
    if (key == "offset") data.offset = read_decimal(wire, tensor, key, value);
    if (key == "length") data.length = read_decimal(wire, tensor, key, value);
  }
  if (data.location.empty()) fail_tensor(wire, tensor, "its external data has no location");
  return data;
}

std::int64_t checked_elements(const Wire& wire, const TensorProto& tensor) {
  if (tensor.dims.size() > max_rank)
    fail_tensor(wire, tensor,
                fmt::format("{} dimensions, at most {} are read", tensor.dims.size(), max_rank));
  for (const std::int64_t dimension : tensor.dims)
    if (dimension < 0 || dimension > max_dimension)
      fail_tensor(wire, tensor,
                  fmt::format("dimension {} of shape {} is outside of 0 to 2^40", dimension,
                              to_string(tensor.shape())));
  const auto elements = checked_element_count(tensor.dims);
  if (!elements)
    fail_tensor(wire, tensor,
                fmt::format("shape {} has more than 2^63 elements", to_string(tensor.shape())));
  return *elements;
}

void check_bytes(const Wire& wire, const TensorProto& tensor, std::string_view what,
                 std::uint64_t bytes) {
  const std::optional<double> needed = storage_bytes(tensor.type, tensor.elements);
  if (needed && static_cast<double>(bytes) != *needed)
    fail_tensor(wire, tensor,
                fmt::format("{} of {} needs {:.0f} bytes, {} holds {}", to_string(tensor.shape()),
                            to_string(tensor.type), *needed, what, bytes));
}

void check_values(const Wire& wire, const TensorProto& tensor, const StoredElements& elements) {
  const std::optional<std::size_t> expected = typed_field_of(tensor.type);
  if (!expected) return;
  for (std::size_t i = 0; i < typed_field_count; ++i)
    if (i != *expected && elements.typed[i].most > 0)
      fail_tensor(wire, tensor,
                  fmt::format("elements of {} stand in {}, not in {}", to_string(tensor.type),
                              typed_fields[*expected].name, typed_fields[i].name));
  const ValueRange& range = elements.typed[*expected];
  if (range.most == 0) return;  // tools make files without weights, to pass them around
  const std::uint64_t needed = typed_values(tensor.type, tensor.elements);
  if (needed < range.least || needed > range.most)
    fail_tensor(wire, tensor,
                fmt::format("{} of {} needs {} values, {} holds {} {}", to_string(tensor.shape()),
                            to_string(tensor.type), needed, typed_fields[*expected].name,
                            needed < range.least ? "at least" : "at most",
                            needed < range.least ? range.least : range.most));
}

}  // namespace

TensorProto read_tensor(Wire wire, Arena& arena) {
  const Wire whole = wire;
  TensorProto tensor;
  tensor.message = wire.remaining();
  StoredElements elements;
  ArenaList<std::int64_t> dims(arena, 4);
  std::vector<ExternalEntry> entries;
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        wire.append_integers(dims);
        break;
      case 2:
        tensor.type = element_type(wire.integer());
        break;
      case 8:
        tensor.name = wire.bytes();
        break;
      case 9:
        tensor.raw = wire.extent();
        break;
      case 13:
        entries.push_back(read_entry(wire.message("StringStringEntryProto")));
        break;
      case 14:
        elements.external = wire.integer() == 1;
        break;
      default:
        for (std::size_t i = 0; i < typed_field_count; ++i)
          if (typed_fields[i].number == wire.field())
            count_values(wire, typed_fields[i], elements.typed[i]);
    }
  }
  tensor.dims = dims;
  tensor.elements = checked_elements(whole, tensor);
  if (elements.external) {
    tensor.external = &keep(arena, external_data(whole, tensor, entries));
    if (tensor.external->length)
      check_bytes(whole, tensor, "its external data", *tensor.external->length);
  } else if (!tensor.raw.empty()) {
    check_bytes(whole, tensor, "raw_data", tensor.raw.size());
  } else {
    check_values(whole, tensor, elements);
  }
  return tensor;
}

TensorProto read_sparse_tensor(Wire wire, Arena& arena) {
  const Wire whole = wire;
  TensorProto tensor, values, indices;
  ArenaList<std::int64_t> dims(arena, 4);
  while (wire.next()) {
    switch (wire.field()) {
      case 1:
        values = read_tensor(wire.message("TensorProto"), arena);
        break;
      case 2:
        indices = read_tensor(wire.message("TensorProto"), arena);
        break;
      case 3:
        wire.append_integers(dims);
        break;
      default:
        break;
    }
  }
  tensor.name = values.name;
  tensor.type = values.type;
  tensor.dims = dims;
  tensor.elements = checked_elements(whole, tensor);
  const auto value_bytes = storage_bytes(values.type, values.elements);
  const auto index_bytes = storage_bytes(indices.type, indices.elements);
  if (value_bytes && index_bytes) tensor.stored_bytes = *value_bytes + *index_bytes;
  return tensor;
}

}  // namespace ridgeline::onnx
