// Measurement tables: how rows are read, which are skipped with a reason, and which are errors.
#include "validation/measurement_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace ridgeline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string header =
    "source,device,mode,gpu_units,gpu_mhz,memory_mhz,cpu_mhz,cpu_cores,locked,model,options,batch,"
    "dtype,runtime,task,time_ms,power_w,power_kind,note\n";
const std::string orin =
    "lab,jetson-agx-orin-64gb,30W,8,612,3199,1728,8,no,resnet50,,8,fp16,torch-eager,inference,"
    "20.5,18,module,\n";

std::string failure(const std::string& text) {
  try {
    parse_measurement_table(text, "t.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::error);
    return error.what();
  }
  return "";
}

// A valid row with one cell changed.
std::string with(const std::string& from, const std::string& to) {
  std::string row = orin;
  const auto at = row.find(from);
  EXPECT_NE(at, std::string::npos);
  return header + row.replace(at, from.size(), to);
}

std::string skipped(const std::string& text) {
  const MeasurementTable table = parse_measurement_table(text, "t.csv");
  EXPECT_THAT(table.rows, IsEmpty());
  return table.skipped.size() == 1 ? table.skipped.front().reason : "";
}

TEST(MeasurementTable, ReadsARow) {
  const MeasurementTable table = parse_measurement_table(header + orin, "t.csv");
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_THAT(table.skipped, IsEmpty());
  const Observation& row = table.rows.front();
  EXPECT_EQ(row.line, 2);
  EXPECT_EQ(row.source, "lab");
  EXPECT_EQ(row.device, "jetson-agx-orin-64gb");
  EXPECT_EQ(row.network, "resnet50");
  EXPECT_EQ(row.batch, 8);
  EXPECT_EQ(row.dtype, DType::fp16);
  EXPECT_EQ(row.task, Task::inference);
  EXPECT_DOUBLE_EQ(row.time_s, 0.0205);
  EXPECT_EQ(row.power_w, 18);
  const Conditions& conditions = row.conditions;
  EXPECT_EQ(conditions.runtime, Runtime::torch_eager);
  EXPECT_FALSE(conditions.locked);
  EXPECT_EQ(conditions.power_kind, PowerKind::module);
  EXPECT_EQ(conditions.point.label, "30W");
  EXPECT_EQ(conditions.point.gpu_units, 8);
  EXPECT_EQ(conditions.point.gpu_hz, 612e6);
  EXPECT_EQ(conditions.point.memory_hz, 3199e6);
  EXPECT_THAT(conditions.point.cpu_hz, ElementsAre(1728e6));
  EXPECT_EQ(conditions.point.cpu_cores, 8);
}

TEST(MeasurementTable, FillsWhatIsNotStatedFromTheModeOfThatName) {
  const MeasurementTable table = parse_measurement_table(
      "device,mode,model,batch,dtype,runtime,time_ms\n"
      "jetson-agx-orin-64gb,15W,resnet50,1,fp16,tensorrt,9\n"
      "a100-40gb-pcie,,resnet50,1,fp16,tensorrt,1\n",
      "folder/t.csv");
  ASSERT_THAT(table.rows, SizeIs(2));
  const OperatingPoint& orin_point = table.rows[0].conditions.point;
  EXPECT_EQ(orin_point.gpu_units, 6);
  EXPECT_LT(*orin_point.gpu_hz, 430e6);
  EXPECT_EQ(orin_point.cpu_cores, 4);
  EXPECT_TRUE(table.rows[0].conditions.locked);
  EXPECT_EQ(table.rows[0].conditions.power_kind, PowerKind::module);
  EXPECT_EQ(table.rows[0].source, "t.csv");
  const OperatingPoint& card = table.rows[1].conditions.point;
  EXPECT_EQ(card.gpu_units, 108);
  EXPECT_EQ(card.gpu_hz, 1410e6);
  EXPECT_TRUE(card.memory_hz);
  EXPECT_EQ(card.cap_w, 250);
  EXPECT_THAT(card.cpu_hz, IsEmpty());
  EXPECT_EQ(table.rows[1].conditions.power_kind, PowerKind::board);
}

TEST(MeasurementTable, AClockThatWasReadBackIsNotCappedAgain) {
  const MeasurementTable table = parse_measurement_table(
      "device,mode,gpu_mhz,model,batch,dtype,runtime,time_ms\n"
      "a100-40gb-pcie,gpu=1410MHz,1192,gpt2,1,bf16,torch-eager,9\n",
      "t.csv");
  ASSERT_THAT(table.rows, SizeIs(1));
  EXPECT_EQ(table.rows[0].conditions.point.label, "gpu=1410MHz");
  EXPECT_EQ(table.rows[0].conditions.point.gpu_hz, 1192e6);
  EXPECT_EQ(table.rows[0].conditions.point.cap_w, std::nullopt);
}

TEST(MeasurementTable, ColumnsMayComeInAnyOrderAndOthersAreIgnored) {
  const MeasurementTable table = parse_measurement_table(
      "weather,time_ms,runtime,dtype,batch,model,mode\nrain,9,tensorrt,int8,1,resnet50,MAXN\n",
      "t.csv", {.device = "orin-agx"});
  ASSERT_THAT(table.rows, SizeIs(1));
}

TEST(MeasurementTable, MissingColumnsAreNamed) {
  EXPECT_EQ(failure("device,mode,batch,dtype,runtime,time_ms\n"), "t.csv: misses the column model");
  EXPECT_EQ(failure("device,mode,model,dtype,runtime\n"),
            "t.csv: misses the columns batch, time_ms");
  EXPECT_EQ(failure("mode,model,batch,dtype,runtime,time_ms\n"), "t.csv: misses the column device");
  EXPECT_EQ(failure("device,model,batch,dtype,runtime,time_ms\n"), "t.csv: misses the column mode");
  EXPECT_THAT(failure(""), HasSubstr("t.csv: is empty"));
  EXPECT_THAT(failure("a,a\n"), HasSubstr("t.csv:1: column \"a\" is there twice"));
}

TEST(MeasurementTable, CellsThatAreNoNumbersAreNamedWithTheirPlace) {
  EXPECT_EQ(failure(with("20.5", "fast")), "t.csv:2:time_ms: \"fast\" is not a number");
  EXPECT_THAT(failure(with("20.5", "-3")), HasSubstr("t.csv:2:time_ms: -3 is not above 0"));
  EXPECT_THAT(failure(with("20.5", "0")), HasSubstr("t.csv:2:time_ms"));
  EXPECT_THAT(failure(with("20.5", "nan")), HasSubstr("t.csv:2:time_ms"));
  EXPECT_THAT(failure(with("20.5", "20,5")), HasSubstr("t.csv:2: has 20 cells, the header has 19"));
  EXPECT_THAT(failure(with(",18,", ",18W,")), HasSubstr("t.csv:2:power_w"));
  EXPECT_THAT(failure(with("612", "6_12")), HasSubstr("t.csv:2:gpu_mhz"));
  EXPECT_THAT(failure(with("30W,8,", "30W,7.5,")), HasSubstr("t.csv:2:gpu_units"));
  EXPECT_THAT(failure(with(",no,", ",perhaps,")), HasSubstr("t.csv:2:locked"));
  EXPECT_THAT(failure(with(",8,fp16", ",eight,fp16")), HasSubstr("t.csv:2:batch"));
}

TEST(MeasurementTable, ClocksInAnotherUnitAreNamed) {
  EXPECT_THAT(failure(with("612", "612000")),
              AllOf(HasSubstr("t.csv:2: gpu_mhz 612000 looks like kHz"), HasSubstr("1000 times")));
  EXPECT_THAT(failure(with("612", "612000000")), HasSubstr("looks like Hz"));
  EXPECT_THAT(failure(with("1728", "1.728")), HasSubstr("cpu_mhz 1.728 looks like GHz"));
}

TEST(MeasurementTable, RowsThatCannotBeComparedAreSkippedWithTheReason) {
  EXPECT_EQ(skipped(with("resnet50", "3d_unet")), "no network \"3d_unet\"");
  EXPECT_EQ(skipped(with("resnet50", "resnet5")), "no network \"resnet5\"; did you mean resnet50?");
  EXPECT_THAT(skipped(with("jetson-agx-orin-64gb", "abacus")), HasSubstr("no device \"abacus\""));
  EXPECT_THAT(skipped(with("torch-eager", "torch-eagre")),
              AllOf(HasSubstr("no runtime"), HasSubstr("did you mean torch-eager?")));
  EXPECT_THAT(skipped(with("inference", "guessing")), HasSubstr("no task"));
  EXPECT_THAT(skipped(with("fp16", "fp17")), HasSubstr("resnet50 cannot be built so"));
  EXPECT_THAT(skipped(with("resnet50,,", "resnet50,seq=8,")), HasSubstr("cannot be built so"));
  EXPECT_EQ(skipped(with(",8,fp16", ",,fp16")), "no batch is stated");
  EXPECT_EQ(skipped(with("20.5", "")), "no time_ms is stated");
  EXPECT_THAT(skipped(with("612", "1500")), HasSubstr("gpu_mhz 1500 is above the 1300.5"));
  EXPECT_THAT(skipped(with("30W,8,", "30W,32,")), HasSubstr("gpu_units 32"));
}

TEST(MeasurementTable, ABrokenCellOfASkippedRowIsStillNamed) {
  EXPECT_THAT(failure(header + "lab,abacus,,,,,,,,,,,,,,x,,,\n"), HasSubstr("t.csv:2:time_ms"));
}

TEST(MeasurementTable, KeepsTheRowsThatAreAskedFor) {
  const std::string text = header + orin + with("fp16", "int8").substr(header.size()) +
                           with("resnet50", "3d_unet").substr(header.size());
  const MeasurementTable both =
      parse_measurement_table(text, "t.csv", {.where = {{"dtype", {"int8", "fp16"}}}});
  EXPECT_THAT(both.rows, SizeIs(2));
  EXPECT_THAT(both.skipped, SizeIs(1));
  const MeasurementTable one =
      parse_measurement_table(text, "t.csv", {.where = {{"dtype", {"int8"}}}});
  EXPECT_THAT(one.rows, SizeIs(1));
  EXPECT_THAT(one.skipped, IsEmpty());
  EXPECT_THROW(parse_measurement_table(text, "t.csv", {.where = {{"colour", {"red"}}}}), Error);
}

}  // namespace
}  // namespace ridgeline
