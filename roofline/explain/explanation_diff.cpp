// Names repeat within a network (weights that are used twice), so equal names match in order.
#include "roofline/explain/explanation_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/csv.h"
#include "base/json.h"
#include "base/units.h"

namespace ridgeline {
namespace {

std::vector<ExplainedLayer> rows_with_overheads(const Explanation& explanation) {
  std::vector<ExplainedLayer> rows = explanation.layers;
  for (const Overhead& overhead : explanation.overheads) {
    ExplainedLayer& row = rows.emplace_back();
    row.name = overhead.name;
    row.bound = BoundBy::launch;
    row.time_s = overhead.time_s;
    if (explanation.energy_j) row.energy_j = overhead.energy_j;
  }
  return rows;
}

class LayerMatcher {
 public:
  LayerMatcher(std::vector<ExplainedLayer> before, std::vector<ExplainedLayer> after)
      : before_(std::move(before)), after_(std::move(after)), partner_(after_.size(), no_partner) {}

  std::vector<LayerDifference> run() {
    match([](const ExplainedLayer& layer) { return layer.name; });
    match([](const ExplainedLayer& layer) {
      return std::tuple(layer.op, layer.operations, layer.bytes);
    });
    std::vector<bool> taken(before_.size());
    std::vector<LayerDifference> rows;
    for (std::size_t i = 0; i < after_.size(); ++i) {
      LayerDifference& row = rows.emplace_back();
      row.after = after_[i];
      if (partner_[i] == no_partner) continue;
      row.before = before_[partner_[i]];
      taken[partner_[i]] = true;
    }
    for (std::size_t i = 0; i < before_.size(); ++i)
      if (!taken[i]) rows.push_back({before_[i], std::nullopt});
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return std::abs(a.time_s()) > std::abs(b.time_s());
    });
    return rows;
  }

 private:
  static constexpr std::size_t no_partner = static_cast<std::size_t>(-1);

  template <class Key>
  void match(const Key& key) {
    std::vector<bool> taken(before_.size());
    for (const std::size_t partner : partner_)
      if (partner != no_partner) taken[partner] = true;
    std::map<decltype(key(before_.front())), std::vector<std::size_t>> open;  // the last one first
    for (std::size_t i = before_.size(); i-- > 0;)
      if (!taken[i]) open[key(before_[i])].push_back(i);
    for (std::size_t i = 0; i < after_.size(); ++i) {
      if (partner_[i] != no_partner) continue;
      const auto found = open.find(key(after_[i]));
      if (found == open.end() || found->second.empty()) continue;
      partner_[i] = found->second.back();
      found->second.pop_back();
    }
  }

  std::vector<ExplainedLayer> before_, after_;
  std::vector<std::size_t> partner_;  // by layer after: layer before
};

double per_sample(double value, const Explanation& explanation) {
  return value / static_cast<double>(explanation.run.batch);
}

// "28 % less time"; empty if both are the same.
std::string change_text(double before, double after, const char* what) {
  constexpr double least = 5e-3;
  if (!(before > 0)) return after > 0 ? fmt::format("more {}", what) : "";
  const double change = after / before - 1;
  if (std::abs(change) < least) return "";
  return fmt::format("{} {} {}", format_percent(std::abs(change)), change < 0 ? "less" : "more",
                     what);
}

// What the rows do not repeat.
Json run_json(const Explanation& explanation) {
  const Json whole = to_json(explanation);
  Json run = Json::object();
  for (const char* key : {"network", "task", "batch", "dtype", "runtime", "device", "machine",
                          "point", "locked", "time_s", "energy_j", "power_w", "notes"})
    run[key] = whole.at(key);
  return run;
}

Json layer_json(const std::optional<ExplainedLayer>& layer) {
  if (!layer) return Json();
  Json json{{"name", layer->name},
            {"op", to_string(layer->op)},
            {"bound", to_string(layer->bound)},
            {"time_s", layer->time_s},
            {"operations", layer->operations},
            {"bytes", layer->bytes}};
  json["energy_j"] = layer->energy_j ? Json(*layer->energy_j) : Json();
  json["measured_s"] = layer->measured_s ? Json(*layer->measured_s) : Json();
  return json;
}

}  // namespace

double LayerDifference::time_s() const {
  return (after ? after->time_s : 0) - (before ? before->time_s : 0);
}

std::optional<double> LayerDifference::energy_j() const {
  if ((before && !before->energy_j) || (after && !after->energy_j)) return std::nullopt;
  return (after ? *after->energy_j : 0) - (before ? *before->energy_j : 0);
}

ExplanationDiff diff(Explanation before, Explanation after) {
  ExplanationDiff difference;
  difference.layers = LayerMatcher(rows_with_overheads(before), rows_with_overheads(after)).run();
  difference.before = std::move(before);
  difference.after = std::move(after);
  return difference;
}

std::string verdict(const ExplanationDiff& difference) {
  const Explanation &a = difference.before, &b = difference.after;
  std::string changes, same;
  const auto add = [&](double before, double after, const char* what) {
    const std::string change = change_text(per_sample(before, a), per_sample(after, b), what);
    std::string& list = change.empty() ? same : changes;
    list += (list.empty() ? "" : " and ") + (change.empty() ? what : change);
  };
  add(a.time_s.value, b.time_s.value, "time");
  if (a.energy_j && b.energy_j) add(a.energy_j->value, b.energy_j->value, "energy");
  if (changes.empty())
    return fmt::format("{}: the same {} per sample as {} (predicted)", b.run.network, same,
                       a.run.network);
  return fmt::format("{}: {} per sample than {}{} (predicted)", b.run.network, changes,
                     a.run.network, same.empty() ? "" : ", the same " + same);
}

Json to_json(const ExplanationDiff& difference) {
  Json json{{"schema", ExplanationDiff::schema}};
  json["before"] = run_json(difference.before);
  json["after"] = run_json(difference.after);
  Json& rows = json["rows"] = Json::array();
  for (const LayerDifference& row : difference.layers) {
    Json entry{{"before", layer_json(row.before)},
               {"after", layer_json(row.after)},
               {"time_s", row.time_s()}};
    entry["energy_j"] = row.energy_j() ? Json(*row.energy_j()) : Json();
    rows.push_back(std::move(entry));
  }
  return json;
}

std::string to_csv(const ExplanationDiff& difference) {
  std::string text = csv_row({"layer_before", "layer_after", "op", "bound_before", "bound_after",
                              "time_s_before", "time_s_after", "time_s_change", "energy_j_before",
                              "energy_j_after", "energy_j_change"});
  const auto number = [](std::optional<double> value) {
    return value ? csv_number(*value) : std::string();
  };
  for (const LayerDifference& row : difference.layers) {
    const ExplainedLayer none{};
    const ExplainedLayer& a = row.before ? *row.before : none;
    const ExplainedLayer& b = row.after ? *row.after : none;
    const auto bound = [](const auto& side) {
      return side ? std::string(to_string(side->bound)) : std::string();
    };
    text += csv_row({a.name, b.name, std::string(to_string(row.after ? b.op : a.op)),
                     bound(row.before), bound(row.after), row.before ? csv_number(a.time_s) : "",
                     row.after ? csv_number(b.time_s) : "", csv_number(row.time_s()),
                     number(a.energy_j), number(b.energy_j), number(row.energy_j())});
  }
  return text;
}

}  // namespace ridgeline
