// PlanRequest: what `plan` is asked, parsed: networks, machine, goal and limits, the modes to
// choose from, and for training the facts of its input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/training/training.h"
#include "cli/command.h"
#include "cli/requests/values.h"
#include "planner/candidates.h"
#include "planner/goal.h"
#include "planner/problem.h"
#include "planner/training/dataset.h"
#include "roofline/model/machine.h"
#include "workloads/network.h"

namespace ridgeline::cli {

// The input of training as far as it is given; what is absent is assumed.
struct InputRequest {
  std::optional<Given<KnownDataset>> known;  // of --dataset, by name
  std::optional<Given<double>> samples;      // of --dataset, by number
  std::optional<double> bytes_per_sample;    // likewise
  std::optional<std::string> storage;        // a medium, or the path of a profile
  std::optional<Given<double>> decode_clocks;
  std::optional<Given<double>> free_memory_bytes;
  std::optional<int> workers;
  bool strict = false;  // nothing may be assumed
};

// A network in several batches and types; empty: as the network has them.
struct PlannedNetwork {
  NetworkRequest network;
  std::optional<TrainingOptions> training;  // one step of it
  std::vector<std::int64_t> batches;
  std::vector<DType> dtypes;
};

// A request to a language model: tokens that it reads and writes.
struct GenerationRequest {
  std::int64_t prompt = 0, tokens = 0;
};

struct PlanRequest {
  Scenario scenario = Scenario::inference;
  PlannedNetwork run;                     // serves, or is trained alone
  std::optional<PlannedNetwork> trained;  // between requests
  MachineRequest machine;
  std::optional<Runtime> runtime;  // absent: what such a network is usually run with
  Objective objective;
  CandidateOptions modes;
  std::optional<GenerationRequest> generation;
  HostWork host;            // of the application around each sample
  std::string needs_modes;  // an option that a machine with one mode does not have; empty: none
  std::string why;          // a mode; empty: none
  InputRequest input;
  std::optional<double> epochs;
  InferenceStream stream;  // beside training
};

void add_plan_options(OptionsDescription& options);
PlanRequest plan_request(const Options& options);

}  // namespace ridgeline::cli
