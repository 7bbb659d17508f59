// Collects unknown parts; counts no work.
#include "analyzer/graph/unknown_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ridgeline {

const Unknown* unknown_part(const Layer& layer) {
  for (const Part& part : layer.parts)
    if (const auto* unknown = std::get_if<Unknown>(&part.op)) return unknown;
  return nullptr;
}

std::vector<UnknownOperator> unknown_operators(const Graph& graph) {
  std::vector<UnknownOperator> operators;
  std::map<std::pair<std::string, std::string>, std::size_t> places;  // by operator and reason
  for (const Layer& layer : graph.layers) {
    const Unknown* unknown = is_reported(layer) ? unknown_part(layer) : nullptr;
    if (unknown == nullptr) continue;
    const auto [place, is_new] =
        places.try_emplace({layer.origin, unknown->reason}, operators.size());
    if (is_new) operators.push_back({layer.origin, unknown->reason, {}});
    operators[place->second].layers.push_back(layer.name);
  }
  return operators;
}

std::string unknown_text(const std::vector<UnknownOperator>& unknown) {
  constexpr std::size_t named = 4;  // later ones are mostly unknown because of these
  std::string text;
  for (std::size_t i = 0; i < std::min(named, unknown.size()); ++i) {
    const UnknownOperator& row = unknown[i];
    text += fmt::format("{}{} ×{} ({})", text.empty() ? "" : ", ", row.op, row.layers.size(),
                        row.reason);
  }
  if (unknown.size() > named) text += fmt::format(" and {} more", unknown.size() - named);
  return text;
}

}  // namespace ridgeline
