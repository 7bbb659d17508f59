// Observation: one measured run of a network. A row of a measurement table, a probe and a row that
// a fitted model keeps (so that its fit can be repeated) are all this one type.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/conditions.h"
#include "base/json_fwd.h"
#include "base/tokens.h"

namespace ridgeline {

enum class Task { inference, training };

template <>
struct TokenTable<Task> {
  static constexpr std::string_view noun = "task";
  static constexpr std::array<std::pair<Task, std::string_view>, 2> rows{
      {{Task::inference, "inference"}, {Task::training, "training"}}};
};

struct Observation {
  int line = 0;         // of the table that it was read from
  std::string source;   // who measured; the table's file name if no column says so
  std::string device;   // id in the catalog
  std::string network;  // name of a workload, or path of a file as it was given
  std::string options;  // of the network, as written: "seq=128;attention=eager"; may be empty
  std::int64_t batch = 1;
  DType dtype = DType::fp32;
  Task task = Task::inference;
  Conditions conditions;  // the label of the point is the mode's name
  double time_s = 0;
  std::optional<double> power_w;
  std::string refused;  // why a fit left it out; empty if the fit used it

  friend bool operator==(const Observation&, const Observation&) = default;
};

// "resnet50 batch 8 fp16 at 30W", for messages.
std::string describe(const Observation& observation);

// As an element of MachineModel::observations: the model names the device, and where a table had
// the row is not kept.
Json to_json(const Observation& observation);
Observation observation_from_json(const JsonCursor& cursor, const std::string& device);

}  // namespace ridgeline
