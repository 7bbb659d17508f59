// Collects unknown parts; counts no work.
#include "analyzer/graph/unknown_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
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
    if (is_new) operators.push_back({layer.origin, unknown->reason, unknown->has_rule, {}});
    operators[place->second].layers.push_back(layer.name);
  }
  return operators;
}

std::string unknown_text(const std::vector<UnknownOperator>& unknown) {
  constexpr std::size_t most = 4;  // later ones are mostly unknown because of these
  std::string text;
  for (const bool has_rule : {false, true}) {
    std::size_t found = 0;
    for (const UnknownOperator& row : unknown) {
      if (row.has_rule != has_rule || ++found > most) continue;
      const std::string_view head =
          has_rule ? "operators of unknown shape: " : "unknown operators: ";
      text += fmt::format("{}{} ×{} ({})",
                          found > 1      ? ", "
                          : text.empty() ? std::string(head)
                                         : "; " + std::string(head),
                          row.op, row.layers.size(), row.reason);
    }
    if (found > most) text += fmt::format(" and {} more", found - most);
  }
  return text;
}

std::string remedy_for_unknown(const std::vector<UnknownOperator>& unknown,
                               std::string_view format) {
  const bool can_describe =
      format == "onnx" && std::any_of(unknown.begin(), unknown.end(),
                                      [](const UnknownOperator& row) { return !row.has_rule; });
  return std::string(can_describe ? "describe them with --ops FILE; " : "") +
         "--allow-unknown counts them as moving data only";
}

}  // namespace ridgeline
