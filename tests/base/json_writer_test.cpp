// JsonWriter against the JSON library: everything that documents consist of, and strings and
// numbers that are hard to write.
#include "base/json_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"

namespace ridgeline::testing {
namespace {

// Writes a nested value without tree().
void write(JsonWriter& writer, const Json& value) {
  if (value.is_object()) {
    writer.open_object();
    for (const auto& member : value.items()) {
      writer.key(member.key());
      write(writer, member.value());
    }
    writer.close_object();
  } else if (value.is_array()) {
    writer.open_array();
    for (const Json& element : value) write(writer, element);
    writer.close_array();
  } else if (value.is_string()) {
    writer.text(value.get<std::string>());
  } else if (value.is_boolean()) {
    writer.boolean(value.get<bool>());
  } else if (value.is_number_integer()) {
    writer.integer(value.get<std::int64_t>());
  } else if (value.is_number_float()) {
    writer.number(value.get<double>());
  } else {
    writer.null();
  }
}

std::string written(const Json& value) {
  std::ostringstream out;
  JsonWriter writer(out);
  write(writer, value);
  writer.finish();
  return out.str();
}

TEST(JsonWriter, LaysOutAsTheLibraryDoes) {
  for (const Json& value :
       {Json(), Json(true), Json::object(), Json::array(), Json{{"a", 1}},
        Json{{"empty", Json::object()}, {"none", Json::array()}, {"last", nullptr}},
        Json{{"rows", {{{"name", "a"}, {"shape", {1, -3}}}, {{"name", ""}, {"shape", {{}}}}}}}})
    EXPECT_EQ(written(value), dump_json(value));
}

TEST(JsonWriter, SpellsTextAndNumbersAsTheLibraryDoes) {
  const double infinity = std::numeric_limits<double>::infinity();
  Json values = {"plain", "a\"b\\c/\n\t\x01\x7f", "µ…", "\xff broken", std::string("\0", 1)};
  for (const double number : {0.0, -0.0, 0.1, 1e300, 5e-324, 1.0, -2.5, 1e15, 1e16, infinity})
    values.push_back(number);
  for (const std::int64_t number : {std::int64_t{0}, std::numeric_limits<std::int64_t>::min(),
                                    std::numeric_limits<std::int64_t>::max()})
    values.push_back(number);
  EXPECT_EQ(written(values), dump_json(values));
}

RC_GTEST_PROP(JsonWriter, AnyNumberAndText, (double number, const std::string& text)) {
  const Json values = {number, text};
  RC_ASSERT(written(values) == dump_json(values));
}

TEST(JsonWriter, DocumentsMayBeLongerThanItsBuffer) {
  Json values = {std::string(100'000, 'x')};
  for (int i = 0; i < 20'000; ++i) values.push_back(i);
  EXPECT_EQ(written(values), dump_json(values));
}

TEST(JsonWriter, TreesStandWhereTheyAreWritten) {
  const Json tree = {{"a", {1, 2}}, {"b", {{"c", "line\nbreak"}}}, {"d", Json::array()}};
  std::ostringstream out;
  JsonWriter writer(out);
  writer.open_object();
  writer.key("first");
  writer.tree(tree);
  writer.key("list");
  writer.open_array();
  writer.tree(tree);
  writer.tree(7);
  writer.close_array();
  writer.close_object();
  writer.finish();
  EXPECT_EQ(out.str(), dump_json(Json{{"first", tree}, {"list", {tree, 7}}}));
}

TEST(JsonWriter, RowsTakeOneLineEach) {
  std::ostringstream out;
  JsonWriter writer(out);
  writer.open_array();
  for (const char* name : {"a\"", "b"}) {
    writer.open_row();
    writer.key("name");
    writer.text(name);
    writer.key("hz");
    writer.open_array();
    writer.written("612000000");
    writer.integer(2);
    writer.close_array();
    writer.key("none");
    writer.open_array();
    writer.close_array();
    writer.close_row();
  }
  writer.close_array();
  writer.finish();
  EXPECT_EQ(out.str(),
            "[\n  {\"name\": \"a\\\"\", \"hz\": [612000000, 2], \"none\": []},\n"
            "  {\"name\": \"b\", \"hz\": [612000000, 2], \"none\": []}\n]\n");
}

}  // namespace
}  // namespace ridgeline::testing
