// Engine files: how they are recognised, what trtexec is asked for and what its failures mean, and
// the same by a stand-in for libnvinfer if TensorRT's headers are installed.
#include "analyzer/tensorrt/engine_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analyzer/tensorrt/inspector.h"
#include "analyzer/tensorrt/trtexec.h"
#include "base/error.h"
#include "tests/analyzer/tensorrt/toy.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::tensorrt {
namespace {

using ridgeline::testing::engine_bytes;
using ridgeline::testing::TemporaryDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string with_description(const std::string& description, const std::string& engine) {
  std::string length;
  for (unsigned shift = 0; shift < 32; shift += 8)
    length += static_cast<char>(description.size() >> shift & 0xff);
  return length + description + engine;
}

TEST(EngineFile, IsRecognisedByItsTag) {
  EXPECT_TRUE(is_engine_file(engine_bytes("secret")));
  EXPECT_TRUE(is_engine_file(with_description(R"({"task": "detect"})", engine_bytes("secret"))));
  EXPECT_FALSE(is_engine_file(with_description(R"({"task": "detect"})", "other bytes")));
  for (const char* const other :
       {"", "ftr", "{\"Layers\": []}", "\x08\x07\x12\x07pytorch", "[1]{\""})
    EXPECT_FALSE(is_engine_file(other)) << other;
}

TEST(EngineFile, ALongDescriptionMayHideTheTag) {
  const std::string bytes =
      with_description("{\"names\": \"" + std::string(8000, 'x') + "\"}", engine_bytes("secret"));
  EXPECT_TRUE(is_engine_file(std::string_view(bytes).substr(0, 4096)));
  EXPECT_TRUE(is_engine_file(bytes));
  EXPECT_FALSE(is_engine_file("\xff\xff\xff\xff{\"a\""));
}

TEST(EngineFile, NamesTheVersionThatBuiltIt) {
  EXPECT_EQ(engine_version(engine_bytes("secret")), "10.3.0.26");
  EXPECT_EQ(engine_version(with_description("{\"a\": 1}", engine_bytes("secret"))), "10.3.0.26");
  std::string old = engine_bytes("secret");
  old[4] = 0x2b;  // its version is elsewhere
  EXPECT_EQ(engine_version(old), std::nullopt);
  EXPECT_EQ(engine_version("ftrt"), std::nullopt);
}

TEST(EngineFile, TrtexecGetsOneCommandLine) {
  EXPECT_THAT(
      trtexec_command(
          {"trtexec", "net.plan", "/tmp/x", {{"images", {1, 3, 640, 640}}, {"mask", {1}}}}),
      ElementsAre("trtexec", "--loadEngine=net.plan", "--exportLayerInfo=/tmp/x/layers.json",
                  "--exportProfile=/tmp/x/profile.json", "--profilingVerbosity=detailed",
                  "--shapes=images:1x3x640x640,mask:1"));
  EXPECT_EQ(trtexec_command({"trtexec", "net.plan", "/tmp/x", {}, 2}).back(), "--useProfile=2");
}

// A folder with an engine and a program in the place of trtexec.
class FakeTrtexec {
 public:
  explicit FakeTrtexec(const std::string& body,
                       const std::string& engine = engine_bytes("secret")) {
    folder_.write("net.plan", engine);
    folder_.write_program("trtexec", R"(for word; do case $word in
  --exportLayerInfo=*) layers=${word#*=};;
  --exportProfile=*) profile=${word#*=};;
  --loadEngine=*) engine=${word#*=};;
esac; done
)" + body);
  }

  std::string engine() const { return folder_.file("net.plan"); }
  ExportedEngine run(double limit_s = 60) const {
    return export_engine(engine(), {}, 0, {{folder_.file("trtexec")}, limit_s, {}});
  }
  // The Error of a run, as one line.
  std::string failure(double limit_s = 60) const {
    try {
      run(limit_s);
    } catch (const Error& error) {
      EXPECT_EQ(error.where(), engine());
      EXPECT_EQ(error.code(), ExitCode::error);
      EXPECT_THAT(error.fix(), Not(IsEmpty()));
      EXPECT_THAT(std::string(error.what()), Not(HasSubstr("\n")));
      return error.what();
    }
    return "no error";
  }

 private:
  TemporaryDirectory folder_;
};

TEST(EngineFile, TrtexecExportsLayersAndTimes) {
  const FakeTrtexec fake(R"(echo '{"Layers": []}' >"$layers"; echo '[{"count": 1}]' >"$profile"
echo "Selected Device: Orin"; echo "warning" >&2)");
  const ExportedEngine exported = fake.run();
  EXPECT_EQ(exported.layers, "{\"Layers\": []}\n");
  EXPECT_EQ(exported.profile, "[{\"count\": 1}]\n");
  EXPECT_EQ(exported.log, "Selected Device: Orin\nwarning\n");
  EXPECT_THAT(exported.tool, HasSubstr("trtexec ("));
}

TEST(EngineFile, TrtexecGetsTheEngineWithoutItsDescription) {
  const std::string engine = engine_bytes("the engine itself");
  const FakeTrtexec fake("cat \"$engine\" >\"$layers\"", with_description("{\"a\": 1}", engine));
  EXPECT_EQ(fake.run().layers, engine);
}

TEST(EngineFile, NothingIsLeftBehind) {
  const FakeTrtexec fake("dirname \"$layers\" | tee \"$layers\"");
  std::string folder = fake.run().layers;
  folder.pop_back();
  EXPECT_THAT(folder, HasSubstr("ridgeline-engine-"));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(EngineFile, AnEngineOfAnotherGpuIsToldBoth) {
  const FakeTrtexec fake(
      R"(echo '[11/18/2026-10:00:00] [E] Error[6]: The engine plan file is generated on an incompatible device, expecting compute 8.7 got compute 8.9, please rebuild.'
exit 1)");
  const std::string line = fake.failure();
  EXPECT_THAT(line,
              HasSubstr("was built for another GPU: compute capability 8.9, this one has 8.7"));
  EXPECT_THAT(line, HasSubstr("trtexec --loadEngine=net.plan --exportLayerInfo=net.graph.json"));
}

TEST(EngineFile, AnEngineOfAnotherVersionIsToldBoth) {
  const FakeTrtexec fake(R"(echo '&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec'
echo '[E] Error[1]: [stdArchiveReader.cpp::stdArchiveReaderInitCommon::47] Error Code 1: Serialization (Serialization assertion stdVersionRead == kSERIALIZATION_VERSION failed.Version tag does not match. Note: Current Version: 228, Serialized Engine Version: 239)'
exit 1)");
  EXPECT_THAT(fake.failure(), HasSubstr("was built by TensorRT 10.3.0.26; this one is 8.6.1"));
}

TEST(EngineFile, EveryKnownComplaintHasItsRemedy) {
  const std::pair<const char*, const char*> cases[] = {
      {"[E] The engine plan file is not compatible with this version of TensorRT, expecting "
       "library version 8.5.2.2 got 8.4.1.5, please rebuild.",
       "was built by TensorRT"},
      {"[E] Error Code 1: Serialization (Serialization assertion plan->header.magicTag == "
       "rt::kPLAN_MAGIC_TAG failed.)",
       "is not an engine"},
      {"[E] IPluginRegistry::getCreator: Error Code 4: Internal Error (Cannot find plugin: X)\n[E] "
       "Cannot deserialize plugin since corresponding IPluginCreator not found in Plugin Registry",
       "plugin"},
      {"[E] Cuda failure: no CUDA-capable device is detected", "working GPU"},
      {"[E] Error[2]: [defaultAllocator.cpp] Error Code 1: Cuda Runtime (out of memory)",
       "free memory"},
      {"[E] Unknown option: --exportLayerInfo /tmp/x", "8.2"},
      {"[E] Unknown option: --useProfile 1", "9.1"},
      {"[E] Something else went wrong", "reports \"Something else went wrong\""},
      {"", "did not open it"},
  };
  for (const auto& [log, expected] : cases) {
    const FakeTrtexec fake(std::string("echo '") + log + "'; exit 1");
    EXPECT_THAT(fake.failure(), HasSubstr(expected)) << log;
  }
}

TEST(EngineFile, ATrtexecThatHangsIsEnded) {
  const FakeTrtexec fake("exec sleep 30");
  EXPECT_THAT(fake.failure(0.05), HasSubstr("did not end within 50"));
}

TEST(EngineFile, ATrtexecThatCrashesOrWritesNothing) {
  EXPECT_THAT(FakeTrtexec("kill -SEGV $$").failure(), HasSubstr("did not open it"));
  EXPECT_THAT(FakeTrtexec("exit 0").failure(), HasSubstr("wrote no layer information"));
}

TEST(EngineFile, WithoutAnyToolTheMessageSaysHowToExport) {
  const TemporaryDirectory folder;
  folder.write("yolo.engine", engine_bytes("secret"));
  const std::string missing = folder.file("libnvinfer.so.99");
  try {
    export_engine(folder.file("yolo.engine"), {}, 0, {{}, 1, missing});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.cause(), HasSubstr("built by TensorRT 10.3.0.26"));
    EXPECT_THAT(error.cause(), HasSubstr("no trtexec"));
    EXPECT_THAT(error.fix(), HasSubstr("--exportLayerInfo=yolo.graph.json"));
  }
}

TEST(EngineFile, OtherFilesAreRefused) {
  const TemporaryDirectory folder;
  folder.write("net.plan", "no engine");
  EXPECT_THROW(export_engine(folder.file("net.plan"), {}, 0, {}), Error);
}

// --- libnvinfer
// -----------------------------------------------------------------------------------

std::string stand_in() {
  return ridgeline::testing::build_file("tests/libridgeline_test_nvinfer.so");
}

class EngineInspection : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(stand_in()))
      GTEST_SKIP() << "TensorRT's headers are not installed: libnvinfer's stand-in was not built";
  }
  void TearDown() override {
    unsetenv("RIDGELINE_TEST_NVINFER_VERSION");
    unsetenv("RIDGELINE_TEST_NVINFER_NO_GPU");
  }

  std::string failure(const std::string& content) {
    try {
      run(content);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  ExportedEngine run(const std::string& content, const InputShapes& shapes = {}, int profile = 0) {
    folder_.write("net.plan", engine_bytes(content));
    return export_engine(folder_.file("net.plan"), shapes, profile, {{}, 1, stand_in()});
  }

  TemporaryDirectory folder_;
};

TEST_F(EngineInspection, ListsLayersAtTheShapesThatTheEngineIsBestAt) {
  const ExportedEngine exported = run("{\"Layers\": [@]}");
  EXPECT_EQ(exported.layers, "{\"Layers\": [8]}");
  EXPECT_EQ(exported.profile, "");
  EXPECT_THAT(exported.tool, HasSubstr("libridgeline_test_nvinfer.so ("));
}

TEST_F(EngineInspection, ListsLayersAtGivenShapes) {
  EXPECT_EQ(run("[@]", {{"images", {2, 3, 224, 224}}}).layers, "[2]");
}

TEST_F(EngineInspection, ListsLayersAtTheShapesOfAnotherProfile) {
  EXPECT_EQ(run("[@]", {}, 1).layers, "[4]");
  EXPECT_EQ(run("[@]", {{"images", {2, 3, 224, 224}}}, 1).layers, "[2]");
}

TEST_F(EngineInspection, RefusedEnginesGetTheSameWords) {
  EXPECT_THAT(failure("other device"), HasSubstr("compute capability 8.9, this one has 8.7"));
  EXPECT_THAT(failure("other version"), HasSubstr("was built by TensorRT 10.3.0.26"));
  setenv("RIDGELINE_TEST_NVINFER_NO_GPU", "1", 1);
  EXPECT_THAT(failure("[]"), HasSubstr("working GPU"));
}

TEST_F(EngineInspection, ALibraryOfAnotherMajorVersionIsNotCalled) {
  setenv("RIDGELINE_TEST_NVINFER_VERSION", "8601", 1);
  EXPECT_THAT(failure("[]"), HasSubstr("is TensorRT 8, and this ridgeline was built with"));
  setenv("RIDGELINE_TEST_NVINFER_VERSION", "120000", 1);
  EXPECT_THAT(failure("[]"), HasSubstr("is TensorRT 12, and"));
}

}  // namespace
}  // namespace ridgeline::tensorrt
