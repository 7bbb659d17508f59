// Which rows of a table belong together: groups that differ in the mode alone, the batches of one
// network, and repeats of the same run.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/observation.h"

namespace ridgeline {

// What rows of a group have in common.
struct GroupKey {
  std::string source, device, network, options, dtype;
  Runtime runtime = Runtime::ideal;
  Task task = Task::inference;
  std::int64_t batch = 0;  // 0: any

  // clang-tidy 14 takes the comparison with 0 inside for a pointer's.
  auto operator<=>(const GroupKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

GroupKey group_key(const Observation& row);    // equal in everything but the mode
GroupKey network_key(const Observation& row);  // and the batch

// "gpt2 seq=512 batch 8 bf16 torch-eager on a100-40gb-pcie, energaizer-dvfs"
std::string describe(const GroupKey& key);

// The run at the GPU clock that its mode asks for ("gpu=1410MHz"). A table has the clock that was
// seen, which is lower if a power cap limits the run; a user can only choose the former.
Observation as_asked(Observation row);

// The mode of each row by name: its label. If one label stands for points of the same run that
// differ by more than a read-back does (5 %), the label with the clocks.
std::vector<std::string> mode_names(std::span<const Observation> rows);

using Indices = std::vector<std::size_t>;

// Indices of the rows by key, each list in the order of the file.
std::map<GroupKey, Indices> group_by(GroupKey (*key)(const Observation&),
                                     std::span<const Observation> rows);

// Sets of two rows or more that are equal in everything but the source. `modes` names their modes.
std::vector<Indices> find_replicates(std::span<const Observation> rows,
                                     std::span<const std::string> modes);

}  // namespace ridgeline
