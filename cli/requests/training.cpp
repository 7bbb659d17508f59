// Reads the options of a training step.
#include "cli/requests/training.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/requests/token_option.h"
#include "workloads/options.h"

namespace ridgeline::cli {

void add_training_options(OptionsDescription& options) {
  options.add_flag("train", "one step of training instead of inference");
  add_training_details(options);
}

void add_training_details(OptionsDescription& options) {
  options.add_text("optimizer", "sgd|momentum|adam|adamw", "with --train (default: sgd)");
  options.add_flag(
      "mixed-precision",
      "with --train: passes in fp16, or bf16 with --dtype bf16, and fp32 master weights");
  options.add_flag("checkpoint", "with --train: keep few activations, compute them again");
  options.add_text("freeze-until", "LAYER", "with --train: layers up to this one do not learn");
}

std::optional<TrainingOptions> training_options(const Options& options) {
  return training_details(options, flag(options, "train"));
}

std::optional<TrainingOptions> training_details(const Options& options, bool wanted) {
  if (!wanted) {
    for (const char* name : {"optimizer", "freeze-until"})
      if (options.has(name)) throw usage_error(fmt::format("--{}", name), "needs --train");
    for (const char* name : {"mixed-precision", "checkpoint"})
      if (flag(options, name)) throw usage_error(fmt::format("--{}", name), "needs --train");
    return std::nullopt;
  }
  TrainingOptions training;
  training.optimizer = token_option(options, "optimizer", Optimizer::sgd);
  training.mixed_precision = flag(options, "mixed-precision");
  training.checkpoint = flag(options, "checkpoint");
  if (options.has("freeze-until")) {
    training.freeze_until = options.text("freeze-until");
    if (training.freeze_until.empty()) throw usage_error("--freeze-until", "names no layer");
  }
  const std::string dtype = options.has("dtype") ? options.text("dtype") : "fp32";
  if (training.mixed_precision && dtype != "fp32" && dtype != "fp16" && dtype != "bf16")
    throw usage_error("--mixed-precision", "has no meaning in " + dtype, "use fp16 or bf16");
  if (options.has("phase") && options.text("phase") == to_string(Phase::decode))
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
