// What `ridgeline analyze` refuses: one line that names the option or file and the cause, with an
// exit code for usage, fault or missing data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analyzer/networks.h"
#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;

struct Refusal {
  const char* name;
  std::vector<std::string> arguments;
  int exit_code;
  std::string part;  // of the message
};

class AnalyzeRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(AnalyzeRefuses, InOneLine) {
  const TemporaryDirectory folder;
  folder.write("net.onnx", lstm_word_model(10, 4).bytes());
  folder.write("static.onnx", quantized_convolution().bytes());
  folder.write("empty.onnx", "");
  folder.write("noise.onnx", "\x0b\xff\xff\x01noise");
  folder.write("bad.json", R"({"schema": "ridgeline.op_weights/1", "functions": {"tahn": 1}})");
  folder.write("good.json",
               R"({"schema": "ridgeline.operators/1", "operators": [{"name": "a", "flops": 1}]})");
  folder.write("ops.json",
               R"({"schema": "ridgeline.operators/1",
                   "operators": [{"name": "my.Odd", "flops": "2 * in0.size"}]})");
  std::vector<std::string> arguments = GetParam().arguments;
  arguments.insert(arguments.begin(), "analyze");
  const ProcessResult result = run_ridgeline(arguments, {.working_directory = folder.path()});
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("ridgeline: "));
  EXPECT_THAT(result.err, HasSubstr(GetParam().part));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

const std::string shape_example = "(write for example --shape input=1x3x224x224)";

INSTANTIATE_TEST_SUITE_P(
    Cli, AnalyzeRefuses,
    ::testing::Values(
        Refusal{"NoModel", {}, 2, "'analyze' needs a model"},
        Refusal{"TwoModels", {"a.onnx", "b.onnx"}, 2, "unexpected argument 'b.onnx'"},
        Refusal{"OpsFormula",
                {"static.onnx", "--ops", "ops.json"},
                1,
                "ops.json: operators[0].flops: operator my.Odd: \"2 * in0.size\" at character 5"},
        Refusal{"OpsOfANetworkByName", {"resnet18", "--ops", "good.json"}, 2, "--ops: "},
        Refusal{"NoOpsFile", {"static.onnx", "--ops", "gone.json"}, 1, "gone.json"},
        Refusal{"NoSuchFile", {"gone.onnx"}, 1, "gone.onnx: no such file"},
        Refusal{"Mistyped", {"nte.onnx"}, 1, "did you mean \"net.onnx\"?"},
        Refusal{
            "NoSuchFolder", {"gone/net.onnx"}, 1, "MODEL is an ONNX file, a torch.export archive"},
        Refusal{"Directory", {"."}, 1, ".: "}, Refusal{"Empty", {"empty.onnx"}, 1, "empty.onnx: "},
        Refusal{"Noise", {"noise.onnx"}, 1, "noise.onnx: "},
        Refusal{"FreeDimensions", {"net.onnx"}, 4, "batch"},
        Refusal{"OneFreeDimension", {"net.onnx", "--dim", "batch=2"}, 4, "sequence"},
        Refusal{"NoSuchInput", {"net.onnx", "--shape", "image=1x2"}, 2, "image"},
        Refusal{
            "NoSuchDimension", {"net.onnx", "--assume-dim", "1", "--dim", "height=3"}, 2, "height"},
        Refusal{"BatchZero", {"net.onnx", "--batch", "0"}, 2, "must be from 1 to 1048576"},
        Refusal{"BatchWord", {"net.onnx", "--batch", "many"}, 2, "--batch many: "},
        Refusal{"BatchHuge", {"net.onnx", "--batch", "2000000"}, 2, "1048576"},
        Refusal{"BatchNegative", {"net.onnx", "--batch=-1"}, 2, "it is negative"},
        Refusal{"ShapeWithoutName", {"net.onnx", "--shape", "1x2"}, 2, shape_example},
        Refusal{"ShapeEmptyName", {"net.onnx", "--shape", "=1x2"}, 2, shape_example},
        Refusal{"ShapeNotNumbers", {"net.onnx", "--shape", "text=1xN"}, 2, "is not a shape"},
        Refusal{"ShapeTrailing", {"net.onnx", "--shape", "text=1x2x"}, 2, "is not a shape"},
        Refusal{"ShapeTooLarge",
                {"net.onnx", "--shape", "text=1000000000000x1000000000000"},
                2,
                "more elements than can be counted"},
        Refusal{"ShapeTwice",
                {"net.onnx", "--shape", "text=1x2", "--shape", "text=1x3"},
                2,
                "\"text\" is given twice"},
        Refusal{"DimWithoutValue", {"net.onnx", "--dim", "batch"}, 2, "needs a name and a value"},
        Refusal{"DimNotANumber", {"net.onnx", "--dim", "batch=x"}, 2, "\"x\" is not a number"},
        Refusal{"DimTwice",
                {"net.onnx", "--dim", "batch=1", "--dim", "batch=2"},
                2,
                "\"batch\" is given twice"},
        Refusal{"AssumeWord", {"net.onnx", "--assume-dim", "one"}, 2, "--assume-dim one: "},
        Refusal{"TripsWord", {"net.onnx", "--trips", "loop=x"}, 2, "\"x\" is not a number"},
        Refusal{"Branch", {"net.onnx", "--branch", "both"}, 2, "is not one of then, else"},
        Refusal{"Sort", {"net.onnx", "--sort", "size"}, 2, "is not one of graph, flops"},
        Refusal{
            "GroupBy", {"net.onnx", "--group-by", "name"}, 2, "is not one of op, stage, module"},
        Refusal{"DepthOfOp", {"net.onnx", "--group-by", "op:2"}, 2, "only modules have a depth"},
        Refusal{"TopOfTree", {"net.onnx", "--group-by", "module", "--top", "3"}, 2, "module:1"},
        Refusal{"NoBatchAxis", {"net.onnx", "--batch-axis", "y=1"}, 2, "--batch-axis y"},
        Refusal{"NoInput", {"net.onnx", "--input", "y=1"}, 2, "--input y"},
        Refusal{"InputWord", {"net.onnx", "--input", "x=one"}, 2, "is not a number"},
        Refusal{"TopZero", {"net.onnx", "--top", "0"}, 2, "--top 0: "},
        Refusal{"Rules", {"net.onnx", "--rules", "thop"}, 2, "is not one of ridgeline, pagoda"},
        Refusal{
            "RulesOption", {"net.onnx", "--rules", "pagoda,x"}, 2, "is not an option of the rules"},
        Refusal{"OwnRulesOption", {"net.onnx", "--rules", "ridgeline,x"}, 2, "take no options"},
        Refusal{"PagodaWeights",
                {"net.onnx", "--rules", "pagoda", "--weights", "bad.json"},
                2,
                "have costs of their own"},
        Refusal{"WeightsGone", {"static.onnx", "--weights", "gone.json"}, 1, "gone.json: "},
        Refusal{"WeightsMistyped",
                {"static.onnx", "--weights", "bad.json"},
                1,
                "bad.json: functions.tahn: no function has this name, did you mean 'tanh'?"},
        Refusal{"MarkdownAndJson", {"net.onnx", "--md", "--json"}, 2, "--md: cannot be combined"},
        Refusal{"MarkdownAndCsv", {"net.onnx", "--md", "--csv"}, 2, "--md: cannot be combined"},
        Refusal{"TopOfJson",
                {"net.onnx", "--json", "--top", "3"},
                2,
                "--top: JSON always holds every layer"},
        Refusal{"SortedDiff",
                {"net.onnx", "--diff", "net.onnx", "--sort", "flops"},
                2,
                "--sort: has no meaning with --diff"},
        Refusal{"DiffGone", {"static.onnx", "--diff", "gone.onnx"}, 1, "gone.onnx: no such file"}),
    [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace ridgeline::testing
