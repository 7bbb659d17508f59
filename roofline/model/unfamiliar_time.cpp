// Sums the time of unfamiliar kernels by subject, and the time in which the device waits for a host
// whose CPU is not known.
#include "roofline/model/unfamiliar_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "roofline/model/coefficients.h"
#include "roofline/model/familiarity.h"

namespace ridgeline {
namespace {

constexpr double least_share = 0.01;
constexpr double sigmas_of_interval = 1.645;  // half of a 90 % interval
// A fit that halves the uncertainty of a subject has taught it.
constexpr double still_unfamiliar = 0.5;

// Relative sigma; absent for a parameter that the model lacks.
std::optional<double> spread_of(const MachineModel& model, std::string_view name) {
  const auto index = find_parameter(model, name);
  if (!index || !(model.parameters[*index].mean > 0)) return std::nullopt;
  return sigma_of(model, *index) / model.parameters[*index].mean;
}

class UnfamiliarParts {
 public:
  UnfamiliarParts(const MachineModel& model, const Step& step) : model_(model), step_(step) {}

  // `name`: what the text names; `time_s`: the time that depends on it.
  void add(const UnfamiliarRow& row, std::string name, double time_s) {
    const auto sigma = spread_of(model_, unfamiliar_parameter(row.subject));
    const double share = step_.time_s > 0 ? std::min(1.0, time_s / step_.time_s) : 0;
    if (!sigma || *sigma <= still_unfamiliar * row.sigma || share < least_share) return;
    parts_.push_back({std::move(name), share, std::exp(sigmas_of_interval * *sigma)});
  }

  std::vector<Unfamiliar> take() {
    std::stable_sort(parts_.begin(), parts_.end(), [](const Unfamiliar& a, const Unfamiliar& b) {
      return a.time_share > b.time_share;
    });
    return std::move(parts_);
  }

 private:
  const MachineModel& model_;
  const Step& step_;
  std::vector<Unfamiliar> parts_;
};

}  // namespace

std::vector<Unfamiliar> unfamiliar_time(const MachineModel& model, const NetworkLoad& load,
                                        const Conditions& conditions, const Step& step) {
  const Familiarity& here = familiarity(model.device, conditions.runtime);
  const TaughtDevice& device = taught_device(model.device);
  const std::string_view runtime = to_string(conditions.runtime);
  std::map<Subject, double> by_subject;
  std::map<DType, double> by_dtype;
  double kernels_s = 0, waiting_s = step.tail_s + step.jitter_s;
  for (std::size_t i = 0; i < step.rows.size(); ++i) {
    const KernelLoad& kernel = load.kernels[i];
    const double time_s = std::min(step.rows[i].time_s, step.rows[i].kernel.total_s);
    kernels_s += time_s;
    waiting_s += step.rows[i].time_s - time_s;
    if (kernel.subject && here.unfamiliar[index_of(*kernel.subject)])
      by_subject[*kernel.subject] += time_s;
    if (kernel.matrix_ops > 0 && here.unfamiliar_dtype[index_of(kernel.dtype)])
      by_dtype[kernel.dtype] += time_s;
  }

  UnfamiliarParts parts(model, step);
  for (const UnfamiliarRow& row : unfamiliar_rows()) {
    if (row.subject == Subject::dtype) {
      for (const auto& [dtype, time_s] : by_dtype)
        parts.add(
            row,
            fmt::format("products in {} with {} on {}", to_string(dtype), runtime, device.plural),
            time_s);
    } else if (row.subject == Subject::runtime && here.unfamiliar[index_of(row.subject)]) {
      parts.add(row, fmt::format("kernels of {} on {}", runtime, device.plural), kernels_s);
    } else if (row.subject == Subject::device && here.unfamiliar[index_of(row.subject)]) {
      parts.add(row, "kernels on " + device.chip, kernels_s);
    } else if (row.subject == Subject::host && here.unfamiliar[index_of(row.subject)]) {
      parts.add(row, std::string(row.text), waiting_s);
    } else if (const auto found = by_subject.find(row.subject); found != by_subject.end()) {
      parts.add(row, fmt::format("{} with {} on {}", row.text, runtime, device.plural),
                found->second);
    }
  }
  return parts.take();
}

std::string to_text(const Unfamiliar& unfamiliar) {
  return fmt::format(
      "no measurement covers the rate of {}: {} of the time, uncertain by a factor "
      "of {}",
      unfamiliar.what, format_percent(unfamiliar.time_share), format_number(unfamiliar.factor, 2));
}

std::vector<std::string> texts(const std::vector<Unfamiliar>& unfamiliar) {
  std::vector<std::string> lines;
  for (const Unfamiliar& each : unfamiliar) lines.push_back(to_text(each));
  return lines;
}

}  // namespace ridgeline
