// Sorts the rows of an Analysis, or sums them by operator or stage of the network. Every row is in
// exactly one group, so groups add up to the same totals.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis/analysis.h"

namespace ridgeline {

enum class RowOrder { graph, flops, bytes, macs, intensity, name, time };

template <>
struct TokenTable<RowOrder> {
  static constexpr std::string_view noun = "order";
  static constexpr std::array<std::pair<RowOrder, std::string_view>, 7> rows{
      {{RowOrder::graph, "graph"},
       {RowOrder::flops, "flops"},
       {RowOrder::bytes, "bytes"},
       {RowOrder::macs, "macs"},
       {RowOrder::intensity, "intensity"},
       {RowOrder::name, "name"},
       {RowOrder::time, "time"}}};
};

enum class Grouping { op, stage, module };

template <>
struct TokenTable<Grouping> {
  static constexpr std::string_view noun = "grouping";
  static constexpr std::array<std::pair<Grouping, std::string_view>, 3> rows{
      {{Grouping::op, "op"}, {Grouping::stage, "stage"}, {Grouping::module, "module"}}};
};

struct RowGroup {
  std::string name;
  std::size_t layers = 0;
  Work work;
  bool is_lower_bound = false;        // bytes of some tensors are unknown
  std::optional<double> time_s = {};  // of the rows that have one
};

// Largest first (names alphabetically); ties keep graph order.
void sort_rows(std::vector<AnalysisRow>& rows, RowOrder order);
std::vector<const AnalysisRow*> sorted_rows(const std::vector<AnalysisRow>& rows, RowOrder order);
void sort_groups(std::vector<RowGroup>& groups, RowOrder order);

// In order of first appearance. A stage is the beginning of a layer's path up to the first numbered
// part ("layer1", "encoder/layer.3"), or the image size if names are not paths ("56x56"). A module
// is the whole path without its last part ("layer1/layer1.0/conv1"); of a kernel that came from
// several nodes, what their modules share.
std::vector<RowGroup> group_rows(const std::vector<AnalysisRow>& rows, Grouping grouping);

Json groups_to_json(const std::vector<RowGroup>& groups, Rules rules);

}  // namespace ridgeline
