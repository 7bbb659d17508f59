// Causes are found in the log by TensorRT's own words, collected from public reports of versions 7
// to 10; a log without any of them is quoted.
#include "analyzer/tensorrt/trtexec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analyzer/tensorrt/engine.h"
#include "base/child_process.h"
#include "base/text.h"
#include "base/text_file.h"
#include "base/units.h"

namespace ridgeline::tensorrt {
namespace {

// The line of a log that holds these words; empty if none does.
std::string_view line_with(std::string_view log, std::string_view words) {
  const auto at = log.find(words);
  if (at == std::string_view::npos) return {};
  const auto before = log.rfind('\n', at);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return log.substr(begin, log.find('\n', at) - begin);
}

// "8.6" of "expecting compute 8.6 got …"; empty if the words are not there.
std::string number_after(std::string_view text, std::string_view words) {
  const auto at = text.find(words);
  if (at == std::string_view::npos) return {};
  std::string_view rest = text.substr(at + words.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  std::string number(rest.substr(0, rest.find_first_not_of("0123456789.")));
  while (number.ends_with('.')) number.pop_back();
  return number;
}

struct Verdict {
  std::string what, fix;
};

Verdict other_gpu(const EngineFacts& facts, std::string_view log) {
  const std::string_view line = line_with(log, "expecting compute");
  const std::string here = number_after(line, "expecting compute");
  const std::string built = number_after(line, "got compute");
  std::string what = "was built for another GPU";
  if (!here.empty() && !built.empty())
    what += fmt::format(": compute capability {}, this one has {}", built, here);
  return {what, "build it again here, or " + facts.elsewhere};
}

Verdict other_version(const EngineFacts& facts, std::string_view log) {
  std::string what = "was built by another version of TensorRT";
  Engine logged;
  read_log_facts(logged, log);
  const std::string& here = logged.version;
  if (facts.version && !here.empty())
    what = fmt::format("was built by TensorRT {}; this one is {}", *facts.version, here);
  else if (facts.version)
    what = fmt::format("was built by TensorRT {}, another version than this", *facts.version);
  return {what, "build it again with this version, or " + facts.elsewhere};
}

Verdict no_engine(const EngineFacts&, std::string_view) {
  return {"is not an engine that this TensorRT recognises",
          "name the file that --saveEngine wrote"};
}

Verdict missing_plugin(const EngineFacts& facts, std::string_view) {
  return {"uses a plugin that is not loaded", "add --dynamicPlugins=LIBRARY: " + facts.elsewhere};
}

Verdict no_gpu(const EngineFacts& facts, std::string_view) {
  return {"cannot be opened without a working GPU and driver", facts.elsewhere};
}

Verdict no_memory(const EngineFacts&, std::string_view) {
  return {"does not fit into the free memory of the GPU", "end other programs that use the GPU"};
}

Verdict unknown_flag(const EngineFacts&, std::string_view) {
  return {"cannot be exported by this trtexec, which lacks --exportLayerInfo",
          "use TensorRT 8.2 or newer"};
}

Verdict no_profiles(const EngineFacts&, std::string_view) {
  return {"runs only its optimisation profile 0 with this trtexec, which lacks --useProfile",
          "use TensorRT 9.1 or newer, or leave out --opt-profile"};
}

struct Cause {
  std::string_view words;  // in the log
  Verdict (*verdict)(const EngineFacts& facts, std::string_view log);
};

constexpr auto causes = std::to_array<Cause>({
    {"incompatible device", other_gpu},
    {"Target GPU SM", other_gpu},  // since 8.6: … is not supported by this TensorRT release
    {"ersion tag does not match", other_version},
    {"not compatible with this version of TensorRT", other_version},
    {"expecting library version", other_version},
    {"agic tag does not match", no_engine},
    {"kPLAN_MAGIC_TAG", no_engine},
    {"Failed to verify a plan tag", no_engine},
    {"Cannot deserialize plugin", missing_plugin},
    {"could not find plugin", missing_plugin},
    {"Creator not found in Plugin Registry", missing_plugin},
    {"no CUDA-capable device", no_gpu},
    {"CUDA initialization failure", no_gpu},
    {"CUDA driver version is insufficient", no_gpu},
    {"libcuda.so", no_gpu},
    {"out of memory", no_memory},
    {"OutOfMemory", no_memory},
    {"Unknown option: --exportLayerInfo", unknown_flag},
    {"Unknown option: --useProfile", no_profiles},
});

// The last line that reports an error, without date and severity.
std::string last_complaint(std::string_view log) {
  std::string_view last;
  for (const std::string_view line : split(log, '\n'))
    if (line.find("[E]") != std::string_view::npos || line.find("rror") != std::string_view::npos)
      last = line;
  if (const auto at = last.find("[E] "); at != std::string_view::npos) last = last.substr(at + 4);
  return trimmed(last);
}

std::string exported_text(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? read_text_file(path) : std::string();
}

}  // namespace

std::vector<std::string> trtexec_command(const TrtexecRun& run) {
  std::vector<std::string> command = {
      run.program, "--loadEngine=" + run.engine, "--exportLayerInfo=" + run.folder + "/layers.json",
      "--exportProfile=" + run.folder + "/profile.json", "--profilingVerbosity=detailed"};
  std::string shapes;
  for (const auto& [name, shape] : run.shapes)
    shapes += fmt::format("{}{}:{}", shapes.empty() ? "" : ",", name, fmt::join(shape, "x"));
  if (!shapes.empty()) command.push_back("--shapes=" + shapes);
  if (run.profile != 0) command.push_back(fmt::format("--useProfile={}", run.profile));
  return command;
}

Error engine_error(const EngineFacts& facts, const std::string& log, const std::string& tool) {
  for (const Cause& cause : causes) {
    if (log.find(cause.words) == std::string::npos) continue;
    const Verdict verdict = cause.verdict(facts, log);
    return {facts.path, verdict.what, verdict.fix};
  }
  const std::string complaint = last_complaint(log);
  return {facts.path,
          fmt::format("{} did not open it{}", tool,
                      complaint.empty() ? "" : ", and reports " + quote(complaint)),
          facts.elsewhere};
}

ExportedEngine run_trtexec(const TrtexecRun& run, const EngineFacts& facts) {
  const ChildResult result =
      run_child({.command = trtexec_command(run), .is_captured = true, .limit_s = run.limit_s});
  const std::string tool = "trtexec (" + run.program + ")";
  if (result.timed_out)
    throw Error(facts.path,
                fmt::format("{} did not end within {}", tool, format_seconds(run.limit_s)),
                "see whether another program holds the GPU, or " + facts.elsewhere);
  if (result.exit_code != 0) throw engine_error(facts, result.output, tool);
  ExportedEngine exported{exported_text(run.folder + "/layers.json"),
                          exported_text(run.folder + "/profile.json"), result.output, tool};
  if (exported.layers.empty())
    throw Error(facts.path, tool + " wrote no layer information", "use TensorRT 8.2 or newer");
  return exported;
}

}  // namespace ridgeline::tensorrt
