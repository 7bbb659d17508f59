// Lint on engines that real builds left behind, $RIDGELINE_DATA/trt: counts and times of the layers
// that rules find, as a script summed them from the same files. Skips if the files are missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "analyzer/tensorrt/import.h"
#include "analyzer/tensorrt/layer_cost.h"
#include "analyzer/tensorrt/lint/lint.h"

namespace ridgeline::tensorrt {
namespace {

struct RuleSum {
  std::string rule;
  std::size_t layers = 0;
  double lost_ms = -1;  // negative: not compared
};

struct LintedFile {
  std::string path, times;  // in the folder trt
  double total_ms = 0;
  std::vector<RuleSum> rules;
};

const std::string trex = "nvidia_trex_v11.0_tree/";
const std::string resnet = trex + "a100_pytorch_resnet/";
const std::string mobilenet = "mobilenet.qat.onnx.engine";

const std::vector<LintedFile>& linted_files() {
  static const std::vector<LintedFile> files = {
      {resnet + "fp32/resnet.onnx.engine.graph.json",
       resnet + "fp32/resnet.onnx.engine.profile.json",
       2.12378,
       {{"reformat", 1, 0.045056}, {"unfused-qdq", 0}, {"full-precision", 21}}},
      {resnet + "fp16/resnet.onnx.engine.graph.json",
       resnet + "fp16/resnet.onnx.engine.profile.json",
       1.01683,
       {{"reformat", 2, 0.088064}, {"unfused-qdq", 0}, {"full-precision", 0}}},
      {resnet + "qat/resnet-qat.onnx.engine.graph.json",
       resnet + "qat/resnet-qat.onnx.engine.profile.json",
       1.09568,
       {{"reformat", 2, 0.04608}, {"unfused-qdq", 10, 0.232448}, {"wide-output", 12}}},
      {resnet + "qat-residual/resnet-qat-residual.onnx.engine.graph.json",
       resnet + "qat-residual/resnet-qat-residual.onnx.engine.profile.json",
       0.73114,
       {{"reformat", 0}, {"unfused-qdq", 3, 0.115712}}},
      {trex + "titanrtx_mobilenet_qat_int8/" + mobilenet + ".graph.json",
       trex + "titanrtx_mobilenet_qat_int8/" + mobilenet + ".profile.json",
       0.47039,
       {{"reformat", 1, 0.004068}, {"unfused-qdq", 17, 0.07847}, {"wide-output", 16}}},
      {"nvidia_trex_22.04_tree/mobilenet_qat_int8/" + mobilenet + ".graph.json",
       "nvidia_trex_22.04_tree/mobilenet_qat_int8/" + mobilenet + ".profile.json",
       0.64706,
       {{"reformat", 12, 0.062343}, {"unfused-qdq", 17, 0.127745}, {"wide-output", 16}}},
      {"yuanjiechen_trt2023/b3d06c8/layerinfo.json",
       "yuanjiechen_trt2023/b3d06c8/profile.json",
       8.97295,
       {{"copies", 10, 0.04102}}},
  };
  return files;
}

TEST(LintCorpus, FindsWhatTheFilesHold) {
  const char* const data = std::getenv("RIDGELINE_DATA");
  if (data == nullptr || !std::filesystem::is_directory(std::filesystem::path(data) / "trt"))
    GTEST_SKIP() << "RIDGELINE_DATA is not set, or has no folder trt";
  const std::string folder = std::string(data) + "/trt/";
  for (const LintedFile& file : linted_files()) {
    SCOPED_TRACE(file.path);
    ReadOptions options;
    options.times = {folder + file.times};
    const LoadedEngine loaded = load_engine(folder + file.path, options);
    const LintReport report =
        lint({loaded.engine, layer_costs(loaded.import.kernels), Source::measured});
    EXPECT_NEAR(1e3 * *report.time_s, file.total_ms, 1e-4 * file.total_ms);
    for (const RuleSum& expected : file.rules) {
      std::size_t layers = 0;
      double lost_s = 0;
      for (const Finding& finding : report.findings) {
        if (finding.rule != expected.rule) continue;
        layers += finding.layers.size();
        lost_s += finding.lost_s.value_or(0);
        EXPECT_LE(finding.lost_s.value_or(0), *report.time_s);
      }
      EXPECT_EQ(layers, expected.layers) << expected.rule;
      if (expected.lost_ms < 0) continue;
      EXPECT_NEAR(1e3 * lost_s, expected.lost_ms, 2e-6) << expected.rule;
    }
  }
}

}  // namespace
}  // namespace ridgeline::tensorrt
