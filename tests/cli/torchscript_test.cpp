// TorchScript files as a user gives them: counted and run where LibTorch is part of the build,
// refused in one line where it is not or where the file is something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/libtorch.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/zip.h"

namespace ridgeline::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Words = std::vector<std::string>;

std::string sample(const std::string& name) { return source_file("tests/data/torch/" + name); }

Json analyzed(Words words) {
  words.insert(words.begin(), "analyze");
  words.emplace_back("--json");
  const ProcessResult result = run_ridgeline(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Json json = Json::parse(result.out);
  EXPECT_THAT(schema_violations(json, "analysis.schema.json"), IsEmpty());
  return json;
}

void expect_refusal(const ProcessResult& result, int code, const std::string& text) {
  EXPECT_EQ(result.exit_code, code) << result.err;
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr(text), Not(HasSubstr("INTERNAL ASSERT"))));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

// Products by layer.
std::map<std::string, double> macs(const Json& analysis) {
  std::map<std::string, double> result;
  for (const Json& layer : analysis["layers"])
    if (layer["macs"] > 0) result[layer["name"]] = layer["macs"];
  return result;
}

TEST(TorchScript, IsCountedAsTheExportOfTheSameNetwork) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  for (const auto& [name, shape] :
       std::map<std::string, std::string>{{"block", "2x8x16x16"}, {"recurrent", "2x5x16"}}) {
    const Json script = analyzed({sample(name + ".pt"), "--shape", shape});
    const Json exported = analyzed({sample(name + ".pt2"), "--shape", shape});
    EXPECT_EQ(script["source"]["format"], "torchscript");
    EXPECT_EQ(macs(script), macs(exported)) << name;
    for (const char* total : {"flops", "macs", "params", "bytes_read", "bytes_written"})
      EXPECT_EQ(script["totals"].at(total), exported["totals"].at(total)) << name << " " << total;
  }
}

// Freezing folds the normalisation into the convolution and turns parameters into constants.
TEST(TorchScript, WeightsOfAFrozenFileAreItsParameters) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const Json frozen = analyzed({sample("block_frozen.pt"), "--shape", "2x8x16x16"});
  EXPECT_EQ(frozen["totals"]["params"], 8 * 8 * 9 + 8);
  EXPECT_EQ(frozen["totals"]["macs"], 2 * 8 * 8 * 9 * 16 * 16);
}

TEST(TorchScript, IndicesMasksAndBatchesFollowTheOptions) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const Words words{sample("encoder.pt"), "--shape", "ids=2x12", "--shape", "mask=2x12"};
  const double qkv = 2 * 12 * 32 * 96, out = 2 * 12 * 32 * 32, products = 2.0 * 2 * 12 * 12 * 32;
  EXPECT_EQ(analyzed(words)["totals"]["macs"], qkv + out + products);
  Words more = words;
  more.insert(more.end(), {"--batch", "6"});
  const Json larger = analyzed(more);
  EXPECT_EQ(larger["batch"], 6);
  EXPECT_EQ(larger["totals"]["macs"], 3 * (qkv + out + products));
}

// The whole layer is one call of LibTorch: attention with its projections, and the inner products.
TEST(TorchScript, TheFastPathOfAnEncoderLayerIsCounted) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const Json json = analyzed({sample("fast_path.pt"), "--shape", "2x10x32"});
  const double projections = 4 * 20 * 32 * 32, products = 2 * 2 * 10 * 10 * 32;
  EXPECT_EQ(json["totals"]["macs"], projections + products + 2 * 20 * 32 * 64);
  EXPECT_THAT(json["unknown"], IsEmpty());
}

// What runs is counted; what the script prints does not mix with the answer.
TEST(TorchScript, LoopsAndBranchesAreFollowed) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  for (const int steps : {1, 3}) {
    const Json json = analyzed(
        {sample("steps.pt"), "--shape", "x=2x8", "--input", "steps=" + std::to_string(steps)});
    EXPECT_EQ(json["totals"]["macs"], steps * 2 * 8 * 8);
  }
}

TEST(TorchScript, IsExplainedAndPlanned) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  for (const char* command : {"explain", "plan"}) {
    const ProcessResult result = run_ridgeline({command, sample("block.pt"), "--shape", "2x8x16x16",
                                                "--on", "jetson-orin-nano-8gb", "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

TEST(TorchScript, RunsAndItsLayersHaveTimes) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const TemporaryDirectory folder;
  ProcessSettings settings;
  settings.environment["XDG_DATA_HOME"] = folder.path();
  const ProcessResult result = run_ridgeline({"run", sample("block.pt"), "--shape", "4x8x64x64",
                                              "--threads", "1", "--seconds", "0.2", "--json"},
                                             settings);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_THAT(schema_violations(json, "run.schema.json"), IsEmpty());
  EXPECT_EQ(json["batch"], 4);
  std::map<std::string, double> times;
  for (const Json& layer : json["layers"]) times[layer["name"]] = layer["measured_s"];
  for (const char* name : {"conv", "bn", "add", "act"}) EXPECT_GT(times[name], 0) << name;
  EXPECT_GT(times["conv"], times["add"]);
  bool convolves = false;
  for (const Json& row : json["operators"])
    convolves |= std::string(row["name"]).find("convolution") != std::string::npos;
  EXPECT_TRUE(convolves);
}

TEST(TorchScript, ExportedProgramsRunLikeWorkloads) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const TemporaryDirectory folder;
  ProcessSettings settings;
  settings.environment["XDG_DATA_HOME"] = folder.path();
  for (const char* name : {"block.pt2", "lenet.pt2", "decoder.pt2"}) {
    const ProcessResult result =
        run_ridgeline({"run", sample(name), "--seconds", "0.05", "--json"}, settings);
    ASSERT_EQ(result.exit_code, 0) << name << result.err;
    EXPECT_GT(Json::parse(result.out)["time_s"]["value"], 0);
  }
}

TEST(TorchScript, MissingAndWrongInputsAreNamed) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const std::string block = sample("block.pt"), encoder = sample("encoder.pt"),
                    steps = sample("steps.pt");
  const auto refused = [](Words words, int code, const std::string& text) {
    words.insert(words.begin(), "analyze");
    SCOPED_TRACE(text);
    expect_refusal(run_ridgeline(words), code, text);
  };
  refused({block}, 4, "give --shape x=1x3x224x224");
  refused({encoder, "--shape", "ids=2x12"}, 4, "missing: mask");
  refused({steps, "--shape", "x=2x8"}, 4, "give --input steps=1");
  refused({encoder, "--shape", "2x12"}, 2, "needs a name: the inputs of");
  refused({encoder, "--shape", "idz=2x12"}, 2, "it has ids, mask");
  refused({block, "--shape", "2x4x16x16"}, 1, "conv: aten::_convolution: LibTorch: Given groups=1");
  refused({block, "--shape", "2x8x16x16", "--dim", "n=2"}, 2, "have no names");
  refused({block, "--shape", "2x8x16x16", "--trips", "3"}, 2, "leave it out");
  expect_refusal(run_ridgeline({"run", block, "--shape", "2x8x16x16", "--train"}), 2, "runs as it");
  expect_refusal(run_ridgeline({"run", block}), 4, "give --shape x=1x3x224x224");
}

// Address space is limited, so that no machine has enough.
TEST(TorchScript, RunningOutOfMemoryIsOneLine) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const auto limited = [](const std::string& words) {
    return run_shell("ulimit -v 3000000; exec '" + tested_program() + "' " + words);
  };
  const std::string block = "'" + sample("block.pt") + "' --shape 512x8x256x256";
  expect_refusal(limited("analyze " + block), 1, "not enough memory");
  expect_refusal(limited("run " + block), 1, "not enough memory");
  expect_refusal(limited("run resnet18 --batch 768"), 1, "not enough memory");
}

TEST(TorchScript, AnOperatorThatLibTorchLacksIsNamed) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const TemporaryDirectory folder;
  const std::string path = folder.file("new.pt");
  std::filesystem::copy_file(sample("steps.pt"), path);
  ASSERT_TRUE(replace_in_member(path, ".py", "torch.relu(", "torch.rolu("));
  const ProcessResult result = run_ridgeline({"analyze", path, "--shape", "x=2x8"});
  expect_refusal(result, 1, "uses aten::rolu, which LibTorch");
}

// Cut or changed anywhere, LibTorch says what it makes of it and the program ends in order.
TEST(TorchScript, DamagedFilesAreRefused) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const TemporaryDirectory folder;
  int number = 0;
  for (const auto& [ending, from, to] :
       std::vector<std::array<std::string, 3>>{{".py", "def forward", "def farward"},
                                               {".py", "return", "retorn"},
                                               {".py", "Tensor", "Tansor"},
                                               {"data.pkl", "Steps", "Stops"},
                                               {"version", "3", "900"},
                                               {"constants.pkl", "\x80", "\x81"}}) {
    const std::string path = folder.file(std::to_string(++number) + ".pt");
    std::filesystem::copy_file(sample("steps.pt"), path);
    if (!replace_in_member(path, ending, from, to)) continue;
    SCOPED_TRACE(ending + ": " + to);
    expect_refusal(run_ridgeline({"analyze", path, "--shape", "x=2x8", "--input", "steps=1"}), 1,
                   path);
  }
}

// LibTorch 1.13 dereferences a null pointer where a constant of a class has no type.
TEST(TorchScript, ACrashOfLibTorchIsOneLine) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const TemporaryDirectory folder;
  const std::string path = folder.file("untyped.pt");
  std::filesystem::copy_file(sample("steps.pt"), path);
  ASSERT_TRUE(replace_in_member(path, ".py", "in_features : Final[int] = 8", "in_features = 8"));
  for (const char* command : {"analyze", "run"})
    expect_refusal(run_ridgeline({command, path, "--shape", "x=2x8", "--input", "steps=1"}), 1,
                   path + ": LibTorch crashed on it");
}

TEST(TorchScript, OtherFilesOfPyTorchAreNamed) {
  const TemporaryDirectory folder;
  const auto refused = [&](const std::string& text) {
    SCOPED_TRACE(text);
    for (const char* command : {"analyze", "run"})
      expect_refusal(run_ridgeline({command, folder.file("a.pt"), "--shape", "1x3"}), 1, text);
    std::filesystem::remove(folder.file("a.pt"));
  };
  Zip(folder.file("a.pt")).add("a/data.pkl", "x");
  refused("holds pickled weights (a state_dict or a module) and no graph");
  folder.write("a.pt", std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02M", 19));
  refused("is a pickle of torch");
  Zip(folder.file("a.pt")).add("a/data/aotinductor/model/x.so", "ELF");
  refused("compiled by AOTInductor");
  {
    Zip zip(folder.file("a.pt"));
    zip.add("a/constants.pkl", "x");
    zip.encrypt(zip.add("a/code/__torch__.py", "x"));
  }
  refused("is encrypted");
  {
    Zip zip(folder.file("a.pt"));
    zip.add("a/constants.pkl", "x");
    zip.add("a/code/__torch__.py", std::string(std::size_t{1} << 22, ' '), true);
  }
  refused("would take 4194304 bytes");
  {
    Zip zip(folder.file("a.pt"));
    zip.add("a/constants.pkl", "x");
    zip.add("a/code/../../x.py", "x");
  }
  refused("leads out of the archive");
}

// The program alone, away from the module that holds LibTorch.
TEST(TorchScript, WithoutLibTorchTheRemedyIsNamed) {
  const TemporaryDirectory folder;
  std::filesystem::copy_file(tested_program(), folder.file("ridgeline"));
  for (const char* command : {"analyze", "run"})
    expect_refusal(run_process({folder.file("ridgeline"), command, sample("block.pt"), "--shape",
                                "2x8x16x16"}),
                   1, "install libtorch-dev and build again, or save it with torch.export.save");
}

}  // namespace
}  // namespace ridgeline::testing
