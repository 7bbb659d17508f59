// The moved parameters as a table, then refused rows and notes.
#include "report/calibration.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text_table.h"
#include "base/units.h"
#include "base/wrap.h"

namespace ridgeline {
namespace {

std::string with_sigma(double mean, double sigma) {
  if (!(sigma > 0) || mean == 0) return format_number(mean);
  return fmt::format("{} ± {}", format_number(mean), format_percent(sigma / std::abs(mean)));
}

// A tenth of a sigma, or a tenth less of it.
bool worth_showing(const MovedParameter& moved) {
  constexpr double least = 0.1;
  return moved.before.sigma == 0 || moved.sigmas() >= least ||
         moved.sigma / std::abs(moved.mean) <
             (1 - least) * moved.before.sigma / std::abs(moved.before.mean);
}

// "for resnet50 by torch-eager alone: kernel_time_scale 1.12 ± 4 %, …"
std::string own_scales_text(const NetworkScales& own) {
  std::string text =
      fmt::format("for {} {}by {} alone:", own.network,
                  own.task == Task::training ? "in training " : "", to_string(own.runtime));
  for (std::size_t i = 0; i < own.scales.size(); ++i)
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", own.scales[i].name,
                        with_sigma(own.scales[i].mean, sigma_of_scale(own, i)));
  return text + fmt::format(" ({})", to_string(Source::fitted));
}

}  // namespace

std::string calibration_text(const Calibration& calibration, int width) {
  std::string text = fmt::format("{}: {} measured value{} used\n\n", calibration.model.device,
                                 calibration.used, calibration.used == 1 ? "" : "s");
  TextTable table{{{"parameter", Align::left, true},
                   {"before", Align::right},
                   {"", Align::left},
                   {"now", Align::right},
                   {"source"}},
                  {}};
  std::size_t hidden = 0;
  for (const MovedParameter& moved : calibration.moved) {
    if (!worth_showing(moved)) {
      ++hidden;
      continue;
    }
    table.rows.push_back({moved.name, with_sigma(moved.before.mean, moved.before.sigma),
                          fmt::format("({})", to_string(moved.before.source)),
                          with_sigma(moved.mean, moved.sigma),
                          std::string(to_string(moved.source))});
  }
  text += calibration.moved.empty()
              ? "nothing changed: the measurements agree with the prediction\n"
              : render_text(table, width);
  if (hidden > 0)
    text +=
        fmt::format("({} other{} moved by less than a tenth of what was open; --json has all)\n",
                    hidden, hidden == 1 ? "" : "s");
  for (const NetworkScales& own : calibration.model.networks)
    text += wrap(own_scales_text(own), width, 2) + "\n";
  for (const Observation& refused : calibration.refused)
    text +=
        wrap(fmt::format("rejected: {}: {}", describe(refused), refused.refused), width, 2) + "\n";
  for (const std::string& note : calibration.notes) text += wrap("note: " + note, width, 2) + "\n";
  return text;
}

std::string suggestion_text(const Suggestion& suggestion, int width) {
  const auto line = [&](const char* head, const NextProbe& probe) {
    return wrap(fmt::format("{}: {}: {}", head, probe.point.label, probe.why), width, 2) + "\n";
  };
  std::string text = line("measure next", suggestion.any);
  if (suggestion.stock && suggestion.stock->point != suggestion.any.point)
    text += line("of the stock modes", *suggestion.stock);
  return text;
}

}  // namespace ridgeline
