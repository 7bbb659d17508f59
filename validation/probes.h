// Where probes are chosen: of the rows of a table, those that a validation may fit; of the modes of
// a board, the one that is most worth measuring next. Neither looks at what was measured there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/machine_model.h"
#include "roofline/model/machine.h"
#include "validation/groups.h"
#include "validation/validation.h"

namespace ridgeline {

// The model is fitted to `probes` and scored on `scored`; indices of rows.
struct ProbeTrial {
  Indices probes;
  Indices scored;
};

struct ChosenProbes {
  std::vector<ProbeTrial> trials;
  std::vector<SkippedRow> skipped;  // rows of groups that are too small
};

// Without probes every group is a trial. With k of them: the fastest and the slowest mode of a
// group and others evenly between them (one: the fastest). A network with one mode only is probed
// at batches, the smallest and the largest first. `times_s` are predicted, one per row.
ChosenProbes choose_probes(std::span<const Observation> rows, std::span<const std::string> modes,
                           std::span<const double> times_s, const ValidationOptions& options);

// k of n places in order: the first, the last and others evenly between them; one: the first.
std::vector<std::size_t> evenly_spaced(std::size_t k, std::size_t n);

struct ProbeCandidate {
  OperatingPoint point;
  bool is_stock = false;
};

// The stock modes, and the corners of the grid of clocks.
std::vector<ProbeCandidate> probe_candidates(const KnownDevice& known);

// The mode whose run is most informative about which mode to choose: of least energy, or where the
// model knows no power, of least time.
struct NextProbe {
  OperatingPoint point;
  Forecast forecast;           // there
  double regret_now = 0;       // expected, of the choice as it is
  double regret_after = 0;     // expected, of the choice after a run there
  std::string why;             // "a run there is expected to lower …"
  std::size_t candidates = 0;  // that were compared
};

struct Suggestion {
  NextProbe any;
  std::optional<NextProbe> stock;  // of the stock modes
};

// `run` is the run to measure; its mode is ignored. Modes in `measured` are not suggested, but may
// be the choice; nothing if no other is left.
std::optional<Suggestion> suggest_probe(const MachineModel& model, const Observation& run,
                                        std::span<const ProbeCandidate> candidates,
                                        std::span<const OperatingPoint> measured,
                                        const Predictor& predictor);

Json probe_to_json(const NextProbe& probe);

}  // namespace ridgeline
