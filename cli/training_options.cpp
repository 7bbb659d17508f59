// Reads the options of a training step.
#include "cli/training_options.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/token_option.h"
#include "workloads/options.h"

namespace ridgeline::cli {

namespace po = boost::program_options;

void add_training_options(OptionsDescription& options) {
  options.add_options()("train", po::bool_switch(), "one step of training instead of inference");
  add_training_details(options);
}

void add_training_details(OptionsDescription& options) {
  auto add = options.add_options();
  add("optimizer", po::value<std::string>()->value_name("sgd|momentum|adam|adamw"),
      "with --train (default: sgd)");
  add("mixed-precision", po::bool_switch(),
      "with --train: passes in fp16, or bf16 with --dtype bf16, and fp32 master weights");
  add("checkpoint", po::bool_switch(), "with --train: keep few activations, compute them again");
  add("freeze-until", po::value<std::string>()->value_name("LAYER"),
      "with --train: layers up to this one do not learn");
}

std::optional<TrainingOptions> training_options(const Options& options) {
  return training_details(options, flag(options, "train"));
}

std::optional<TrainingOptions> training_details(const Options& options, bool wanted) {
  if (!wanted) {
    for (const char* name : {"optimizer", "freeze-until"})
      if (options.count(name)) throw usage_error(fmt::format("--{}", name), "needs --train");
    for (const char* name : {"mixed-precision", "checkpoint"})
      if (flag(options, name)) throw usage_error(fmt::format("--{}", name), "needs --train");
    return std::nullopt;
  }
  TrainingOptions training;
  training.optimizer = token_option(options, "optimizer", Optimizer::sgd);
  training.mixed_precision = flag(options, "mixed-precision");
  training.checkpoint = flag(options, "checkpoint");
  if (options.count("freeze-until")) {
    training.freeze_until = options["freeze-until"].as<std::string>();
    if (training.freeze_until.empty()) throw usage_error("--freeze-until", "names no layer");
  }
  const std::string dtype = options.count("dtype") ? options["dtype"].as<std::string>() : "fp32";
  if (training.mixed_precision && dtype != "fp32" && dtype != "fp16" && dtype != "bf16")
    throw usage_error("--mixed-precision", "has no meaning in " + dtype, "use fp16 or bf16");
  if (options.count("phase") && options["phase"].as<std::string>() == to_string(Phase::decode))
    throw usage_error("--phase decode", "is no training step", "train on whole texts: --seq N");
  return training;
}

std::vector<std::string> warnings_of(const Training& training) {
  std::vector<std::string> warnings;
  for (const std::string& layer : training.without_gradient)
    warnings.push_back("layer " + quote(layer) + " has no gradient rule");
  if (training.unreached > 0)
    warnings.push_back(fmt::format("no gradient gets to {:.0f} parameters, which do not learn",
                                   training.unreached));
  return warnings;
}

}  // namespace ridgeline::cli
