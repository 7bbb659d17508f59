// Every file of the corpus of public models: MACs against the golden table, and each file is
// counted or refused with a reason. The corpus is not in the repository: see
// tests/support/corpus.h.
#include "tests/support/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/analysis/analysis.h"
#include "analyzer/onnx/import.h"
#include "base/error.h"
#include "tests/analyzer/written_json.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Networks in which not every free dimension can be 1.
onnx::ImportOptions options_for(const std::string& name) {
  onnx::ImportOptions options;
  options.assumed_dim = 1;
  if (name == "ort_training/eval_model.onnx" || name == "ort_training/training_model.onnx")
    options.dims = {{"input-0_dim1", 784}};
  if (name == "polygraphy/attention_head.onnx")
    options.dims = {{"sequence_len", 100}, {"batch", 100}};
  if (name == "polygraphy/multi_attention.onnx")
    for (const char* input : {"q", "q1", "k", "k2", "v", "v2"})
      options.shapes[input] = {1, 8, 64, 64};
  return options;
}

onnx::Import import_corpus_file(const std::string& name) {
  const onnx::ImportOptions options = options_for(name);
  return onnx::import_graph(onnx::ModelFile(corpus_folder() + "/" + name), options);
}

std::vector<std::map<std::string, std::string>> golden_rows() {
  std::ifstream file(corpus_folder() + "/golden_macs_batch1.csv");
  std::vector<std::string> titles;
  std::vector<std::map<std::string, std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
    if (titles.empty()) {
      titles = cells;
      continue;
    }
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < titles.size() && i < cells.size(); ++i) row[titles[i]] = cells[i];
  }
  return rows;
}

// MACs of one operator in the main graph only: the golden table leaves out subgraphs.
double macs_of(const onnx::Import& import, const Analysis& analysis, const std::string& op) {
  double macs = 0;
  std::size_t row = 0;
  for (const Layer& layer : import.graph.layers) {
    if (layer.standing == Standing::alternative) continue;
    if (layer.origin == op && !layer.nested) macs += analysis.rows[row].work.macs;
    ++row;
  }
  return macs;
}

TEST(Corpus, MacsAreThoseOfTheGoldenTable) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  int checked = 0;
  for (const auto& golden : golden_rows()) {
    if (golden.at("ops_with_unknown_shape") != "0") continue;
    const std::string& name = golden.at("file");
    const onnx::Import import = import_corpus_file(name);
    const Analysis analysis = analyze(import.graph);
    for (const auto& [op, column] :
         std::map<std::string, std::string>{{"Conv", "conv_macs"},
                                            {"ConvTranspose", "convtranspose_macs"},
                                            {"Gemm", "gemm_macs"},
                                            {"MatMul", "matmul_macs"}})
      EXPECT_EQ(macs_of(import, analysis, op), std::stod(golden.at(column))) << name << ' ' << op;
    ++checked;
  }
  EXPECT_GE(checked, 30);
}

// Files that cannot be counted in full, with the reason given.
const std::map<std::string, std::string>& known_gaps() {
  static const std::map<std::string, std::string> gaps{
      {"malformed/bad_names.onnx", "imports no operator set"},
      {"malformed/corrupt-model.onnx", "is text"},
      {"malformed/pg_bad_graph_with_multi_level_errors.onnx", "4x5 by 4x5"},
      {"malformed/pg_bad_graph_with_no_import_domains.onnx", "imports no operator set"},
      {"malformed/pg_bad_graph_with_parallel_invalid_nodes.onnx", "1x3 by 4x4"},
      {"malformed/pg_custom_op_node.onnx", "ai.onnx.contrib.NegPos (no rule"},
      {"ort_external/model_with_external_initializer_come_from_user_MISSINGDATA.onnx",
       "is missing, and shapes depend on its values"},
      {"ort_external/test_arbitrary_external_file_PATHESCAPE.onnx", "leaves the folder"},
      {"ort_transformer/gpt2_past.onnx", "writes it too"},
      {"polygraphy/nested_local_function.onnx", "Fake_2 (no rule"},
      {"polygraphy/unbounded_dds.onnx", "Range (the values of"}};
  return gaps;
}

std::string answer(const std::string& name) {
  try {
    const onnx::Import import = import_corpus_file(name);
    Analysis analysis = analyze(import.graph);
    analysis.model.format = "onnx";
    if (analysis.rows.size() < 500) {  // checking one large file takes seconds
      EXPECT_THAT(schema_violations(written_json(analysis), "analysis.schema.json"), IsEmpty())
          << name;
    }
    std::string unknown;
    for (const UnknownOperator& row : analysis.unknown)
      unknown += (unknown.empty() ? "unknown: " : ", ") + row.op + " (" + row.reason + ")";
    return unknown;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Corpus, EveryFileIsCountedOrSaysWhyNot) {
  RIDGELINE_SKIP_WITHOUT_CORPUS();
  int counted = 0;
  for (const std::string& name : corpus_files()) {
    const std::string gap = answer(name);
    const auto known = known_gaps().find(name);
    if (known == known_gaps().end())
      EXPECT_EQ(gap, "") << name;
    else
      EXPECT_THAT(gap, HasSubstr(known->second)) << name;
    counted += gap.empty() ? 1 : 0;
  }
  EXPECT_GE(counted, 140);
}

}  // namespace
}  // namespace ridgeline::testing
