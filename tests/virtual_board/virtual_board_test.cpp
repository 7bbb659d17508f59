// The loop that ridgeline exists for, by the real program: a board is measured in a grid of modes,
// and on that profile a plan chooses the mode that is truly best. The truth is silicon.h's.
#include "tests/virtual_board/virtual_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/json.h"
#include "base/profile.h"
#include "devices/catalog/model.h"
#include "roofline/ceilings/datasheet.h"
#include "roofline/model/priors.h"
#include "roofline/model/sweep_model.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string board_program() {
  const char* const named = std::getenv("RIDGELINE_TESTED_BOARD");
  return named ? named : build_file("tests/ridgeline_virtual_board");
}

// A board after its sweep, with everything of the tree as it was before.
struct SweptBoard {
  // `state` is "" or "-hot".
  explicit SweptBoard(const std::string& name, const std::string& state = "",
                      const std::string& modes = "grid:gpu=5,emc=all",
                      const std::string& kernels = "fp32,dram,sweep,launch")
      : kind(board_kind(name)), program_name(name + state) {
    make_virtual_board(system, kind);
    before = tree_content(system);
    file = folder.file("board.json");
    result = run({"measure", "--gpu", "--modes", modes, "--only", kernels, "-o", file});
    profile = load_profile(file);
  }
  ProcessResult run(std::vector<std::string> words) const {
    words.insert(words.begin(), {board_program(), program_name});
    return run_process(words, {.environment = {{"RIDGELINE_ROOT", system.root().path},
                                               {"XDG_DATA_HOME", folder.path()}}});
  }

  BoardKind kind;
  std::string program_name;
  FakeSystem system;
  TemporaryDirectory folder;
  std::map<std::string, std::string> before;
  std::string file;
  ProcessResult result;
  Profile profile;
};

Clocks clocks_of(const OperatingPoint& point) {
  return {point.gpu_hz.value_or(0), point.memory_hz.value_or(0),
          *std::ranges::max_element(point.cpu_hz), point.cpu_cores.value_or(0)};
}

void expect_peaks_of_every_mode(const SweptBoard& board) {
  ASSERT_GE(board.profile.modes.size(), 15u);
  EXPECT_THAT(schema_violations(to_json(board.profile), "profile.schema.json"), IsEmpty());
  const Silicon& chip = board.kind.silicon;
  for (const ProfileMode& mode : board.profile.modes) {
    SCOPED_TRACE(mode.mode.label);
    const Clocks at = clocks_of(mode.mode);
    double flops_per_s = 0, bytes_per_s = 0;
    for (const ComputeRow& row : mode.compute)
      if (row.dtype == DType::fp32) flops_per_s = std::max(flops_per_s, row.flops_per_s->value);
    for (const MemoryRow& row : mode.memory)
      if (row.level == Level::dram && row.direction == Direction::read && row.bytes_per_s)
        bytes_per_s = std::max(bytes_per_s, row.bytes_per_s->value);
    EXPECT_NEAR(flops_per_s / chip.flops_per_s(at), 1, 0.01);
    EXPECT_NEAR(bytes_per_s / chip.bytes_per_s(at), 1, 0.01);
    for (const LaunchRow& row : mode.launch)
      if (row.kind == "async_launch") {
        EXPECT_NEAR(row.time_s->value * at.cpu_hz / chip.launch_cycles, 1, 0.01);
      }
    ASSERT_TRUE(mode.idle_power_w);
    EXPECT_NEAR(mode.idle_power_w->value / chip.idle_w(at), 1, 0.05);
  }
}

// Energies of each mode. A rail's step is 0.4 W on AGX Orin, where traffic takes 0.8 W with the
// slowest memory: the pauses between bursts make steps readable, and modes of one memory clock
// share what they tell of a byte.
void expect_energies_of_every_mode(const SweptBoard& board) {
  const Silicon& chip = board.kind.silicon;
  for (const ProfileMode& mode : board.profile.modes) {
    SCOPED_TRACE(mode.mode.label);
    const Clocks at = clocks_of(mode.mode);
    ASSERT_EQ(mode.energy.size(), 1u);
    const EnergyFitRow& fit = mode.energy.front();
    ASSERT_TRUE(fit.joule_per_flop && fit.joule_per_byte && fit.constant_power_w) << fit.note;
    EXPECT_NEAR(fit.joule_per_flop->value / chip.joule_per_flop(at), 1, 0.05);
    EXPECT_NEAR(fit.constant_power_w->value / chip.constant_w(at), 1, 0.05);
    const double byte_j = chip.joule_per_byte(at);
    EXPECT_NEAR(fit.joule_per_byte->value / byte_j, 1, 0.05);
    EXPECT_LE(fit.joule_per_byte->low, byte_j);
    EXPECT_GE(fit.joule_per_byte->high, byte_j);
  }
}

// At rest: clocks held, clocks left to governors, and the GPU without a user and without power.
void expect_idle_of_every_mode(const SweptBoard& board) {
  const Silicon& chip = board.kind.silicon;
  for (const ProfileMode& mode : board.profile.modes) {
    SCOPED_TRACE(mode.mode.label);
    const Clocks held = clocks_of(mode.mode);
    Clocks lowest = held;
    lowest.gpu_hz = double(board.kind.tree.gpu_hz.front());
    lowest.memory_hz = double(board.kind.tree.emc_hz.front());
    const std::map<IdleState, double> truth{
        {IdleState::locked, chip.idle_w(held)},
        {IdleState::governor, chip.idle_w(lowest)},
        {IdleState::suspended, chip.suspended_gpu_rail_w() + chip.cpu_rail_w(lowest, false) +
                                   chip.memory_rail_w(lowest)}};
    ASSERT_EQ(mode.idle.size(), truth.size());
    for (const IdleRow& row : mode.idle) {
      EXPECT_NEAR(row.power_w.value / truth.at(row.state), 1, 0.05) << to_string(row.state);
    }
  }
}

void expect_conditions_of_every_mode(const SweptBoard& board) {
  for (const ProfileMode& mode : board.profile.modes) {
    SCOPED_TRACE(mode.mode.label);
    ASSERT_TRUE(mode.conditions.system);
    const SystemConditions& seen = *mode.conditions.system;
    std::map<std::string, KnobCondition> knobs;
    for (const KnobCondition& knob : seen.knobs) knobs[knob.knob] = knob;
    for (const auto& [name, hz] :
         {std::pair("gpu", mode.mode.gpu_hz), {"emc", mode.mode.memory_hz}}) {
      const KnobCondition& knob = knobs[name];
      ASSERT_TRUE(knob.asked && knob.lowest && knob.highest) << name;
      EXPECT_EQ(*knob.asked, *hz);
      EXPECT_NEAR(*knob.lowest / *hz, 1, 0.005);
      EXPECT_NEAR(*knob.highest / *hz, 1, 0.005);
      EXPECT_TRUE(knob.held) << name;
    }
    EXPECT_EQ(knobs["gpu"].governor, "nvhost_podgov");
    EXPECT_EQ(knobs["cpu"].governor, "schedutil");
    EXPECT_EQ(knobs["cores"].highest, mode.mode.cpu_cores);
    EXPECT_NEAR(seen.fan_highest.value_or(0), 128 / 255., 1e-9);
    EXPECT_EQ(seen.trip_c, 84);
    ASSERT_TRUE(seen.coolest_c && seen.hottest_c);
    EXPECT_LT(*seen.hottest_c, 84);
    EXPECT_GE(*seen.hottest_c, *seen.coolest_c);
    std::map<std::string, std::uint64_t> throttling;
    for (const ThrottleCount& each : seen.throttling) throttling[each.kind] = each.count;
    EXPECT_EQ(throttling,
              (std::map<std::string, std::uint64_t>{{"trip_point", 0}, {"clock_fell", 0}}));
  }
}

// Measured, with the catalog's expectation beside it, which differs.
void expect_rooflines(const SweptBoard& board) {
  const ProcessResult json =
      run_ridgeline({"roofline", board.file, "--modes", "all", "--energy", "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const Json rooflines = Json::parse(json.out);
  ASSERT_EQ(rooflines["rooflines"].size(), board.profile.modes.size());
  for (const Json& roofline : rooflines["rooflines"]) {
    EXPECT_THAT(schema_violations(roofline, "energy_roofline.schema.json"), IsEmpty());
    ASSERT_TRUE(roofline["expected"].is_object());
    const double measured = roofline["constant_power_w"]["value"].get<double>();
    EXPECT_NE(roofline["expected"]["constant_power_w"].get<double>(), measured);
  }
  const ProcessResult text = run_ridgeline({"roofline", board.file, "--modes", "all", "--energy"});
  EXPECT_THAT(text.out, HasSubstr("in brackets what the catalog's model expects"));
}

void expect_restored(const SweptBoard& board) {
  // What the machine shows by itself is not restored: rails, temperature, present clock.
  const auto after = tree_content(board.system);
  for (const auto& [path, text] : board.before)
    if (path.find("_freq") != std::string::npos || path.find("/emc/") != std::string::npos) {
      if (path.ends_with("cur_freq")) continue;
      EXPECT_EQ(after.at(path), text) << path;
    }
}

// The network's kernels as (FLOP, bytes), counted by `analyze`.
std::vector<Work> work_of(const std::string& network) {
  const ProcessResult result =
      run_ridgeline({"analyze", network, "--dtype", "fp32", "--runtime", "ideal", "--json"});
  std::vector<Work> work;
  const Json analysis = Json::parse(result.out);
  for (const Json& demand : analysis["demands"])
    work.push_back({demand["flops"].get<double>(),
                    demand["bytes_read"].get<double>() + demand["bytes_written"].get<double>()});
  return work;
}

struct PlannedRow {
  std::string mode;  // "gpu=816MHz,emc=2133MHz,…"
  Clocks at;
  double time_s = 0, energy_j = 0;
};

// All modes with the GPU and memory clocks of the board that a plan considers.
std::vector<PlannedRow> planned_rows(const SweptBoard& board, const std::string& network,
                                     const std::string& on) {
  const std::string mode = board.kind.tree.modes.at(board.kind.tree.mode);
  const ProcessResult result =
      run_ridgeline({"plan", network, "--on", on, "--mode", mode, "--reach", "live", "--runtime",
                     "ideal", "--dtype", "fp32", "--csv"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::istringstream lines(result.out);
  std::string line;
  std::getline(lines, line);
  std::vector<PlannedRow> rows;
  const Clocks present = clocks_of(board.profile.modes.front().mode);
  while (std::getline(lines, line)) {
    // "gpu=…,emc=…",label,stock,reach,gpu_units,gpu_hz,memory_hz,cpu_hz,cpu_cores,…
    std::istringstream cells(line.substr(line.find('"', 1) + 2));
    std::vector<std::string> words;
    for (std::string word; std::getline(cells, word, ',');) words.push_back(word);
    PlannedRow row;
    row.mode = line.substr(1, line.find('"', 1) - 1);
    row.at = {std::stod(words[4]), std::stod(words[5]), std::stod(words[6]), std::stoi(words[7])};
    row.time_s = std::stod(words[11]);
    row.energy_j = std::stod(words[13]);
    const bool same_cpu =
        row.at.cores == present.cores && std::abs(row.at.cpu_hz / present.cpu_hz - 1) < 0.005;
    if (same_cpu && std::stoi(words[3]) == board.kind.silicon.multiprocessors) rows.push_back(row);
  }
  return rows;
}

struct Judged {
  PlannedRow chosen;  // the mode with the least predicted energy
  double regret = 0;  // of that mode
  double worst_time = 0, worst_energy = 0, mean_energy = 0;  // |predicted / true − 1|
};

Judged judged(const SweptBoard& board, const std::string& network, const std::string& on) {
  const std::vector<Work> work = work_of(network);
  const std::vector<PlannedRow> rows = planned_rows(board, network, on);
  Judged result;
  double best_j = 1e300, chosen_j = 0;
  result.chosen.energy_j = 1e300;
  for (const PlannedRow& row : rows) {
    const Ran truth = board.kind.silicon.run(work, row.at);
    best_j = std::min(best_j, truth.energy_j);
    if (row.energy_j < result.chosen.energy_j) {
      result.chosen = row;
      chosen_j = truth.energy_j;
    }
    const double off = std::abs(row.energy_j / truth.energy_j - 1);
    result.worst_time = std::max(result.worst_time, std::abs(row.time_s / truth.time_s - 1));
    result.worst_energy = std::max(result.worst_energy, off);
    result.mean_energy += off / static_cast<double>(rows.size());
  }
  EXPECT_GE(rows.size(), 30u);
  result.regret = chosen_j / best_j - 1;
  return result;
}

// The plan's mode, explained alone.
void expect_explained(const SweptBoard& board, const std::string& network,
                      const PlannedRow& chosen) {
  const ProcessResult result =
      run_ridgeline({"explain", network, "--on", board.file, "--mode", chosen.mode, "--runtime",
                     "ideal", "--dtype", "fp32", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("predicts modes left out of its fit with a mean error of"));
  const Json explanation = Json::parse(result.out);
  EXPECT_EQ(explanation["point"]["gpu_hz"].get<double>(), chosen.at.gpu_hz);
  EXPECT_EQ(explanation["point"]["memory_hz"].get<double>(), chosen.at.memory_hz);
  const Ran truth = board.kind.silicon.run(work_of(network), chosen.at);
  EXPECT_NEAR(explanation["time_s"]["value"].get<double>() / truth.time_s, 1, 0.01);
  EXPECT_NEAR(explanation["energy_j"]["value"].get<double>() / truth.energy_j, 1, 0.05);
}

void expect_best_mode(const SweptBoard& board) {
  for (const char* network : {"bert_base", "vit_b_16"}) {
    SCOPED_TRACE(network);
    const Judged measured = judged(board, network, board.file);
    EXPECT_LE(measured.regret, 0.01);
    EXPECT_LE(measured.worst_time, 0.01);
    EXPECT_LE(measured.worst_energy, 0.05);
    expect_explained(board, network, measured.chosen);
    // The catalog is wrong by a fifth and more, and the sweep corrects it.
    const std::string device = board.profile.machine.device;
    const Judged expected = judged(board, network, device);
    EXPECT_GE(expected.worst_energy, 0.12);
    EXPECT_LE(measured.mean_energy, 0.25 * expected.mean_energy);
  }
}

// A catalog whose energies, static power and bandwidth are all 30 % too high or too low: one model
// of the swept modes forgets it.
void expect_wrong_prior_is_corrected(const SweptBoard& board) {
  const MachineModel prior =
      with_priors(catalog::machine_model(catalog::load(board.profile.machine.device)));
  const Silicon& chip = board.kind.silicon;
  for (const double factor : {0.7, 1.3}) {
    SCOPED_TRACE(factor);
    MachineModel wrong = prior;
    int changed = 0;
    for (Parameter& parameter : wrong.parameters)
      for (const char* name :
           {"gpu_fp32_joule_per_flop", "dram_joule_per_byte", "gpu_busy_joule_per_sm_clock",
            "gpu_idle_joule_per_sm_clock", "soc_static_w", "memory_static_w", "gpu_dram_efficiency",
            "gpu_dram_bytes_per_clock", "gpu_launch_cpu_clocks"})
        if (parameter.name == name) {
          parameter.mean *= factor;
          ++changed;
        }
    ASSERT_GE(changed, 6);
    const MachineModel model = fit_modes(wrong, board.profile);
    for (const ProfileMode& mode : board.profile.modes) {
      SCOPED_TRACE(mode.mode.label);
      const Clocks at = clocks_of(mode.mode);
      const Ceilings ceilings = model_ceilings(model, mode.mode, Runtime::ideal);
      for (const auto& peak : ceilings.peaks)
        if (peak.processor == Processor::gpu && peak.dtype == DType::fp32 &&
            peak.unit == Unit::vector) {
          EXPECT_NEAR(peak.flops_per_s / chip.flops_per_s(at), 1, 0.01);
        }
      // TX2's arithmetic at 115 MHz draws 5 % of the constant power: one voltage curve for all of a
      // mode's energies is 10 % off there, and no network's energy is.
      const double busy_w = chip.constant_w(at);
      const bool is_seen = chip.joule_per_flop(at) * chip.flops_per_s(at) >= 0.1 * busy_w;
      for (const auto& energy : ceilings.flop_energies)
        if (energy.dtype == DType::fp32 && energy.unit == Unit::vector) {
          EXPECT_NEAR(energy.joule_per_flop / chip.joule_per_flop(at), 1, is_seen ? 0.05 : 0.15);
        }
      ASSERT_TRUE(ceilings.busy_power);
      EXPECT_NEAR(ceilings.busy_power->power_w / busy_w, 1, 0.05);
    }
  }
}

class VirtualJetson : public ::testing::TestWithParam<const char*> {};

// One test: a sweep takes two seconds, and each test is a process of its own.
TEST_P(VirtualJetson, IsMeasuredInAGridAndPlannedFor) {
  const SweptBoard board(GetParam());
  ASSERT_EQ(board.result.exit_code, 0) << board.result.err;
  EXPECT_THAT(board.result.out, HasSubstr("modes left out of its fit are predicted"));
  expect_peaks_of_every_mode(board);
  expect_energies_of_every_mode(board);
  expect_idle_of_every_mode(board);
  expect_conditions_of_every_mode(board);
  expect_rooflines(board);
  expect_restored(board);
  expect_best_mode(board);
  expect_wrong_prior_is_corrected(board);
}

TEST(VirtualBoard, SaysWhichModeWasThrottled) {
  const SweptBoard board("agx-orin", "-hot", "grid:gpu=1,emc=1", "fp32,dram");
  EXPECT_THAT(board.result.err, HasSubstr("(throttled)"));
  EXPECT_THAT(board.result.err, HasSubstr("reached the trip point of 84 °C"));
  ASSERT_EQ(board.profile.modes.size(), 1u);
  const ProfileMode& mode = board.profile.modes.front();
  EXPECT_GT(mode.conditions.rows.throttled, 0);
  ASSERT_TRUE(mode.conditions.system);
  EXPECT_GE(*mode.conditions.system->hottest_c, 84);
  EXPECT_THAT(mode.conditions.system->throttling,
              ::testing::Contains(::testing::Field(&ThrottleCount::kind, "trip_point")));
  ASSERT_FALSE(mode.compute.empty());
  for (const ComputeRow& row : mode.compute) {
    EXPECT_EQ(row.status, Status::throttled) << row.kernel;
    EXPECT_THAT(row.note, HasSubstr("of the mode's clock"));
  }
  EXPECT_LT(mode.compute.front().flops_per_s->value,
            0.9 * board.kind.silicon.flops_per_s(clocks_of(mode.mode)));
  expect_restored(board);
}

INSTANTIATE_TEST_SUITE_P(Boards, VirtualJetson, ::testing::Values("agx-orin", "orin-nano", "tx2"),
                         [](const auto& board) {
                           std::string name = board.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace ridgeline::testing
