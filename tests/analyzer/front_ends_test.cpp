// One network in several forms: by name, as ONNX file, torch.export archive and TorchScript. They
// are counted alike, and what differs is listed by --diff. The files are graphs of torchvision and
// transformers without weights (tests/data/front_ends).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/support/libtorch.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"

namespace ridgeline::testing {
namespace {

struct Counted {
  std::vector<double> matrix_macs;  // of matrix layers, sorted
  double weight_bytes = 0;          // read by the fused network: normalisations are folded
  double bytes = 0;                 // of the fused network
};

Counted counted_form(std::vector<std::string> words) {
  words.insert(words.begin(), "analyze");
  words.insert(words.end(), {"--runtime", "tensorrt", "--json"});
  const ProcessResult result = run_ridgeline(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Counted counted;
  const Json json = Json::parse(result.out);
  for (const Json& layer : json["layers"])
    if (layer["class"] == "matrix" && layer["macs"] > 0)
      counted.matrix_macs.push_back(layer["macs"].get<double>());
  std::sort(counted.matrix_macs.begin(), counted.matrix_macs.end());
  counted.weight_bytes = json["kernels"]["weight_bytes"].get<double>();
  counted.bytes = json["kernels"]["bytes"].get<double>();
  return counted;
}

std::string form_file(const std::string& network, const char* extension) {
  return source_file("tests/data/front_ends/" + network + extension);
}

double moved_bytes(const Json& row) {
  return row["bytes_read"].get<double>() + row["bytes_written"].get<double>();
}

// What TorchScript takes; the others hold it.
std::vector<std::string> script_inputs(const std::string& network) {
  if (network == "lstm") return {"--shape", "1x128"};
  if (network == "bert_base")
    return {"--shape", "ids=1x128",       "--shape", "types=1x128",
            "--shape", "positions=1x128", "--shape", "mask=1x1x1x128"};
  return {"--shape", "1x3x224x224"};
}

// The rows of --diff account for the whole difference.
void expect_explained(const std::string& network, const std::string& file, double difference,
                      const std::vector<std::string>& inputs = {}) {
  std::vector<std::string> words{"analyze",   network,    "--diff", file,
                                 "--runtime", "tensorrt", "--json"};
  words.insert(words.end(), inputs.begin(), inputs.end());
  const ProcessResult result = run_ridgeline(words);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = Json::parse(result.out);
  double sum = 0;
  for (const Json& row : json["changed"])
    sum += moved_bytes(row["after"]) - moved_bytes(row["before"]);
  for (const Json& row : json["removed"]) sum -= moved_bytes(row);
  for (const Json& row : json["added"]) sum += moved_bytes(row);
  EXPECT_NEAR(sum, difference, 1) << network << " and " << file;
}

class FrontEnds : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Networks, FrontEnds,
                         ::testing::Values("resnet18", "resnet50", "mobilenet_v3_large", "vgg11",
                                           "vit_b_16", "bert_base", "lstm"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(FrontEnds, CountAlike) {
  const std::string network = GetParam();
  const Counted by_name = counted_form({network});
  for (const char* extension : {".onnx", ".pt2"}) {
    const std::string file = form_file(network, extension);
    const bool is_onnx = extension == std::string(".onnx");
    const Counted here = counted_form({file});
    const bool has_attention = network == "vit_b_16" || network == "bert_base";
    // ONNX has no operator for attention: there it is two products.
    const Counted& there =
        is_onnx && has_attention ? counted_form({network, "--attention", "eager"}) : by_name;
    if (network == "lstm" && !is_onnx) {
      // Both layers are one call, so two rows are one and nothing moves between them.
      EXPECT_EQ(here.matrix_macs.size() + 1, there.matrix_macs.size());
      EXPECT_NEAR(here.bytes / there.bytes, 1, 0.011);
    } else {
      EXPECT_EQ(here.matrix_macs, there.matrix_macs) << file;
      EXPECT_NEAR(here.bytes / there.bytes, 1, 0.005) << file;
    }
    // Exporters of transformers add scalars of formulas.
    EXPECT_GE(here.weight_bytes, there.weight_bytes) << file;
    EXPECT_LE(here.weight_bytes, there.weight_bytes + (has_attention ? 1024 : 0)) << file;
    expect_explained(network, file, here.bytes - by_name.bytes);
  }
}

// Frozen files: one class without modules, and weights that are constants of the code.
TEST_P(FrontEnds, TorchScriptCountsAlike) {
  if (!has_torch()) GTEST_SKIP() << "built without LibTorch";
  const std::string network = GetParam();
  std::vector<std::string> words = script_inputs(network);
  words.insert(words.begin(), form_file(network, ".pt"));
  const Counted here = counted_form(words);
  // Attention in steps, as PyTorch 1.13 traces it.
  const bool has_attention = network == "vit_b_16" || network == "bert_base";
  const Counted there =
      has_attention ? counted_form({network, "--attention", "eager"}) : counted_form({network});
  if (network == "lstm") {  // as in .pt2: both layers are one call
    EXPECT_EQ(here.matrix_macs.size() + 1, there.matrix_macs.size());
    EXPECT_NEAR(here.bytes / there.bytes, 1, 0.011);
  } else {
    EXPECT_EQ(here.matrix_macs, there.matrix_macs);
    EXPECT_NEAR(here.bytes / there.bytes, 1, 0.005);
  }
  expect_explained(network, form_file(network, ".pt"), here.bytes - counted_form({network}).bytes,
                   script_inputs(network));
  EXPECT_GE(here.weight_bytes, there.weight_bytes);
  EXPECT_LE(here.weight_bytes, there.weight_bytes + 1024) << "scalars of formulas";
}

}  // namespace
}  // namespace ridgeline::testing
