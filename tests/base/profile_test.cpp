// Profiles as files: they read back as written, and every fault is reported in one line. The sample
// has every section.
#include "base/profile.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/json.h"
#include "base/random.h"
#include "tests/base/error_line.h"
#include "tests/base/sample_profile.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

// The error after an edit of the sample's JSON.
std::string error_after(const std::function<void(Json&)>& edit) {
  Json json = to_json(sample_profile());
  edit(json);
  return error_line([&] { profile_from_json(file_cursor(json, "p.json")); });
}

TEST(Profile, RoundTrip) {
  const Profile profile = sample_profile();
  const TemporaryDirectory directory;
  save_profile(profile, directory.file("p.json"));
  EXPECT_EQ(load_profile(directory.file("p.json")), profile);
  const std::string text = dump_json(to_json(profile));
  const Json again = parse_json(text, "p.json");
  EXPECT_EQ(dump_json(to_json(profile_from_json(JsonCursor(again, "")))), text);
}

TEST(Profile, StartsWithItsSchemaAndHasAllSections) {
  Profile empty;
  empty.modes.emplace_back();
  const Json json = to_json(empty);
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["modes"][0]["launch"].dump(), R"({"fork_join":[]})");
  EXPECT_EQ(json["modes"][0]["energy"].dump(), "{}");
  EXPECT_TRUE(json["modes"][0]["idle_power_w"].is_null());
  for (const char* section :
       {"compute", "memory", "sweep", "latency", "transfer", "storage", "decode"})
    EXPECT_EQ(json["modes"][0][section].dump(), "[]") << section;
}

TEST(Profile, ToleratesWhatOtherVersionsAddOrLack) {
  EXPECT_EQ(error_after([](Json& json) {
              json["new"] = 1;
              json["modes"][0]["compute"][0]["new"] = {1, 2};
              json["modes"][0]["sweep"][0].erase("power_w");
              json["modes"][0]["launch"]["fork_join"][0].erase("clock_hz");
              json["modes"][0]["compute"][0].erase("sparse");
              json["modes"][0]["memory"][0].erase("allocation");
              json["modes"][0]["conditions"].erase("rows");
              json["modes"][0]["conditions"].erase("verdict");
              json["machine"].erase("gpus");
              for (const char* section :
                   {"latency", "idle_power_w", "energy", "transfer", "storage", "decode"})
                json["modes"][0].erase(section);
            }),
            "no error");
  for (const char* section : {"sweep", "launch"})
    EXPECT_EQ(error_after([&](Json& json) { json["modes"][0].erase(section); }), "no error");
}

TEST(Profile, PureLoadsOfTheSweepHaveNoFlops) {
  Profile profile = sample_profile();
  SweepRow& row = profile.modes[0].sweep[0];
  row.fma_per_element = 0;
  row.flop_per_byte = 0;
  row.flops_per_s.reset();
  const Json json = to_json(profile);
  EXPECT_EQ(profile_from_json(JsonCursor(json, "")), profile);
}

TEST(Profile, WrongSchema) {
  EXPECT_EQ(error_after([](Json& json) { json["schema"] = "ridgeline.profile/2"; }),
            "p.json: schema: is \"ridgeline.profile/2\", this program reads "
            "\"ridgeline.profile/1\"");
  EXPECT_EQ(error_after([](Json& json) { json = Json::array(); }),
            "p.json: needs an object, is an array");
  EXPECT_EQ(error_after([](Json& json) { json.erase("schema"); }), "p.json: schema: missing");
  EXPECT_EQ(error_after([](Json& json) { json["modes"] = Json::array(); }),
            "p.json: modes: empty, a profile has at least one mode");
}

TEST(Profile, EveryBadValueIsNamed) {
  struct Case {
    const char* pointer;
    Json value;
    const char* line;
  };
  const Case cases[] = {
      {"/modes/0/memory/0/bytes_per_s/value", -1,
       "p.json: modes[0].memory[0].bytes_per_s.value: negative"},
      {"/modes/0/compute/0/flops_per_s/value", nullptr,
       "p.json: modes[0].compute[0].flops_per_s.value: needs a number, is null"},
      {"/modes/0/compute/0/flops_per_s/value", "fast",
       "p.json: modes[0].compute[0].flops_per_s.value: needs a number, is a string"},
      {"/modes/0/compute/0/flops_per_s/high", 1e22,
       "p.json: modes[0].compute[0].flops_per_s.high: 1e+22 is out of range, the limit is 1e+21"},
      {"/modes/0/compute/0/clock_hz/high", 1e12,
       "p.json: modes[0].compute[0].clock_hz.high: 1e+12 is out of range, the limit is 1e+11"},
      {"/modes/0/compute/0/flops_per_s/low", 1.84e11,
       "p.json: modes[0].compute[0].flops_per_s.low: 184000000000 is above value 183000000000"},
      {"/modes/0/compute/0/flops_per_s/high", 1.82e11,
       "p.json: modes[0].compute[0].flops_per_s.high: 182000000000 is below value 183000000000"},
      {"/modes/0/compute/0/flops_per_s", nullptr,
       "p.json: modes[0].compute[0]: status is ok, but flops_per_s is missing"},
      {"/modes/0/compute/0/threads", 0, "p.json: modes[0].compute[0].threads: zero"},
      {"/modes/0/compute/0/threads", 1000001,
       "p.json: modes[0].compute[0].threads: 1000001 is out of range, the limit is 1000000"},
      {"/modes/0/compute/0/threads", 1.5,
       "p.json: modes[0].compute[0].threads: needs an integer, is 1.5"},
      {"/modes/0/compute/0/unit", "tensor",
       "p.json: modes[0].compute[0].unit: unknown unit \"tensor\", known are scalar, vector, "
       "matrix"},
      {"/modes/0/compute/0/status", "great",
       "p.json: modes[0].compute[0].status: unknown status \"great\", known are ok, unsupported, "
       "throttled, impossible"},
      {"/modes/0/memory/0/level", "l1",
       "p.json: modes[0].memory[0].level: unknown memory level \"l1\", known are L1, shared, L2, "
       "L3, DRAM"},
      {"/modes/0/memory/0/working_set_bytes", 1152921504606846977,
       "p.json: modes[0].memory[0].working_set_bytes: 1152921504606846977 is out of range, the "
       "limit is 2^60"},
      {"/modes/0/sweep/0/flops_per_s", nullptr,
       "p.json: modes[0].sweep[0]: status is ok, but flops_per_s is missing"},
      {"/modes/0/latency/0/time_s", nullptr,
       "p.json: modes[0].latency[0]: status is ok, but time_s is missing"},
      {"/modes/0/launch/fork_join/0/time_s", nullptr,
       "p.json: modes[0].launch.fork_join[0]: status is ok, but time_s is missing"},
      {"/modes/0/launch", Json::array(), "p.json: modes[0].launch: needs an object, is an array"},
      {"/modes/0/mode/cpu_hz/1", -5, "p.json: modes[0].mode.cpu_hz[1]: negative"},
      {"/modes/0/mode/cpu_cores", 0, "p.json: modes[0].mode.cpu_cores: zero"},
      {"/modes/0/conditions/complete", 1,
       "p.json: modes[0].conditions.complete: needs true or false, is 1"},
      {"/modes/0/conditions/rounds", -1, "p.json: modes[0].conditions.rounds: negative"},
      {"/machine/caches/1/line_bytes", 1000000,
       "p.json: machine.caches[1].line_bytes: 1000000 is out of range, the limit is 65536"},
      {"/machine/name", 5, "p.json: machine.name: needs a string, is 5"},
      {"/machine/cores", -1, "p.json: machine.cores: negative"},
  };
  for (const Case& bad : cases)
    EXPECT_EQ(
        error_after([&](Json& json) { json.at(Json::json_pointer(bad.pointer)) = bad.value; }),
        bad.line)
        << bad.pointer;
  EXPECT_EQ(error_after([](Json& json) {
              json["modes"][0]["compute"][0]["flops_per_s"] = to_json(exact(0, Source::measured));
            }),
            "p.json: modes[0].compute[0]: status is ok, but flops_per_s is zero");
}

// Only keys that may be null may be missing; a row with status ok needs its rate.
TEST(Profile, EveryMissingKeyOfARowIsNamed) {
  const Json sample = to_json(sample_profile());
  for (const auto& [key, value] : sample["modes"][0]["compute"][0].items()) {
    const std::string name = key;
    const std::string line =
        error_after([&](Json& json) { json["modes"][0]["compute"][0].erase(name); });
    const bool optional = name == "theory_flops_per_s" || name == "clock_hz" || name == "sparse" ||
                          name == "roof" || name == "sustained" || name == "power_w";
    EXPECT_EQ(line == "no error", optional) << name << ": " << line;
  }
}

// Small damage to the text gives a valid profile or a one-line error.
TEST(Profile, MutatedTextNeverDoesMore) {
  const std::string text = dump_json(to_json(sample_profile()));
  Random random{20240607};
  const std::string alphabet = "{}[]\",:0123456789.-+eEnulltrfas \n\t\\\x01\x80\xff";
  for (int trial = 0; trial < 4000; ++trial) {
    std::string mutant = text;
    for (std::size_t edits = 1 + random.below(3); edits > 0; --edits) {
      const std::size_t at = random.below(mutant.size());
      const char letter = alphabet[random.below(alphabet.size())];
      switch (random.below(5)) {
        case 0:
          mutant[at] = letter;
          break;
        case 1:
          mutant.insert(at, 1, letter);
          break;
        case 2:
          mutant.erase(at, 1 + random.below(40));
          break;
        case 3:
          mutant.insert(at, mutant.substr(random.below(mutant.size()), random.below(60)));
          break;
        default:
          mutant.resize(at + 1);
      }
      if (mutant.empty()) break;
    }
    try {
      const Json json = parse_json(mutant, "p.json");
      profile_from_json(file_cursor(json, "p.json"));
    } catch (const Error& error) {
      const std::string line = error.what();
      EXPECT_EQ(line.substr(0, 8), "p.json: ") << mutant;
      EXPECT_EQ(line.find_first_of("\n\r"), std::string::npos) << line;
      EXPECT_LT(line.size(), 400u) << line;
    }
  }
}

TEST(Profile, FileErrorsNameTheFile) {
  const TemporaryDirectory directory;
  directory.write("p.json", "{\"schema\": 3}");
  EXPECT_EQ(error_line([&] { load_profile(directory.file("p.json")); }),
            directory.file("p.json") + ": schema: needs a string, is 3");
  EXPECT_EQ(error_line([&] { save_profile(sample_profile(), directory.file("no/p.json")); }),
            directory.file("no/p.json") + ": no such directory (create it first)");
}

}  // namespace
}  // namespace ridgeline::testing
