// Errors are means over rows, orders and choices means over groups.
#include "validation/score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/statistics.h"
#include "validation/groups.h"

namespace ridgeline {
namespace {

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::optional<double> optional_mean(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(mean(values));
}

// Errors of one quantity over rows.
class Errors {
 public:
  void add(const Estimate& predicted, double measured) {
    const double error = (predicted.value - measured) / measured;
    signed_.push_back(error);
    absolute_.push_back(std::abs(error));
    covered_.push_back(predicted.low <= measured && measured <= predicted.high ? 1 : 0);
    half_widths_.push_back((predicted.high - predicted.low) / 2 / predicted.value);
  }
  int rows() const { return static_cast<int>(signed_.size()); }
  std::optional<double> mape() const { return optional_mean(absolute_); }
  std::optional<double> bias() const { return optional_mean(signed_); }
  std::optional<double> coverage() const { return optional_mean(covered_); }
  std::optional<double> half_width() const {
    return half_widths_.empty() ? std::nullopt : std::optional(median(half_widths_));
  }

 private:
  std::vector<double> signed_, absolute_, covered_, half_widths_;
};

// A mode of a group; repeats are averaged.
struct ModeMeans {
  std::string mode;
  std::vector<double> measured_time, predicted_time, measured_energy, predicted_energy;
  std::vector<double> asked_time;  // predicted at the clock that the mode asks for, as the energy
  BoundBy bound = BoundBy::memory;
  bool probed = false;
};

std::vector<ModeMeans> modes_of(const std::vector<const ScoredRow*>& group) {
  std::vector<ModeMeans> modes;
  for (const ScoredRow* row : group) {
    auto found = std::find_if(modes.begin(), modes.end(),
                              [&](const ModeMeans& one) { return one.mode == row->mode; });
    if (found == modes.end()) {
      modes.push_back({row->mode, {}, {}, {}, {}, {}, row->forecast.bound, row->probed});
      found = modes.end() - 1;
    }
    found->measured_time.push_back(row->observation.time_s);
    found->predicted_time.push_back(row->forecast.time_s.value);
    if (const auto energy = row->energy_j(); energy && row->forecast.energy_j) {
      const Forecast& asked = row->as_asked ? *row->as_asked : row->forecast;
      found->measured_energy.push_back(*energy);
      found->predicted_energy.push_back(asked.energy_j->value);
      found->asked_time.push_back(asked.time_s.value);
    }
  }
  return modes;
}

template <class Member>
std::vector<double> means_of(const std::vector<ModeMeans>& modes, Member member) {
  std::vector<double> means;
  for (const ModeMeans& mode : modes) means.push_back(mean(mode.*member));
  return means;
}

Ranking rank(const GroupKey& key, const std::vector<const ScoredRow*>& group) {
  const std::vector<ModeMeans> modes = modes_of(group);
  Ranking ranking;
  ranking.name = describe(key);
  ranking.line = group.front()->observation.line;
  ranking.modes = static_cast<int>(modes.size());
  const std::vector<double> predicted = means_of(modes, &ModeMeans::predicted_time);
  ranking.bound =
      modes[static_cast<std::size_t>(std::distance(
                predicted.begin(), std::min_element(predicted.begin(), predicted.end())))]
          .bound;
  if (modes.size() < 2) return ranking;
  std::vector<bool> probed;
  for (const ModeMeans& mode : modes) probed.push_back(mode.probed);
  ranking.kendall_tau = kendall_tau(means_of(modes, &ModeMeans::measured_time), predicted, probed);
  const bool has_energy = std::all_of(modes.begin(), modes.end(), [](const ModeMeans& mode) {
    return mode.measured_energy.size() == mode.measured_time.size();
  });
  if (!has_energy) return ranking;
  const LeastChoice choice = choose_least(means_of(modes, &ModeMeans::measured_energy),
                                          means_of(modes, &ModeMeans::predicted_energy),
                                          means_of(modes, &ModeMeans::asked_time));
  ranking.chosen = modes[choice.chosen].mode;
  ranking.best = modes[choice.best].mode;
  ranking.energy_regret = choice.regret;
  return ranking;
}

std::string key_value(std::string_view key, const ScoredRow& row) {
  const Observation& measured = row.observation;
  if (key == "source") return measured.source;
  if (key == "device") return measured.device;
  if (key == "net") return measured.network;
  if (key == "mode") return row.mode;
  if (key == "dtype") return std::string(to_string(measured.dtype));
  if (key == "batch") return std::to_string(measured.batch);
  if (key == "runtime") return std::string(to_string(measured.conditions.runtime));
  return std::string(to_string(measured.task));
}

bool all_probed(const std::vector<const ScoredRow*>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const ScoredRow* row) { return row->probed; });
}

constexpr std::array<std::string_view, 8> keys{"source", "device", "net",     "mode",
                                               "dtype",  "batch",  "runtime", "task"};

}  // namespace

std::optional<double> ScoredRow::energy_j() const {
  if (!observation.power_w) return std::nullopt;
  return *observation.power_w * observation.time_s;
}

double time_error(const ScoredRow& row) {
  return (row.forecast.time_s.value - row.observation.time_s) / row.observation.time_s;
}

std::optional<double> kendall_tau(std::span<const double> measured,
                                  std::span<const double> predicted,
                                  const std::vector<bool>& probed) {
  const auto is_probed = [&](std::size_t i) { return i < probed.size() && probed[i]; };
  int distinct = 0, agreement = 0;
  for (std::size_t i = 0; i < measured.size(); ++i)
    for (std::size_t j = i + 1; j < measured.size(); ++j) {
      if (measured[i] == measured[j] || (is_probed(i) && is_probed(j))) continue;
      ++distinct;
      if (predicted[i] == predicted[j]) continue;
      agreement += (measured[i] < measured[j]) == (predicted[i] < predicted[j]) ? 1 : -1;
    }
  if (distinct == 0) return std::nullopt;
  return static_cast<double>(agreement) / distinct;
}

LeastChoice choose_least(std::span<const double> measured, std::span<const double> predicted,
                         std::span<const double> times) {
  const auto least = [](std::span<const double> values) {
    return static_cast<std::size_t>(
        std::distance(values.begin(), std::min_element(values.begin(), values.end())));
  };
  LeastChoice choice{least(predicted), least(measured), 0};
  constexpr double same_energy = 0.01;
  const double enough = (1 + same_energy) * predicted[choice.chosen];
  for (std::size_t i = 0; i < times.size(); ++i)
    if (predicted[i] <= enough && times[i] < times[choice.chosen]) choice.chosen = i;
  choice.regret = measured[choice.chosen] / measured[choice.best] - 1;
  return choice;
}

std::vector<Ranking> rank_groups(std::span<const ScoredRow* const> rows) {
  std::map<GroupKey, std::vector<const ScoredRow*>> groups;
  for (const ScoredRow* row : rows) groups[group_key(row->observation)].push_back(row);
  std::vector<Ranking> rankings;
  for (const auto& [key, group] : groups)
    if (!all_probed(group)) rankings.push_back(rank(key, group));
  std::stable_sort(rankings.begin(), rankings.end(),
                   [](const Ranking& a, const Ranking& b) { return a.line < b.line; });
  return rankings;
}

Score score_rows(std::span<const ScoredRow* const> rows) {
  return score_rows(rows, rank_groups(rows));
}

Score score_rows(std::span<const ScoredRow* const> rows, std::span<const Ranking> rankings) {
  Errors time, power, energy;
  for (const ScoredRow* row : rows) {
    if (row->probed) continue;
    const Observation& measured = row->observation;
    time.add(row->forecast.time_s, measured.time_s);
    if (measured.power_w && row->forecast.power_w)
      power.add(*row->forecast.power_w, *measured.power_w);
    if (const auto joule = row->energy_j(); joule && row->forecast.energy_j)
      energy.add(*row->forecast.energy_j, *joule);
  }
  std::vector<double> taus, regrets, hits;
  for (const Ranking& ranking : rankings) {
    if (ranking.kendall_tau) taus.push_back(*ranking.kendall_tau);
    if (!ranking.energy_regret) continue;
    regrets.push_back(*ranking.energy_regret);
    hits.push_back(ranking.chosen == ranking.best ? 1 : 0);
  }
  Score score;
  score.rows = time.rows();
  score.groups = static_cast<int>(rankings.size());
  score.time_mape = time.mape();
  score.time_bias = time.bias();
  score.time_coverage = time.coverage();
  score.time_half_width = time.half_width();
  score.power_rows = power.rows();
  score.power_mape = power.mape();
  score.power_bias = power.bias();
  score.power_coverage = power.coverage();
  score.power_half_width = power.half_width();
  score.energy_mape = energy.mape();
  score.energy_bias = energy.bias();
  score.energy_coverage = energy.coverage();
  score.energy_half_width = energy.half_width();
  score.ranked_groups = static_cast<int>(taus.size());
  score.kendall_tau = optional_mean(taus);
  score.choice_groups = static_cast<int>(regrets.size());
  score.energy_regret_mean = optional_mean(regrets);
  if (!regrets.empty()) score.energy_regret_max = *std::max_element(regrets.begin(), regrets.end());
  score.best_mode_hit = optional_mean(hits);
  return score;
}

std::span<const std::string_view> score_keys() { return keys; }

std::vector<std::pair<std::string, Score>> score_by(std::string_view key,
                                                    std::span<const ScoredRow* const> rows) {
  std::vector<std::pair<std::string, std::vector<const ScoredRow*>>> parts;
  for (const ScoredRow* row : rows) {
    const std::string value = key_value(key, *row);
    auto found = std::find_if(parts.begin(), parts.end(),
                              [&](const auto& part) { return part.first == value; });
    if (found == parts.end()) {
      parts.push_back({value, {}});
      found = parts.end() - 1;
    }
    found->second.push_back(row);
  }
  if (key == "batch")
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
      return a.second.front()->observation.batch < b.second.front()->observation.batch;
    });
  std::vector<std::pair<std::string, Score>> scores;
  for (const auto& [value, part] : parts)
    if (!all_probed(part)) scores.emplace_back(value, score_rows(part));
  return scores;
}

ReplicateNoise replicate_noise(std::span<const Observation> rows,
                               std::span<const std::string> modes) {
  const auto difference = [](double a, double b) { return std::abs(a - b) / ((a + b) / 2); };
  ReplicateNoise noise;
  std::vector<double> times, powers;
  for (const Indices& set : find_replicates(rows, modes)) {
    ++noise.sets;
    for (std::size_t i = 0; i < set.size(); ++i)
      for (std::size_t j = i + 1; j < set.size(); ++j) {
        const Observation &a = rows[set[i]], &b = rows[set[j]];
        times.push_back(difference(a.time_s, b.time_s));
        if (a.power_w && b.power_w) powers.push_back(difference(*a.power_w, *b.power_w));
      }
  }
  noise.time = optional_mean(times);
  noise.power = optional_mean(powers);
  return noise;
}

}  // namespace ridgeline
