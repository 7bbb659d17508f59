// Parses a model into a tree of fields, changes the tree slightly, and writes it back to bytes.
// All it uses of onnx.proto is which fields are messages.
#include "tests/fuzz/message_mutator.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <protozero/buffer_string.hpp>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>
#include <random>
#include <vector>

#include "analyzer/onnx/node_context.h"

namespace ridgeline::testing {
namespace {

enum class Message { model, graph, node, attribute, tensor, sparse, value, type, function, leaf };

struct MessageField {
  Message parent;
  std::uint32_t number;
  Message child;
};

constexpr MessageField message_fields[] = {
    {Message::model, 7, Message::graph},      {Message::model, 8, Message::leaf},
    {Message::model, 25, Message::function},  {Message::graph, 1, Message::node},
    {Message::graph, 5, Message::tensor},     {Message::graph, 11, Message::value},
    {Message::graph, 12, Message::value},     {Message::graph, 13, Message::value},
    {Message::graph, 15, Message::sparse},    {Message::node, 5, Message::attribute},
    {Message::attribute, 5, Message::tensor}, {Message::attribute, 6, Message::graph},
    {Message::attribute, 11, Message::graph}, {Message::attribute, 22, Message::sparse},
    {Message::sparse, 1, Message::tensor},    {Message::sparse, 2, Message::tensor},
    {Message::tensor, 13, Message::leaf},     {Message::value, 2, Message::type},
    {Message::type, 1, Message::type},        {Message::type, 2, Message::type},
    {Message::type, 4, Message::type},        {Message::type, 8, Message::type},
    {Message::type, 9, Message::type},        {Message::function, 7, Message::node},
    {Message::function, 9, Message::leaf},    {Message::function, 11, Message::attribute},
};

struct Field {
  std::uint32_t number = 0;
  std::uint32_t wire_type = 0;
  std::uint64_t value = 0;         // of a varint
  std::string bytes;               // of other fields that are not messages
  std::optional<Message> message;  // if it is one, its content is in `fields`
  std::vector<Field> fields;
};

constexpr int max_depth = 40;

std::optional<Message> message_of(Message parent, std::uint32_t number) {
  for (const MessageField& row : message_fields)
    if (row.parent == parent && row.number == number) return row.child;
  return std::nullopt;
}

// The fields of a message; nothing if the bytes are not one.
std::optional<std::vector<Field>> parse(std::string_view bytes, Message type, int depth) {
  std::vector<Field> fields;
  const char* at = bytes.data();
  const char* end = at + bytes.size();
  const auto take = [&](std::uint64_t count) {
    if (count > static_cast<std::uint64_t>(end - at)) throw protozero::end_of_buffer_exception{};
    const std::string_view taken(at, count);
    at += count;
    return taken;
  };
  while (at != end) {
    const std::uint64_t tag = protozero::decode_varint(&at, end);
    Field field{
        static_cast<std::uint32_t>(tag >> 3), static_cast<std::uint32_t>(tag & 7), 0, {}, {}, {}};
    if (field.wire_type == 0) {
      field.value = protozero::decode_varint(&at, end);
    } else if (field.wire_type == 2) {
      const std::string_view content = take(protozero::decode_varint(&at, end));
      const auto child = message_of(type, field.number);
      if (child && depth < max_depth) {
        auto nested = parse(content, *child, depth + 1);
        if (!nested) return std::nullopt;
        field.message = child;
        field.fields = std::move(*nested);
      } else {
        field.bytes = content;
      }
    } else if (field.wire_type == 1 || field.wire_type == 5) {
      field.bytes = take(field.wire_type == 1 ? 8 : 4);
    } else {
      return std::nullopt;
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

std::string encode(const std::vector<Field>& fields) {
  std::string bytes;
  for (const Field& field : fields) {
    protozero::add_varint_to_buffer(&bytes, field.number << 3 | field.wire_type);
    const std::string content = field.message ? encode(field.fields) : field.bytes;
    if (field.wire_type == 0) protozero::add_varint_to_buffer(&bytes, field.value);
    if (field.wire_type == 2) protozero::add_varint_to_buffer(&bytes, content.size());
    bytes += content;
  }
  return bytes;
}

// A field and the list that holds it.
struct Place {
  std::vector<Field>* list;
  std::size_t index;
  Message parent;

  Field& field() const { return (*list)[index]; }
};

void collect(std::vector<Field>& fields, Message type, std::vector<Place>& places) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    places.push_back({&fields, i, type});
    if (fields[i].message) collect(fields[i].fields, *fields[i].message, places);
  }
}

class Changes {
 public:
  Changes(unsigned seed, const ByteMutator& mutate) : random_(seed), mutate_(mutate) {}

  void apply(std::vector<Field>& model) {
    std::vector<Place> places;
    collect(model, Message::model, places);
    if (places.empty()) return;
    const Place place = places[below(places.size())];
    switch (below(6)) {
      case 0:
        place.list->erase(place.list->begin() + static_cast<std::ptrdiff_t>(place.index));
        break;
      case 1: {
        const Field copy = place.field();
        place.list->insert(
            place.list->begin() + static_cast<std::ptrdiff_t>(below(place.list->size() + 1)), copy);
        break;
      }
      case 2:
        std::swap(place.field(), (*place.list)[below(place.list->size())]);
        break;
      case 3:
        exchange(place, places);
        break;
      default:
        change(place);
    }
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  // Takes the content of another field of the same kind, so names and shapes swap places.
  void exchange(const Place& place, const std::vector<Place>& places) {
    std::vector<const Field*> others;
    for (const Place& other : places)
      if (other.parent == place.parent && other.field().wire_type == place.field().wire_type &&
          other.field().message == place.field().message)
        others.push_back(&other.field());
    Field copy = *others[below(others.size())];
    copy.number = place.field().number;
    place.field() = std::move(copy);
  }

  void change(const Place& place) {
    Field& field = place.field();
    if (field.wire_type == 0) {
      field.value = number(field.value);
    } else if (place.parent == Message::node && field.number == 4) {
      const auto operators = onnx::known_operators();
      field.bytes = operators[below(operators.size())].name;
    } else if (field.message) {
      field.fields.push_back({static_cast<std::uint32_t>(1 + below(12)), 0, number(1), {}, {}, {}});
    } else {
      mutate_(field.bytes, field.bytes.size() + 8);
    }
  }

  std::uint64_t number(std::uint64_t before) {
    static constexpr std::int64_t interesting[] = {0,
                                                   1,
                                                   -1,
                                                   2,
                                                   3,
                                                   7,
                                                   16,
                                                   -128,
                                                   255,
                                                   1 << 16,
                                                   1 << 30,
                                                   INT32_MAX,
                                                   -2,
                                                   INT64_C(1) << 32,
                                                   INT64_C(1) << 40,
                                                   (INT64_C(1) << 40) + 1,
                                                   INT64_MAX,
                                                   INT64_MIN};
    if (below(3) == 0) return before + below(5) - 2;
    return static_cast<std::uint64_t>(interesting[below(std::size(interesting))]);
  }

  std::minstd_rand random_;
  const ByteMutator& mutate_;
};

}  // namespace

std::string mutated_model(const std::string& bytes, unsigned seed, const ByteMutator& mutate) {
  try {
    auto model = parse(bytes, Message::model, 0);
    if (!model) return {};
    Changes changes(seed, mutate);
    for (unsigned i = 0; i <= seed % 3; ++i) changes.apply(*model);
    return encode(*model);
  } catch (const protozero::exception&) {
    return {};
  }
}

}  // namespace ridgeline::testing
