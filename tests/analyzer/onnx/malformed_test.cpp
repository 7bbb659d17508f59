// Files that are not models: each gets a one-line error with the file, the place and the cause.
// Faults of well-formed graphs (cycles, missing inputs) are found where graphs are walked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>

#include "analyzer/onnx/model_file.h"
#include "base/error.h"
#include "tests/support/onnx_builder.h"

namespace ridgeline::testing {
namespace {

using onnx::ModelFile;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string error_of(const std::string& bytes) {
  try {
    const ModelFile file(bytes, "model.onnx");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::error);
    return error.what();
  }
  return "no error";
}

std::string error_of(const TensorBuilder& tensor) {
  OnnxBuilder model;
  model.node("Constant", {}, {"c"}).attribute("value", tensor);
  return error_of(model.bytes());
}

TEST(Malformed, EmptyFile) {
  EXPECT_EQ(error_of(std::string{}), "model.onnx: is empty, needs an ONNX model");
}

TEST(Malformed, TextIsNotReadAsProtobuf) {
  EXPECT_THAT(error_of("<ir_version: 8, opset_import: [\"\" : 17]>\nagraph (float[N] x) => (y) {}"),
              StartsWith("model.onnx: is text, needs the binary form of ONNX"));
}

TEST(Malformed, OtherFormatsAreNamed) {
  EXPECT_THAT(error_of("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"),
              AllOf(HasSubstr("Git LFS pointer"), HasSubstr("git lfs pull")));
  EXPECT_THAT(error_of("PK\x03\x04model.pt"), HasSubstr("zip archive"));
  EXPECT_THAT(error_of(std::string("\x20\x00\x00\x00ORTM", 8) + std::string(100, '\0')),
              HasSubstr("ORT format"));
  const std::string zip = "PK\x03\x04";
  EXPECT_THAT(error_of(zip + "net/archive_format"), HasSubstr("torch.export.load(FILE)"));
  EXPECT_THAT(error_of(zip + "net/data.pkl net/constants.pkl"), HasSubstr("TorchScript"));
  EXPECT_THAT(error_of(zip + "net/data.pkl"), HasSubstr("weights without a graph"));
  EXPECT_THAT(error_of(std::string("\x40\0\0\0\0\0\0\0{\"w\":", 14)), HasSubstr("safetensors"));
  EXPECT_THAT(error_of("GGUF\x03"), HasSubstr("optimum-cli export onnx"));
  EXPECT_THAT(error_of(std::string("\x1c\0\0\0TFL3", 8)), HasSubstr("tf2onnx"));
  EXPECT_THAT(error_of("ftrt\x01"), HasSubstr("TensorRT engine"));
  EXPECT_THAT(error_of("\x80\x02}"), HasSubstr("pickle"));
  EXPECT_THAT(error_of("<?xml version=\"1.0\"?><net>"), HasSubstr("OpenVINO"));
}

TEST(Malformed, RandomBytesNameTheByte) {
  EXPECT_THAT(error_of("\x08\x07\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
              HasSubstr("model.onnx: byte 2: a number of more than 10 bytes in ModelProto"));
  EXPECT_THAT(error_of("\x08\x07\x0B\x01"), HasSubstr("unknown wire type 3"));
  EXPECT_THAT(error_of(std::string("\x08\x07\x00\x01", 4)), HasSubstr("has no field 0"));
}

TEST(Malformed, AnotherMessageHasAFieldOfAnotherType) {
  // A TensorProto: its field 2 is a number, while a model's is text (the producer).
  EXPECT_THAT(error_of(TensorBuilder("t", ElementType::fp32, {2}).zeros().bytes()),
              HasSubstr("byte 2: field 2 of ModelProto has wire type 0, needs 2"));
}

TEST(Malformed, NoGraph) {
  EXPECT_EQ(error_of(std::string("\x08\x07", 2)),
            "model.onnx: there is no graph in it (name an ONNX model)");
}

TEST(Malformed, CutOffFileSaysWhatIsMissing) {
  OnnxBuilder model;
  model.initializer("w", ElementType::fp32, {1000}).zeros();
  const std::string bytes = model.bytes();
  EXPECT_THAT(error_of(bytes.substr(0, bytes.size() - 100)),
              AllOf(HasSubstr("field 7 of ModelProto needs"), HasSubstr("are left")));
}

TEST(Malformed, LengthsBeyondTheFileAreNotBelieved) {
  EXPECT_THAT(error_of("\x3A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"),
              HasSubstr("field 7 of ModelProto needs 9223372036854775807 bytes, 0 are left"));
}

TEST(Malformed, DimensionsOfTensors) {
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {2, -1})),
              HasSubstr("tensor \"w\": dimension -1 of shape 2x-1 is outside of 0 to 2^40"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {(std::int64_t{1} << 40) + 1})),
              HasSubstr("outside of 0 to 2^40"));
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {large, large})),
              HasSubstr("tensor \"w\": shape 1099511627776x1099511627776 has more than 2^63"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, std::vector<std::int64_t>(65, 1))),
              HasSubstr("65 dimensions, at most 64 are read"));
}

TEST(Malformed, DataThatIsNotAsLongAsTheShapeSays) {
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {2, 2}).raw_data("123456789012")),
              HasSubstr("tensor \"w\": 2x2 of fp32 needs 16 bytes, raw_data holds 12"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {2}).raw_data("123456789012")),
              HasSubstr("needs 8 bytes, raw_data holds 12"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::int4, {3}).raw_data("1")),
              HasSubstr("3 of int4 needs 2 bytes, raw_data holds 1"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {3}).float_data({1, 2})),
              HasSubstr("3 of fp32 needs 3 values, float_data holds at most 2"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::int64, {30}).int64_data({1, 2})),
              HasSubstr("30 of int64 needs 30 values, int64_data holds at most 2"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::int64, {1}).float_data({1})),
              HasSubstr("elements of int64 stand in int64_data, not in float_data"));
}

TEST(Malformed, HugeShapesWithoutDataAllocateNothing) {
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(error_of(TensorBuilder("w", ElementType::fp32, {large, 1 << 20})), "no error");
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {large}).raw_data("1234")),
              HasSubstr("needs 4398046511104 bytes, raw_data holds 4"));
}

TEST(Malformed, ExternalDataWithoutSense) {
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {1}).external("")),
              HasSubstr("tensor \"w\": its external data has no location"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {1})
                           .external("w.bin")
                           .external_entry("offset", "-4")),
              HasSubstr("offset of its external data is \"-4\", needs a number"));
  EXPECT_THAT(error_of(TensorBuilder("w", ElementType::fp32, {4}).external("w.bin", 0, 8)),
              HasSubstr("4 of fp32 needs 16 bytes, its external data holds 8"));
}

TEST(Malformed, NamesAreEscaped) {
  const std::string message =
      error_of(TensorBuilder("a\n\xFF\x1B[31m", ElementType::fp32, {1}).raw_data("1"));
  EXPECT_THAT(message, AllOf(HasSubstr("tensor \"a\\n"), Not(HasSubstr("\n")),
                             Not(HasSubstr("\x1B")), Not(HasSubstr("\xFF"))));
}

// A graph in an attribute of a node in a graph …, built backwards because each length precedes its
// content.
std::string nested_graphs(int levels) {
  std::string backwards;
  const auto wrap = [&](char tag) {
    std::string head(1, tag);
    protozero::add_varint_to_buffer(&head, backwards.size());
    backwards.append(head.rbegin(), head.rend());
  };
  for (int level = 0; level < levels; ++level) {
    wrap('\x32');              // AttributeProto.g
    backwards += "g\x01\x0A";  // AttributeProto.name
    wrap('\x2A');              // NodeProto.attribute
    wrap('\x0A');              // GraphProto.node
  }
  wrap('\x3A');  // ModelProto.graph
  return {backwards.rbegin(), backwards.rend()};
}

TEST(Malformed, SubGraphsThatNestWithoutEnd) {
  EXPECT_EQ(error_of(nested_graphs(100)), "no error");
  EXPECT_THAT(error_of(nested_graphs(101)), HasSubstr("sub-graphs nest deeper than 100 levels"));
  EXPECT_THAT(error_of(nested_graphs(10000)), HasSubstr("sub-graphs nest deeper than 100 levels"));
}

TEST(Malformed, TypesThatNestWithoutEnd) {
  ValueType type = ValueType::tensor(ElementType::fp32, {1});
  for (int level = 0; level < 2000; ++level) type = ValueType::sequence(type);
  OnnxBuilder model;
  model.input("x", type);
  const ModelFile file(model.bytes(), "model.onnx");
  EXPECT_EQ(file.model().graph.inputs[0].type.element, ElementType::fp32);
}

TEST(Malformed, AttributesNeedANameAndShapesAnEnd) {
  OnnxBuilder nameless, many;
  nameless.node("Relu", {"x"}, {"y"}).attribute("", 1);
  EXPECT_THAT(error_of(nameless.bytes()), HasSubstr("an attribute without a name"));
  many.input("x", ElementType::fp32, std::vector<Dim>(1000, Dim{1}));
  EXPECT_THAT(error_of(many.bytes()), HasSubstr("a shape of more than 64 axes"));
}

}  // namespace
}  // namespace ridgeline::testing
