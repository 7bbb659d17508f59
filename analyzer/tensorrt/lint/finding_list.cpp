// Layers whose loss is unknown come last and are left out of the sum.
#include "analyzer/tensorrt/lint/finding_list.h"

#include <algorithm>
#include <utility>

namespace ridgeline::tensorrt {
namespace {

std::optional<double> sum(const std::vector<FindingLayer>& layers,
                          std::optional<double> FindingLayer::*member) {
  std::optional<double> total;
  for (const FindingLayer& layer : layers)
    if (layer.*member) total = total.value_or(0) + *(layer.*member);
  return total;
}

}  // namespace

void FindingList::add(const std::string& what, const std::string& remedy, FindingLayer layer) {
  auto found = std::ranges::find_if(findings_, [&](const Finding& finding) {
    return finding.what == what && finding.remedy == remedy;
  });
  if (found == findings_.end()) {
    Finding finding;
    finding.rule = rule_;
    finding.what = what;
    finding.remedy = remedy;
    finding.source = source_;
    found = findings_.insert(found, std::move(finding));
  }
  found->layers.push_back(std::move(layer));
}

void FindingList::add_whole(const LintSubject& subject, std::size_t layer, const std::string& what,
                            const std::string& remedy, std::string detail) {
  const LayerCost& cost = subject.costs[layer];
  add(what, remedy, {layer, cost.time_s, cost.bytes, std::move(detail)});
}

std::vector<Finding> FindingList::take() {
  for (Finding& finding : findings_) {
    std::ranges::stable_sort(finding.layers, std::greater<>{}, [](const FindingLayer& layer) {
      return std::pair(layer.lost_s.value_or(-1), layer.lost_bytes.value_or(-1));
    });
    finding.lost_s = sum(finding.layers, &FindingLayer::lost_s);
    finding.lost_bytes = sum(finding.layers, &FindingLayer::lost_bytes);
  }
  return std::move(findings_);
}

}  // namespace ridgeline::tensorrt
