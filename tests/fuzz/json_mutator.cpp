// All values of the document are listed, and a few of them are changed. Knows no schema.
#include "tests/fuzz/json_mutator.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

namespace ridgeline::testing {
namespace {

using Document = nlohmann::ordered_json;

void list_values(Document& value, std::vector<Document*>& list) {
  list.push_back(&value);
  if (value.is_structured())
    for (Document& child : value) list_values(child, list);
}

class Mutation {
 public:
  Mutation(Document& document, unsigned seed) : document_(document), random_(seed) {}

  void apply() {
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      values_.clear();
      list_values(document_, values_);
      change(*values_[below(values_.size())]);
    }
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }

  void change(Document& value) {
    switch (below(8)) {
      case 0:
        return replace_by_other_type(value);
      case 1: {  // a part of the document in another place
        Document other = *values_[below(values_.size())];
        value = std::move(other);
        return;
      }
      default:
        break;
    }
    if (value.is_number()) return change_number(value);
    if (value.is_string()) return change_string(value);
    if (value.is_array() && !value.empty()) return change_array(value);
    if (value.is_object() && !value.empty()) return change_object(value);
    replace_by_other_type(value);
  }

  void replace_by_other_type(Document& value) {
    switch (below(7)) {
      case 0:
        value = nullptr;
        return;
      case 1:
        value = Document::array();
        return;
      case 2:
        value = Document::object();
        return;
      case 3:
        value = below(2) == 0;
        return;
      case 4:
        value = "";
        return;
      case 5:
        value = 0.5;
        return;
      default:
        change_number(value);
    }
  }

  void change_number(Document& value) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t numbers[] = {
        0,        1,    -1,       2, 3, 7, 64, 65'536, 2'147'483'647, -2'147'483'648, 4'294'967'296,
        most / 2, most, -most - 1};
    if (below(8) == 0)
      value = below(2) == 0 ? 1e300 : -1e-300;
    else if (below(4) == 0 && value.is_number_integer() && value.get<std::int64_t>() < most)
      value = value.get<std::int64_t>() + 1;
    else
      value = numbers[below(std::size(numbers))];
  }

  void change_string(Document& value) {
    auto& text = value.get_ref<std::string&>();
    switch (below(4)) {
      case 0:
        text.resize(below(text.size() + 1));
        return;
      case 1:
        if (!text.empty()) text[below(text.size())] = static_cast<char>(' ' + below(95));
        return;
      case 2:
        text.insert(below(text.size() + 1), 1, static_cast<char>(' ' + below(95)));
        return;
      default:  // the text of another value
        for (int tries = 0; tries < 20; ++tries)
          if (const Document& other = *values_[below(values_.size())]; other.is_string()) {
            value = std::string(other.get_ref<const std::string&>());
            return;
          }
    }
  }

  void change_array(Document& value) {
    const std::size_t at = below(value.size()), other = below(value.size());
    switch (below(3)) {
      case 0:
        value.erase(at);
        return;
      case 1: {
        Document copy = value[at];
        value.push_back(std::move(copy));
        return;
      }
      default:
        std::swap(value[at], value[other]);
    }
  }

  void change_object(Document& value) {
    const auto at = std::next(value.begin(), static_cast<std::ptrdiff_t>(below(value.size())));
    const auto other = std::next(value.begin(), static_cast<std::ptrdiff_t>(below(value.size())));
    if (below(2) == 0)
      value.erase(at);
    else
      std::swap(at.value(), other.value());
  }

  Document& document_;
  std::mt19937 random_;
  std::vector<Document*> values_;
};

}  // namespace

std::string mutated_json(std::string_view text, unsigned seed) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return {};
  Document document = Document::parse(text, nullptr, false);
  if (document.is_discarded()) return {};
  Mutation(document, seed).apply();
  return document.dump(-1, ' ', false, Document::error_handler_t::replace);
}

}  // namespace ridgeline::testing
