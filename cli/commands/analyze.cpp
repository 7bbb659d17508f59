// `ridgeline analyze MODEL`: layers, MACs, FLOP, bytes and intensity of a network.
// Parses, counts, writes; reading and counting are in analyzer/.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <system_error>

#include "analyzer/analysis/analysis.h"
#include "analyzer/analysis/diff.h"
#include "analyzer/analysis/groups.h"
#include "analyzer/count/pagoda.h"
#include "analyzer/tensorrt/engine_diff.h"
#include "analyzer/tensorrt/import.h"
#include "analyzer/training/training.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/requests/network.h"
#include "cli/requests/values.h"
#include "report/analysis.h"
#include "report/analysis_diff.h"
#include "report/engine_diff.h"
#include "report/network_graph.h"
#include "workloads/network_variants.h"
#include "workloads/registry.h"

namespace ridgeline::cli {
namespace {

void declare_analyze(OptionsDescription& options) {
  add_network_options(options);
  add_times_option(options);
  add_training_options(options);
  options.add_text(
      "runtime", "NAME",
      "count the kernels that this runtime launches instead of layers: ideal, tensorrt, "
      "torch-eager, torch-eager-hooks, torch-compiled, cuda-graph or onnxruntime");
  options.add_text("sort", "graph|flops|bytes|macs|intensity|name|time",
                   "order of the rows, largest first; default: as in the graph");
  options.add_text("top", "N", "show the first N rows and one row for the rest");
  options.add_text("group-by", "op|stage|module[:DEPTH]",
                   "sum rows by operator, by stage, or by module as a tree (default depth: 2)");
  options.add_flag("all", "also show rows without work: views, constants, folded layers");
  options.add_text(
      "rules", "ridgeline|pagoda",
      "rule set; pagoda takes options: pagoda,matmul_seq=8,lstm,training (default: ridgeline)");
  options.add_text("weights", "FILE",
                   "JSON file with costs per element, instead of the built-in ones");
  options.add_flag("allow-unknown",
                   "accept unknown operators: count their tensors as moved, no FLOP");
  options.add_flag("md", "print Markdown on standard output");
  options.add_text("diff", "FILE", "compare with another model: layers added, removed, changed");
  options.add_list("diff-times", "FILE", "measured times of the other engine; may be repeated");
  options.add_text("dot", "FILE",
                   "write who reads what as a graph for Graphviz; - is standard output");
}

// How to count, apart from how to read.
struct CountingOptions {
  Rules rules = Rules::ridgeline;
  PagodaOptions pagoda;
  std::string weights_file;
  OpWeights weights = default_weights();
};

struct AnalyzeRequest {
  NetworkRequest network;
  std::optional<NetworkRequest> compared_with;  // of --diff
  bool compares_engines = false;
  CountingOptions counting;
  // What becomes of the layers before they are counted.
  std::optional<Runtime> runtime;
  std::optional<TrainingOptions> training;
  // JSON lists the layers with the kernels beside them; all else shows the kernels alone.
  bool keeps_layers = false;
  TableOptions table;
};

CountingOptions counting_options(const Options& options, std::optional<std::int64_t> batch) {
  CountingOptions counting;
  const std::string text = options.word("rules").value_or("ridgeline");
  const std::string where = as_typed("rules", text);
  const std::string word = text.substr(0, text.find(','));
  const auto rules = parse_token<Rules>(word);
  if (!rules) throw usage_error(where, quote(word) + " is not one of ridgeline, pagoda");
  counting.rules = *rules;
  const std::string rest = word.size() == text.size() ? "" : text.substr(word.size() + 1);
  if (counting.rules == Rules::pagoda)
    counting.pagoda = parse_pagoda_options(rest, where);
  else if (!rest.empty())
    throw usage_error(where, "the rules ridgeline take no options");
  counting.pagoda.batch = batch.value_or(1);
  if (options.has("weights")) {
    if (counting.rules == Rules::pagoda)
      throw usage_error("--weights", "the rules pagoda have costs of their own",
                        "leave out one of the two");
    counting.weights_file = options.text("weights");
    counting.weights = weights_from_file(counting.weights_file);
  }
  return counting;
}

TableOptions table_options(const Options& options) {
  TableOptions table;
  table.order = token_option(options, "sort", RowOrder::graph);
  if (const auto text = options.word("group-by")) {
    const std::string where = as_typed("group-by", *text);
    const std::string word = text->substr(0, text->find(':'));
    table.group_by = parse_token<Grouping>(word);
    if (!table.group_by) throw usage_error(where, quote(word) + " is not one of op, stage, module");
    if (word.size() != text->size()) {
      if (table.group_by != Grouping::module)
        throw usage_error(where, "only modules have a depth", "leave out the number");
      table.module_depth =
          static_cast<std::size_t>(dimension(text->substr(word.size() + 1), where, 1));
    }
  }
  if (options.has("top")) table.top = static_cast<std::size_t>(count_option(options, "top", 1, 1));
  table.all = flag(options, "all");
  return table;
}

void check_combinations(const Options& options) {
  if (flag(options, "md"))
    for (const char* other : {"json", "csv"})
      if (flag(options, other))
        throw usage_error("--md", fmt::format("cannot be combined with --{}", other), "choose one");
  if (flag(options, "json") && options.has("top"))
    throw usage_error("--top", "JSON always holds every layer", "leave out one of the two");
  if (options.has("top") && options.text_or_empty("group-by").starts_with("module"))
    throw usage_error("--top", "has no meaning for a tree of modules",
                      "--group-by module:1 shows the outermost");
  if (options.has("diff"))
    for (const char* other : {"sort", "group-by", "dot"})
      refuse(options, other, "has no meaning with --diff");
}

void check_passes(const AnalyzeRequest& request) {
  if (request.training && request.runtime == Runtime::tensorrt)
    throw usage_error("--runtime tensorrt", "runs no training step", "leave out --train");
  if (request.counting.rules != Rules::pagoda) return;
  if (request.network.dtype)
    throw usage_error("--dtype",
                      "has no meaning for the rules pagoda, which count 4 bytes an element");
  if (request.runtime || request.training)
    throw usage_error("--rules pagoda", "has neither runtimes nor training steps of this kind",
                      "its own training is --rules pagoda,training");
}

// Two engines are compared by their layers; an engine and a network have none in common.
void compare_engines(AnalyzeRequest& request, const Options& options) {
  const auto one = listed_runtime(request.network.word),
             other = listed_runtime(request.compared_with->word);
  if (one.has_value() != other.has_value() && std::filesystem::exists(request.network.word) &&
      std::filesystem::exists(request.compared_with->word))
    throw usage_error("--diff", "compares an engine with an engine, or a model with a model",
                      "--onnx names the nodes of an engine's kernels");
  request.compares_engines = one && other;
  if (!request.compares_engines) {
    const auto is_there = [](const std::string& word) {
      return find_workload(word) || std::filesystem::exists(word);
    };
    // Reading reports what is missing.
    if (is_there(request.network.word) && is_there(request.compared_with->word))
      refuse(options, "diff-times", "needs two engines");
    return;
  }
  request.compared_with->reading.times =
      options.has("diff-times") ? options.list("diff-times") : std::vector<std::string>();
}

AnalyzeRequest analyze_request(const Options& options) {
  AnalyzeRequest request;
  const std::string word = required_word(options, "'analyze' needs a model", "analyze net.onnx");
  check_combinations(options);
  request.table = table_options(options);
  request.network = network_request(options, word);
  request.counting = counting_options(options, request.network.batch);
  if (options.has("runtime")) request.runtime = token_option(options, "runtime", Runtime::ideal);
  request.training = training_options(options);
  check_passes(request);
  // These rules take shapes as exported and the batch as a factor.
  if (request.counting.rules == Rules::pagoda) request.network.form = NetworkForm::as_exported;
  request.keeps_layers = flag(options, "json") && !options.has("diff");
  if (const auto other = options.word("diff")) {
    request.compared_with = request.network;
    request.compared_with->word = *other;
    const bool differ = is_file(request.network) != is_file(*request.compared_with);
    request.network.shares_options = request.compared_with->shares_options = differ;
    compare_engines(request, options);
  } else {
    refuse(options, "diff-times", "needs --diff");
  }
  return request;
}

Analysis analyze_layers(Network& network, const AnalyzeRequest& request) {
  const OpWeights& weights = request.counting.weights;
  Graph& graph = network.graph();
  std::optional<TrainingSummary> summary;
  if (request.training) {
    Training training = train(graph, *request.training);
    summary = summarize(training, *request.training, weights);
    for (std::string& warning : training_warnings(training))
      network.warnings.push_back(std::move(warning));
    graph = std::move(training.graph);
  }
  Analysis analysis =
      request.runtime
          ? analyze(std::move(graph), *request.runtime,
                    request.keeps_layers ? AnalyzedRows::layers : AnalyzedRows::kernels, weights)
          : analyze(std::move(graph), weights);
  analysis.training = std::move(summary);
  return analysis;
}

// Options that change layers or how they are counted come too late for kernels.
void check_chosen(const AnalyzeRequest& request, const ChosenKernels& kernels) {
  const std::string why = fmt::format("does not apply to the kernels of {}, which are chosen",
                                      to_string(kernels.runtime));
  if (request.training) throw usage_error("--train", why);
  if (request.counting.rules == Rules::pagoda) throw usage_error("--rules pagoda", why);
  if (!request.counting.weights_file.empty()) throw usage_error("--weights", why);
  if (request.runtime && *request.runtime != kernels.runtime) throw usage_error("--runtime", why);
}

Analysis analyze_network(const NetworkRequest& wanted, const AnalyzeRequest& request) {
  Network network = load_network(wanted);
  Analysis analysis;
  if (auto* kernels = std::get_if<ChosenKernels>(&network.content)) {
    check_chosen(request, *kernels);
    analysis = analyze(std::move(*kernels));
    analysis.batch = network.batch;
  } else if (request.counting.rules == Rules::pagoda) {
    PagodaOptions pagoda = request.counting.pagoda;
    // The published numbers of this network were made so.
    if (wanted.word == "lstm" && !pagoda.matmul_seq) pagoda.matmul_seq = 8;
    analysis = analyze_by_pagoda(network.graph(), pagoda);
    analysis.rule_options = to_text(pagoda);
  } else {
    analysis = analyze_layers(network, request);
    analysis.batch = network.batch;
  }
  analysis.weights_file = request.counting.weights_file;
  analysis.model = network.source;
  analysis.warnings.insert(analysis.warnings.begin(), network.warnings.begin(),
                           network.warnings.end());
  return analysis;
}

// Asks the system at once for as much memory as a model of this size will take: one page at a time
// costs twice as much, a tenth of the time for a model without its weights. And memory that one
// list gives back is for the next, not for the system.
void prepare_memory(const std::string& path) {
  constexpr std::uintmax_t least = 128 << 10, most = 2 << 20;
  constexpr int never = 64 << 20;
  std::error_code fault;
  const std::uintmax_t file_bytes = std::filesystem::file_size(path, fault);
  if (fault) return;  // a network by name, or an error that reading reports
  mallopt(M_MMAP_THRESHOLD, never);
  mallopt(M_TRIM_THRESHOLD, never);
#ifdef MADV_POPULATE_WRITE  // systems before Linux 5.14 go on page by page
  constexpr std::size_t page = 4096;
  const auto pages = static_cast<std::size_t>(std::min(least + 10 * file_bytes, most)) / page + 1;
  void* block = std::aligned_alloc(page, pages * page);
  if (block != nullptr) ::madvise(block, pages * page, MADV_POPULATE_WRITE);
  std::free(block);
#endif
}

// Printed first, refused then: the table shows what is missing in it.
void refuse_unknown(const Analysis& analysis, const NetworkRequest& request) {
  if (analysis.unknown.empty() || request.allow_unknown) return;
  throw Error(analysis.model.path, unknown_text(analysis.unknown),
              remedy_for_unknown(analysis.unknown, analysis.model.format), ExitCode::incomplete);
}

Answer diff_answer(const AnalysisDiff& difference, const AnalyzeRequest& request, int width) {
  const auto top = request.table.top;
  Answer answer;
  answer.text = [&, top, width](std::ostream& out) { out << diff_text(difference, top, width); };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(difference)); };
  answer.csv = [&](std::ostream& out) { out << diff_csv(difference); };
  answer.markdown = [&, top](std::ostream& out) { out << diff_markdown(difference, top); };
  return answer;
}

Answer analysis_answer(Analysis& analysis, const AnalyzeRequest& request, int width) {
  const TableOptions& table = request.table;
  Answer answer;
  answer.text = [&, width](std::ostream& out) { out << analysis_text(analysis, table, width); };
  answer.json = [&](std::ostream& out) {
    sort_rows(analysis.rows, table.order);
    std::optional<std::vector<RowGroup>> groups;
    if (table.group_by)
      groups = group_rows(analysis.rows, *table.group_by, table.module_depth, table.order);
    write_json(out, analysis, groups ? &*groups : nullptr);
  };
  answer.csv = [&](std::ostream& out) { out << analysis_csv(analysis, table); };
  answer.markdown = [&](std::ostream& out) { out << analysis_markdown(analysis, table); };
  answer.files = {{"dot", [&](std::ostream& out) { out << network_dot(analysis, table.all); }}};
  for (const std::string& warning : analysis.warnings)
    answer.beside_csv.push_back("warning: " + warning);
  return answer;
}

tensorrt::ComparedEngine compared_engine(const NetworkRequest& request) {
  ReadOptions reading = request.reading;
  reading.batch = request.batch;
  tensorrt::LoadedEngine loaded = tensorrt::load_engine(request.word, reading);
  tensorrt::ComparedEngine compared;
  compared.costs = tensorrt::layer_costs(loaded.import.kernels);
  if (const auto& times = loaded.import.kernels.times) {
    compared.time_s = times->total_s;
    if (loaded.engine.device.empty()) loaded.engine.device = times->device;
  }
  compared.engine = std::move(loaded.engine);
  return compared;
}

void write_engine_diff(const AnalyzeRequest& request, const Options& options, Console& console) {
  const tensorrt::EngineDiff difference =
      tensorrt::diff(compared_engine(request.network), compared_engine(*request.compared_with));
  Answer answer;
  answer.text = [&](std::ostream& out) {
    out << engine_diff_text(difference, request.table.top, console.width);
  };
  answer.json = [&](std::ostream& out) { out << dump_json(to_json(difference)); };
  answer.csv = [&](std::ostream& out) { out << engine_diff_csv(difference); };
  answer.markdown = [&](std::ostream& out) {
    out << engine_diff_markdown(difference, request.table.top);
  };
  write_answer(answer, options, console);
}

ExitCode run_analyze(const Options& options, Console& console) {
  check_answer_files(options, {"dot"});
  const AnalyzeRequest request = analyze_request(options);
  if (request.compares_engines) {
    write_engine_diff(request, options, console);
    return ExitCode::ok;
  }
  prepare_memory(request.network.word);
  // Kept until the program ends, which gives all memory back at once: taking it apart piece by
  // piece right before that would cost time for nothing.
  static Analysis& analysis = *new Analysis;
  analysis = analyze_network(request.network, request);
  if (!request.compared_with) {
    write_answer(analysis_answer(analysis, request, console.width), options, console);
    refuse_unknown(analysis, request.network);
    return ExitCode::ok;
  }
  const AnalysisDiff difference =
      diff(std::move(analysis), analyze_network(*request.compared_with, request));
  write_answer(diff_answer(difference, request, console.width), options, console);
  refuse_unknown(difference.before, request.network);
  refuse_unknown(difference.after, request.network);
  return ExitCode::ok;
}

}  // namespace

Command analyze_command() {
  return {
      .name = "analyze",
      .summary = "count layers, FLOP, bytes and intensity of a network",
      .positional = "MODEL",
      .max_positional = 1,
      .description =
          "Takes an ONNX file, a torch.export archive or TorchScript file of PyTorch, the layers "
          "of a TensorRT engine (trtexec --exportLayerInfo) or a network by name ('ridgeline "
          "workloads' lists them) and "
          "counts what each layer computes and moves: MACs (one MAC is two FLOP), FLOP, "
          "integer operations, bytes of weights and activations, FLOP per byte, and which "
          "units can run it. Weights are never read. If the file leaves sizes free, an error "
          "names them. Every node has a row; totals are the sums of the rows.",
      .examples = {{"analyze resnet50.onnx --batch 8", "layers and totals at batch 8"},
                   {"analyze resnet50 --runtime tensorrt",
                    "a network by name: kernels after fusion instead of layers"},
                   {"analyze vit_b_16 --train --optimizer adam --mixed-precision",
                    "one step of training"},
                   {"analyze llama-3.2-1b --phase decode --context 2048", "one more token"},
                   {"analyze model.onnx --shape input=1x3x640x640 --dim seq=128 --json",
                    "sizes given, every number as JSON"},
                   {"analyze model.onnx --sort flops --top 10", "where the FLOP are"},
                   {"analyze model.onnx --group-by op", "totals per kind of operator"},
                   {"analyze model.onnx --group-by module:3", "totals per module, as a tree"},
                   {"analyze engine.graph.json --times engine.profile.json --onnx net.onnx",
                    "a TensorRT engine: its kernels, their measured times and ONNX nodes"},
                   {"analyze a.onnx --diff b.onnx", "what differs between two models"},
                   {"analyze fp16.graph.json --times fp16.profile.json --diff int8.graph.json "
                    "--diff-times int8.profile.json",
                    "what another precision changed in a TensorRT engine"}},
      .add_options = declare_analyze,
      .run = run_analyze};
}

}  // namespace ridgeline::cli
