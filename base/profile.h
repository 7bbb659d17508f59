// Profile: rows that were measured on one machine, per mode, with their conditions.
// A record: it is written once and never edited; models are fitted from it elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/estimate.h"
#include "base/json_fwd.h"
#include "base/machine.h"
#include "base/operating_point.h"
#include "base/tokens.h"

namespace ridgeline {

// A peak that was held for some seconds. What counts is the second half of the time, when heat and
// power caps have had their say.
struct Sustained {
  double seconds = 0;
  std::optional<Estimate> rate;  // in the unit of its row
  std::optional<double> first_clock_hz{}, last_clock_hz{};
  std::optional<double> first_temperature_c{}, last_temperature_c{};
  std::optional<double> power_w{};  // median

  friend bool operator==(const Sustained&, const Sustained&) = default;
};

// Rates are absent where status is `unsupported`; `note` then says why.
struct ComputeRow {
  Processor processor = Processor::cpu;
  std::string kernel;  // name in the kernel table: "fma_avx512_fp32"
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  std::string isa;  // "avx512f"
  int threads = 1;
  Status status = Status::ok;
  std::string note;                            // reason or warning; empty when all is well
  std::optional<Estimate> flops_per_s;         // OP/s for integer dtypes
  std::optional<Estimate> theory_flops_per_s;  // ports × width × probed clock; absent = unknown
  std::optional<Estimate> clock_hz;            // probed under the same load
  bool sparse = false;  // 2:4 structured sparsity; rates count the dense product it stands for
  // False: another instruction of this processor is faster, so this rate is no ceiling of it.
  bool roof = true;
  std::optional<Sustained> sustained{};  // absent where it was not held
  std::optional<Estimate> power_w{};     // of the machine at this rate, where it was measured

  friend bool operator==(const ComputeRow&, const ComputeRow&) = default;
};

struct MemoryRow {
  Processor processor = Processor::cpu;
  std::string kernel;  // "read_avx512"
  Level level = Level::dram;
  Direction direction = Direction::read;
  std::string isa;
  int threads = 1;
  Status status = Status::ok;
  std::string note;
  std::optional<Estimate> bytes_per_s;         // requested bytes; write-allocate is not counted
  std::optional<Estimate> theory_bytes_per_s;  // load ports × width × probed clock (L1 read)
  std::optional<Estimate> clock_hz;
  std::uint64_t working_set_bytes = 0;  // of all threads together
  std::string allocation{};  // of a GPU's DRAM row: "device", "pinned" or "managed"; else empty
  std::optional<Sustained> sustained{};  // absent where it was not held

  friend bool operator==(const MemoryRow&, const MemoryRow&) = default;
};

// DRAM loads with n FMA per element: measured points along the roof.
struct SweepRow {
  Processor processor = Processor::cpu;
  std::string kernel;
  DType dtype = DType::fp32;
  int threads = 1;
  int fma_per_element = 0;
  double flop_per_byte = 0;
  Status status = Status::ok;
  std::string note;
  std::optional<Estimate> flops_per_s;
  std::optional<Estimate> bytes_per_s;
  std::uint64_t working_set_bytes = 0;
  std::optional<Estimate> power_w{};  // of the machine while it ran; absent without a sensor

  friend bool operator==(const SweepRow&, const SweepRow&) = default;
};

// One step of the latency ladder: dependent loads over a working set.
struct LatencyRow {
  Processor processor = Processor::cpu;
  std::string kernel;
  std::optional<Level> level;  // the smallest level that holds the working set
  std::uint64_t working_set_bytes = 0;
  Status status = Status::ok;
  std::string note;
  std::optional<Estimate> time_s;  // per load

  friend bool operator==(const LatencyRow&, const LatencyRow&) = default;
};

// Cost of starting work: fork and join of a bound thread team on a CPU, kernel launches on a GPU.
struct LaunchRow {
  Processor processor = Processor::cpu;
  std::string kind;  // "fork_join"
  int threads = 1;
  Status status = Status::ok;
  std::string note;
  std::optional<Estimate> time_s;
  std::optional<Estimate> clock_hz{};  // of the core that launched, where it was probed

  friend bool operator==(const LaunchRow&, const LaunchRow&) = default;
};

// Copies between host and device memory by the copy engines.
struct TransferRow {
  Processor processor = Processor::gpu;
  std::string kind;         // "host_to_device", "device_to_host" or "both"
  std::string host_memory;  // "pinned" or "pageable"
  std::uint64_t bytes = 0;  // of one copy
  Status status = Status::ok;
  std::string note;
  std::optional<Estimate> bytes_per_s;

  friend bool operator==(const TransferRow&, const TransferRow&) = default;
};

// Reads of files past the page cache.
struct StorageRow {
  std::string pattern;     // "sequential": one long file; "samples": small files, any order
  std::string filesystem;  // "ext4"
  std::string medium;      // what the system says of the device: "ssd"; empty if unknown
  int readers = 1;         // at once
  std::uint64_t bytes_per_read = 0;  // of one block, or of one small file
  Status status = Status::ok;
  std::string note;
  std::optional<Estimate> bytes_per_s;  // of all readers together

  friend bool operator==(const StorageRow&, const StorageRow&) = default;
};

// Decoding of one training sample by one core.
struct DecodeRow {
  std::string format;   // "jpeg"
  std::string library;  // "libjpeg-turbo 2.1.5"
  int width = 0;
  int height = 0;
  std::uint64_t bytes = 0;  // of one encoded sample
  int threads = 1;          // that decode at once, each its own samples
  Status status = Status::ok;
  std::string note;
  std::optional<Estimate> time_s;    // of one sample on one core
  std::optional<Estimate> clock_hz;  // probed under the same load

  friend bool operator==(const DecodeRow&, const DecodeRow&) = default;
};

// Fitted from an intensity sweep with power: E = joule_per_flop·W + joule_per_byte·Q + power·T.
struct EnergyFitRow {
  Processor processor = Processor::cpu;
  std::string kernel;
  DType dtype = DType::fp32;
  std::string sensor;  // "INA3221 VDD_GPU_SOC", "NVML"
  Status status = Status::ok;
  std::string note;
  std::optional<Estimate> joule_per_flop;
  std::optional<Estimate> joule_per_byte;  // of DRAM
  std::optional<Estimate> constant_power_w;

  friend bool operator==(const EnergyFitRow&, const EnergyFitRow&) = default;
};

struct Warning {
  std::string text;  // "other load: 'stress' used 48 % of the measured cores"
  std::string fix;   // one line: what to do about it; may be empty

  friend bool operator==(const Warning&, const Warning&) = default;
};

// Whether a run can be trusted as a whole: see judge_run() in kernels/run_verdict.h.
enum class RunState { quiet, disturbed };

template <>
struct TokenTable<RunState> {
  static constexpr std::string_view noun = "state of a run";
  static constexpr std::array<std::pair<RunState, std::string_view>, 2> rows{
      {{RunState::quiet, "quiet"}, {RunState::disturbed, "disturbed"}}};
};

struct RunVerdict {
  RunState state = RunState::quiet;
  std::string reason;  // "other processes took 38 % of the CPU"
  std::string fix;     // "close them and measure again"; empty when quiet

  friend bool operator==(const RunVerdict&, const RunVerdict&) = default;
};

// Rows by what is wrong with them; the rows' own notes say what.
struct RowTally {
  int judged = 0;     // measured rows but those of launch costs, which scatter by nature
  int noisy = 0;      //
  int drifted = 0;    //
  int throttled = 0;  //
  int unsteady = 0;   // too far off to be believed: see Verdict::unsteady
  int left_out = 0;   // the time budget was too short for them
  int cut_short = 0;  // too short to try all of their launch shapes

  friend bool operator==(const RowTally&, const RowTally&) = default;
};

// What was seen of a GPU around its kernels; what no instrument reports is absent.
struct GpuConditions {
  std::optional<double> load_before;  // share of the time, by other programs
  std::optional<double> first_temperature_c, highest_temperature_c;
  int other_processes = 0;                // that used CUDA on it
  std::uint64_t over_current_events = 0;  // of a Jetson, during the run
  std::string held_by;                    // what held the clock down: "power cap, heat"

  friend bool operator==(const GpuConditions&, const GpuConditions&) = default;
};

// A knob of the mode: what was asked for, and what the system showed while the kernels ran.
struct KnobCondition {
  std::string knob;                       // "gpu", "emc", "cpu", "cores": as a mode names it
  std::optional<double> asked{};          // hertz, or a number of cores; absent: as found
  std::optional<double> lowest, highest;  // read back, over the run
  std::string governor{};                 // of a clock; empty where the system names none
  bool held = false;                      // its lower limit equals its upper one

  friend bool operator==(const KnobCondition&, const KnobCondition&) = default;
};

// Something that slows a machine down, and how often it was seen; 0 is a statement, too.
struct ThrottleCount {
  std::string kind;  // counters "oc1" to "oc3"; looks with "trip_point" reached or "clock_fell"
  std::uint64_t count = 0;

  friend bool operator==(const ThrottleCount&, const ThrottleCount&) = default;
};

// What the system showed around the kernels; what it does not show is absent.
struct SystemConditions {
  std::vector<KnobCondition> knobs;
  std::optional<double> fan_lowest{}, fan_highest{};  // share of full duty
  std::optional<double> fan_rpm{};                    // highest
  std::optional<double> coolest_c{}, hottest_c{};     // of the hottest zone, over the run
  std::optional<double> trip_c{};                     // where the kernel starts to slow it down
  std::vector<ThrottleCount> throttling{};
  std::string busiest_process{};  // of others: "'stress' (pid 4711)"; empty if none was noticed

  friend bool operator==(const SystemConditions&, const SystemConditions&) = default;
};

struct MeasuringConditions {
  std::string started;  // ISO 8601, UTC
  double duration_s = 0;
  bool complete = true;  // false after Ctrl-C
  int rounds = 0;        // interleaved repetitions that count
  int rejected_rounds = 0;
  bool disturbed = false;     // too few quiet rounds: disturbed ones had to be counted
  std::string governor;       // CPU frequency governor; empty where the system has none
  double steal_fraction = 0;  // of the measured cores' time, taken by a hypervisor
  double other_fraction = 0;  // of the measured cores' time, used by other processes
  std::vector<Warning> warnings;
  RowTally rows{};
  std::optional<RunVerdict> verdict{};       // absent in profiles of older versions
  std::optional<GpuConditions> gpu{};        // absent for CPUs and without instruments
  std::optional<SystemConditions> system{};  // absent in profiles of older versions

  friend bool operator==(const MeasuringConditions&, const MeasuringConditions&) = default;
};

// How a machine is idle.
enum class IdleState {
  locked,    // clocks held as for the kernels
  governor,  // clocks capped by the mode, and the governors lower them
  suspended  // the GPU's rail is cut: no program has it open
};

template <>
struct TokenTable<IdleState> {
  static constexpr std::string_view noun = "idle state";
  static constexpr std::array<std::pair<IdleState, std::string_view>, 3> rows{
      {{IdleState::locked, "locked"},
       {IdleState::governor, "governor"},
       {IdleState::suspended, "suspended"}}};
};

// Power of the machine in a mode while nothing runs.
struct IdleRow {
  IdleState state = IdleState::locked;
  Estimate power_w;
  std::optional<double> gpu_hz{}, memory_hz{};  // that the system showed then

  friend bool operator==(const IdleRow&, const IdleRow&) = default;
};

struct ProfileMode {
  OperatingPoint mode;
  MeasuringConditions conditions;
  std::vector<ComputeRow> compute;
  std::vector<MemoryRow> memory;
  std::vector<SweepRow> sweep;
  std::vector<LatencyRow> latency;
  std::vector<LaunchRow> launch;  // "launch": {"fork_join": [...]} in JSON, keyed by kind
  std::vector<TransferRow> transfer;
  std::vector<StorageRow> storage;
  std::vector<DecodeRow> decode;
  std::vector<EnergyFitRow> energy;      // empty without a power sensor
  std::optional<Estimate> idle_power_w;  // between the kernels, clocks as they were for them
  std::vector<IdleRow> idle{};           // by state; of a sweep over modes with a power sensor

  friend bool operator==(const ProfileMode&, const ProfileMode&) = default;
};

struct Profile {
  static constexpr std::string_view schema = "ridgeline.profile/1";
  std::string tool;  // "ridgeline 0.1.0"
  Machine machine;
  std::vector<ProfileMode> modes;

  friend bool operator==(const Profile&, const Profile&) = default;
};

// Why the machine was disturbed during the run; empty if it was quiet or was never judged.
std::string disturbance(const MeasuringConditions& conditions);

// The mode of that label; if there is none, a usage error that names the option.
const ProfileMode& named_mode(const Profile& profile, const std::string& label, const char* option);

Json to_json(const Profile& profile);
Profile profile_from_json(const JsonCursor& cursor);

// Reads and checks a whole file; an Error names the file and the JSON path of what is wrong.
Profile load_profile(const std::string& path);
// Writes beside the target and renames.
void save_profile(const Profile& profile, const std::string& path);

}  // namespace ridgeline
