// Which rows of a table belong together: groups that differ in the mode alone, the batches of one
// net, and repeats of the same run.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "validation/measurement_table.h"

namespace ridgeline {

// What is equal within a group; a net is a group of any batch (0).
struct GroupKey {
  std::string source, device, model, options, dtype;
  Runtime runtime = Runtime::ideal;
  Task task = Task::inference;
  std::int64_t batch = 0;

  auto operator<=>(const GroupKey&) const = default;
};

GroupKey group_of(const Observation& row);
GroupKey net_of(const Observation& row);  // without the batch

// "gpt2 seq=512 batch 8 bf16 torch-eager, energaizer-dvfs"
std::string name_of(const GroupKey& key);

// The mode of each row by name: its label; and where one label stands for points of the same run
// that differ by more than a read-back does (5 %), the label with the clocks behind it.
std::vector<std::string> mode_names(std::span<const Observation> rows);

using Indices = std::vector<std::size_t>;

// Indices of the rows by key, each list in the order of the file.
std::map<GroupKey, Indices> groups_of(std::span<const Observation> rows,
                                      GroupKey (*key)(const Observation&));

// Sets of two rows or more that are equal in everything but the source. `modes` names their modes.
std::vector<Indices> replicates_of(std::span<const Observation> rows,
                                   std::span<const std::string> modes);

}  // namespace ridgeline
