// Reading JSON: values with their path, and text that is truncated, malformed or hostile.
// Reading a Profile from it is tested in profile_test.cpp.
#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/text.h"
#include "tests/base/error_line.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

std::string parse_error(const std::string& text) {
  return error_line([&] { parse_json(text, "f.json"); });
}

TEST(Json, PathOfWhatIsWrong) {
  const Json json = parse_json(R"({"modes": [{}, {"memory": [{"value": -1}]}]})", "f.json");
  const auto value = [](const JsonCursor& root) {
    return root.at("modes").items()[1].at("memory").items()[0].at("value");
  };
  EXPECT_EQ(error_line([&] { value(JsonCursor(json, "")).non_negative(); }),
            "modes[1].memory[0].value: negative");
  EXPECT_EQ(error_line([&] { value(file_cursor(json, "a/f.json")).non_negative(); }),
            "a/f.json: modes[1].memory[0].value: negative");
  EXPECT_EQ(error_line([&] { file_cursor(json, "f.json").at("mode"); }), "f.json: mode: missing");
  EXPECT_EQ(error_line([&] { file_cursor(json, "f.json").items(); }),
            "f.json: needs an array, is an object");
  EXPECT_EQ(error_line([&] { JsonCursor(json, "").at("a b\n"); }), "[\"a b\\n\"]: missing");
}

TEST(Json, KindsOfValues) {
  const Json json = parse_json(
      R"({"null": null, "text": "x", "yes": true, "half": 0.5, "minus": -3, "float": 64.0,
          "large": 18446744073709551615, "larger": 18446744073709551616, "billion": 3000000000})",
      "f.json");
  const JsonCursor root(json, "");
  EXPECT_EQ(root.at("text").text(), "x");
  EXPECT_TRUE(root.at("yes").boolean());
  EXPECT_EQ(root.at("half").number(), 0.5);
  EXPECT_EQ(root.at("minus").integer(), -3);
  EXPECT_EQ(root.at("float").size(), 64u);
  EXPECT_EQ(root.at("large").size(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(root.find("null"));
  EXPECT_FALSE(root.find("absent"));
  EXPECT_EQ(root.members().front().first, "null");

  const auto fails = [&](const char* key, auto read) {
    return error_line([&] { read(root.at(key)); });
  };
  const auto number = [](const JsonCursor& c) { c.number(); };
  const auto size = [](const JsonCursor& c) { c.size(); };
  const auto count = [](const JsonCursor& c) { c.count(); };
  const auto integer = [](const JsonCursor& c) { c.integer(); };
  EXPECT_EQ(fails("null", number), "null: needs a number, is null");
  EXPECT_EQ(fails("text", number), "text: needs a number, is a string");
  EXPECT_EQ(fails("yes", size), "yes: needs a number, is a boolean");
  EXPECT_EQ(fails("half", integer), "half: needs an integer, is 0.5");
  EXPECT_EQ(fails("minus", size), "minus: negative");
  EXPECT_EQ(fails("large", integer), "large: 18446744073709551615 is too large");
  EXPECT_EQ(fails("larger", size), "larger: 1.8446744073709552e+19 is too large");
  EXPECT_EQ(fails("billion", count), "billion: 3000000000 is too large");
  EXPECT_EQ(fails("half", [](const JsonCursor& c) { c.text(); }), "half: needs a string, is 0.5");
  EXPECT_EQ(fails("half", [](const JsonCursor& c) { c.boolean(); }),
            "half: needs true or false, is 0.5");
  EXPECT_EQ(fails("half", [](const JsonCursor& c) { c.at("x"); }), "half: needs an object, is 0.5");
  EXPECT_EQ(fails("half", [](const JsonCursor& c) { c.find("x"); }),
            "half: needs an object, is 0.5");
  EXPECT_EQ(fails("half", [](const JsonCursor& c) { c.members(); }),
            "half: needs an object, is 0.5");

  const Json not_finite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_line([&] { JsonCursor(not_finite, "x").number(); }), "x: not finite");
}

TEST(Json, UnknownTokenListsTheKnownOnes) {
  const Json json = "tpu\n\x1b[31m";
  EXPECT_EQ(error_line([&] { JsonCursor(json, "processor").token<Processor>(); }),
            "processor: unknown processor \"tpu\\n\\u001b[31m\", known are cpu, gpu, dla");
}

TEST(Json, CutOffText) {
  EXPECT_EQ(parse_error(""), "f.json: empty, needs JSON");
  EXPECT_EQ(parse_error(" \n"), "f.json: empty, needs JSON");
  EXPECT_EQ(parse_error("{\n\"a\": 1"), "f.json: byte 8, line 2: the JSON text is cut off here");
  EXPECT_EQ(parse_error("[\"abc"), "f.json: byte 5, line 1: the JSON text is cut off here");
  EXPECT_EQ(parse_error("[tru"), "f.json: byte 4, line 1: the JSON text is cut off here");
}

TEST(Json, MalformedText) {
  const std::string start = "f.json: byte ";
  for (const std::string text :
       {"[1,]", "{\"a\" 1}", "[nan]", "[+1]", "{} {}", "[\"\xff\xfe\"]", "[\"\n\"]", "<xml/>",
        "[0x10]", "[1,,2]", "{1: 2}", "[\"\\q\"]", "\xff\xfe"}) {
    const std::string line = parse_error(text);
    EXPECT_EQ(line.substr(0, start.size()), start) << text;
    EXPECT_NE(line.find("malformed JSON"), std::string::npos) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

TEST(Json, NumberThatOverflows) {
  EXPECT_EQ(parse_error("{\"a\": -1e999}"),
            "f.json: byte 12, line 1: the number \"-1e999\" is too large");
  EXPECT_EQ(parse_error("[1e-999]"), "no error");
}

TEST(Json, HostileNesting) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    EXPECT_EQ(parse_error(text), "f.json: JSON nested deeper than 64 levels");
  }
  EXPECT_EQ(parse_error(std::string(64, '[') + std::string(64, ']')), "no error");
}

TEST(Json, AnObjectOfManyKeysIsReadInLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 200000; ++i) text += "\"key" + std::to_string(i) + "\":0,";
  text.back() = '}';
  EXPECT_EQ(parse_json(text, "f.json").size(), 200000u);
}

TEST(Json, OfADuplicateKeyTheFirstCounts) {
  const Json json = parse_json(R"({"a": 1, "a": 2})", "f.json");
  EXPECT_EQ(JsonCursor(json, "").at("a").integer(), 1);
}

TEST(Json, FilesThatCannotBeRead) {
  const TemporaryDirectory directory;
  const auto read_error = [](const std::string& path) {
    return error_line([&] { read_json_file(path); });
  };
  EXPECT_EQ(read_error(directory.path()),
            directory.path() + ": is a directory (name a file in it)");
  EXPECT_EQ(read_error(directory.file("none")), directory.file("none") + ": no such file");
  EXPECT_NE(read_error(std::string("a\0b", 3)), "no error");
  directory.write("cut.json", "[1,");
  EXPECT_EQ(read_error(directory.file("cut.json")),
            directory.file("cut.json") + ": byte 3, line 1: the JSON text is cut off here");
}

TEST(Json, DumpIsStableAndAlwaysUtf8) {
  Json json;
  json["z"] = 1;
  json["a"] = {0.1, 1e300, 5e-324};
  const std::string text = dump_json(json);
  EXPECT_EQ(text, "{\n  \"z\": 1,\n  \"a\": [\n    0.1,\n    1e+300,\n    5e-324\n  ]\n}\n");
  EXPECT_EQ(dump_json(parse_json(text, "f.json")), text);
  EXPECT_EQ(dump_json(Json("\xff")), "\"\xEF\xBF\xBD\"\n");
}

TEST(Json, SchemaOfADocument) {
  const Json json = {{"schema", "ridgeline.profile/2"}};
  EXPECT_EQ(error_line([&] { check_schema(file_cursor(json, "f.json"), "ridgeline.profile/1"); }),
            "f.json: schema: is \"ridgeline.profile/2\", this program reads "
            "\"ridgeline.profile/1\"");
}

TEST(Json, QuotedTextIsOneShortLine) {
  EXPECT_EQ(quote("a\"\n\x7f"), "\"a\\\"\\n?\"");
  EXPECT_LT(quote(std::string(1000, 'x')).size(), 80u);
}

}  // namespace
}  // namespace ridgeline::testing
