// Puts the pieces of this folder together.
#include "analyzer/tensorrt/import.h"

#include <fmt/format.h>

#include "analyzer/onnx/import.h"
#include "analyzer/tensorrt/engine_file.h"
#include "analyzer/tensorrt/kernels.h"
#include "analyzer/tensorrt/mapping.h"
#include "analyzer/tensorrt/tactic.h"
#include "analyzer/tensorrt/times.h"
#include "base/error.h"

namespace ridgeline::tensorrt {
namespace {

void refuse_options(const ReadOptions& options, const std::string& path) {
  const auto refuse = [&](bool given, const char* option) {
    if (given)
      throw Error(option, fmt::format("does not apply to {}: an engine has its sizes", path),
                  "leave it out", ExitCode::usage);
  };
  // An engine file is run with given shapes; a file that lists layers has them.
  refuse(!options.shapes.empty() && !holds_engine(path), "--shape");
  refuse(!options.dims.empty(), "--dim");
  refuse(!options.trips.empty(), "--trips");
  refuse(options.branch != Branch::larger, "--branch");
}

// The ONNX file with the inputs that the engine runs with.
Graph read_onnx_of(const Engine& engine, const std::string& path) {
  const onnx::ModelFile file(path);
  ReadOptions reading;
  for (const IoTensor& io : engine.io)
    if (io.is_input.value_or(false))
      reading.shapes[without_profile(io.tensor.name)] = io.tensor.shape;
  try {
    return onnx::import_graph(file, reading).graph;
  } catch (const Error& error) {
    throw Error(path,
                fmt::format("cannot be read with the inputs of {}: {}", engine.path, error.cause()),
                "give the ONNX file that the engine was built from", error.code());
  }
}

void add_times(LoadedEngine& loaded, const std::vector<EngineTimes>& times) {
  Import& import = loaded.import;
  import.kernels.times = join_times(loaded.engine, times);
  for (const std::string& note : import.kernels.times->notes) import.warnings.push_back(note);
}

LoadedEngine run_engine(const std::string& path, const ReadOptions& options) {
  EngineTools tools = engine_tools_here();
  if (!options.runs_engines) tools.trtexec.clear();
  const ExportedEngine exported =
      export_engine(path, options.shapes, options.opt_profile.value_or(0), tools);
  Engine engine = read_engine(exported.layers, path);
  read_log_facts(engine, exported.log);
  LoadedEngine loaded = load_engine(std::move(engine), options);
  const bool was_timed = !exported.profile.empty() && options.times.empty();
  if (was_timed) {
    EngineTimes times = read_times(exported.profile, path);
    times.device = loaded.engine.device;
    add_times(loaded, {std::move(times)});
  }
  loaded.import.warnings.push_back(fmt::format("layers{} are those that {} reports on this machine",
                                               was_timed ? " and times" : "", exported.tool));
  return loaded;
}

}  // namespace

Import import_engine(const std::string& path, const ReadOptions& options) {
  return load_engine(path, options).import;
}

LoadedEngine load_engine(const std::string& path, const ReadOptions& options) {
  refuse_options(options, path);
  if (holds_engine(path)) return run_engine(path, options);
  return load_engine(read_engine_file(path), options);
}

LoadedEngine load_engine(Engine given, const ReadOptions& options) {
  LoadedEngine loaded;
  Import& import = loaded.import;
  const int profiles = given.profiles, profile = options.opt_profile.value_or(0);
  loaded.engine = at_sizes(std::move(given), {profile, options.batch, options.assumed_dim});
  const Engine& engine = loaded.engine;
  import.producer = version_text(engine);
  import.batch = batch_of(engine);
  if (profiles > 1) {
    import.options.emplace_back("opt-profile", std::to_string(profile));
    if (!options.opt_profile)
      import.warnings.push_back(
          fmt::format("optimisation profile 0 of {}; --opt-profile chooses another", profiles));
  }
  Graph graph = kernel_graph(engine, import.warnings);
  if (!options.onnx.empty()) {
    const Graph onnx = read_onnx_of(engine, options.onnx);
    const Mapping mapping = map_nodes(engine, onnx, options.onnx);
    apply_mapping(graph, engine, onnx, mapping, options.onnx);
    import.kernels.mapping = mapping.summary;
  }
  Kernels kernels = count_kernels(std::move(graph), engine);
  import.kernels.runtime = Runtime::tensorrt;
  import.kernels.demands = std::move(kernels.demands);
  import.kernels.graph = std::move(kernels.graph);
  import.kernels.counts = std::move(kernels.counts);
  import.kernels.demand_layers = std::move(kernels.demand_layers);
  for (const EngineLayer& layer : engine.layers)
    import.kernels.fewer_products.push_back(parse_tactic(layer.tactic).winograd);
  if (options.times.empty()) return loaded;
  std::vector<EngineTimes> times;
  for (const std::string& path : options.times) times.push_back(read_times_file(path));
  add_times(loaded, times);
  return loaded;
}

}  // namespace ridgeline::tensorrt
