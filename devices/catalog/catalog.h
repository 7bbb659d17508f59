// The device catalog: datasheet rates and power modes of each device, as data with sources.
// mode_space.h makes clock vectors of the modes; measured rates are in a Profile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "base/mode_request.h"
#include "base/tokens.h"

namespace ridgeline::catalog {

enum class Kind { jetson, gpu, cpu };  // a module · a graphics card · a processor without either

// How far a source can be trusted, from the maker's own word down to our reasoning: inferred
// follows from stated numbers by arithmetic, assumed is an analogy.
enum class Confidence { vendor, measured, fitted, stated, inferred, assumed };

enum class RailRole { total, gpu, cpu, soc, memory, input, part };

// Where a number comes from. A number without one is not in the catalog.
struct Reference {
  std::string id;     // within the file: "orin-brief"
  std::string title;  // document, table or thread
  std::string url;    // empty where there is none
  Confidence confidence = Confidence::stated;
  std::string note;  // how the number was read or reasoned; may be empty

  friend bool operator==(const Reference&, const Reference&) = default;
};

struct Fact {
  double value = 0;
  std::string source;  // id of a Reference of the same device

  friend bool operator==(const Fact&, const Fact&) = default;
};

// Operations of one SM, core or engine per clock; a multiply-add counts two.
struct Rate {
  Unit unit = Unit::vector;
  DType dtype = DType::fp32;
  DType accumulate = DType::fp32;
  bool sparse = false;  // 2:4 structured sparsity
  Fact per_clock;
  // Where the maker counts this unit at a lower clock than the others: peaks stop there.
  std::optional<Fact> ceiling_hz;

  friend bool operator==(const Rate&, const Rate&) = default;
};

struct CacheSize {
  Level level = Level::l2;
  Fact bytes;         // of one instance
  int instances = 1;  // in the processor or cluster, all switched on

  friend bool operator==(const CacheSize&, const CacheSize&) = default;
};

struct VoltagePoint {
  double hz = 0;
  double volt = 0;  // relative to the last point where `relative` is set

  friend bool operator==(const VoltagePoint&, const VoltagePoint&) = default;
};

struct VoltageCurve {
  std::vector<VoltagePoint> points;  // ascending; the first is the floor
  bool relative = false;
  std::string source;

  friend bool operator==(const VoltageCurve&, const VoltageCurve&) = default;
};

struct GpuSpec {
  std::string architecture;             // "Ampere GA10B"
  std::string compute_capability;       // "8.7"; empty where unknown
  std::optional<Fact> multiprocessors;  // SMs that the device has, all of them on
  // TPCs that the bits of TPC_PG_MASK stand for, those that are fused off in this device included.
  // SMs on = multiprocessors_per_tpc × (mask_tpcs − bits set). Absent = the mask is not understood.
  std::optional<Fact> mask_tpcs;
  std::optional<Fact> multiprocessors_per_tpc;
  std::vector<Rate> rates;
  std::vector<CacheSize> caches;
  std::optional<VoltageCurve> voltage;

  friend bool operator==(const GpuSpec&, const GpuSpec&) = default;
};

struct CpuCluster {
  std::string core;           // "Cortex-A78AE"
  std::optional<Fact> cores;  //
  std::vector<Rate> rates;
  std::vector<CacheSize> caches;

  friend bool operator==(const CpuCluster&, const CpuCluster&) = default;
};

// How a whole CPU cluster is switched on or off.
struct ClusterSwitch {
  Reach reach = Reach::reboot;
  std::string source;

  friend bool operator==(const ClusterSwitch&, const ClusterSwitch&) = default;
};

// Deep-learning accelerators beside the GPU; all engines of a device are alike.
struct Dla {
  std::string name;  // "NVDLA 2.0"
  std::optional<Fact> engines;
  std::vector<Rate> rates;

  friend bool operator==(const Dla&, const Dla&) = default;
};

struct Memory {
  std::string technology;  // "LPDDR5"; empty where unknown
  std::optional<Fact> bytes;
  // What the system or the driver shows of it: less firmware, carve-outs, the driver's reserve.
  std::optional<Fact> visible_bytes;
  std::optional<Fact> bus_bits;
  std::optional<Fact> transfers_per_clock;  // 2 for a clock of half the data rate
  std::optional<Fact> page_cache_bytes;     // seen to hold files while a network is trained

  friend bool operator==(const Memory&, const Memory&) = default;
};

struct ClockStep {
  double hz = 0;
  std::string source;

  friend bool operator==(const ClockStep&, const ClockStep&) = default;
};

// The clocks that a knob can be locked at.
struct ClockDomain {
  std::vector<ClockStep> steps;    // ascending
  bool complete = false;           // false: the device has steps that no source states
  std::optional<Fact> ceiling_hz;  // what an unclamped knob reaches: the firmware's (BPMP) limit

  friend bool operator==(const ClockDomain&, const ClockDomain&) = default;
};

// A cap of an engine beside CPU, GPU and memory: "dla0_core", "dla1_falcon", "pva0_vps".
struct EngineClock {
  std::string name;
  double hz = 0;  // −1 = no clamp

  friend bool operator==(const EngineClock&, const EngineClock&) = default;
};

// What an engine reaches when no mode clamps it.
struct EngineCeiling {
  std::string name;
  Fact hz;

  friend bool operator==(const EngineCeiling&, const EngineCeiling&) = default;
};

// A mode as the maker's file writes it. Clocks keep −1 (no clamp) and 0 (of max memory clock: no
// cap; of a min clock: the table's lowest) as written; values may lie between two lockable steps.
struct StockMode {
  int id = 0;
  std::string name;        // "MODE_30W"
  std::vector<int> cores;  // online per cluster, in the order of Device::cpu; empty = not stated
  // Per cluster; empty where the whole cluster is offline or nothing is stated.
  std::vector<std::optional<double>> cpu_max_hz;
  std::vector<std::optional<double>> cpu_min_hz;
  std::optional<double> gpu_max_hz;
  std::optional<double> gpu_min_hz;
  std::optional<double> memory_max_hz;
  std::optional<std::uint32_t> tpc_pg_mask;
  std::optional<std::uint32_t> fbp_pg_mask;
  std::optional<int> multiprocessors;  // only where stated beside a mask that is not understood
  std::vector<EngineClock> engines;
  std::optional<double> budget_w;  // what the maker's name or manual says; no limit in hardware
  std::string source;

  friend bool operator==(const StockMode&, const StockMode&) = default;
};

// One firmware and nvpmodel generation of a device; the first of a device is the newest.
struct Configuration {
  std::string id;                     // "super", "jetpack-5.0", "boost"
  std::vector<std::string> jetpacks;  // releases that have it, newest first: {"7", "6", "5.1"}
  std::string conf_stem;              // of nvpmodel_<stem>.conf: "p3767_0003_super"
  ClockDomain gpu;
  ClockDomain memory;
  std::vector<ClockDomain> cpu;  // per cluster, in the order of Device::cpu
  std::vector<EngineCeiling> engines;
  std::optional<int> default_mode;
  // Ascending ids. Empty: no stock modes; the device runs at its ceilings within its power cap.
  std::vector<StockMode> modes;

  friend bool operator==(const Configuration&, const Configuration&) = default;
};

struct Rail {
  std::string name;  // label of the sensor: "VDD_GPU_SOC"
  RailRole role = RailRole::part;
  bool in_sum = false;  // the module's power is the sum of these; false for parts of another rail
  std::string sensor;   // "ina3221 1-0040 channel 1"
  std::string source;

  friend bool operator==(const Rail&, const Rail&) = default;
};

struct IdleReading {
  std::string what;  // conditions: "MAXN, clocks locked, four rails"
  Fact power_w;
  std::optional<double> gpu_hz;

  friend bool operator==(const IdleReading&, const IdleReading&) = default;
};

// A limit that the machine keeps by itself: power in watt, temperature in degrees Celsius.
struct Cap {
  std::string what;  // "module power", "GPU slowdown"
  Fact value;

  friend bool operator==(const Cap&, const Cap&) = default;
};

// A prior of the machine model that is not a fact of the hardware: efficiency, launch cost, energy.
struct Prior {
  std::string name;  // carries the unit: "gpu_bytes_per_clock"
  double mean = 0;
  double sigma = 0;
  std::string source;

  friend bool operator==(const Prior&, const Prior&) = default;
};

// A figure that the maker or the trade prints, against which the rates are checked.
struct Published {
  std::string quantity;  // "INT8 sparse", "DRAM"
  Processor processor = Processor::gpu;
  std::optional<Unit> unit;  // absent for memory
  std::optional<DType> dtype;
  std::optional<DType> accumulate;
  bool sparse = false;
  std::string configuration;  // id; empty = the first
  Fact per_s;                 // FLOP/s, OP/s or B/s

  friend bool operator==(const Published&, const Published&) = default;
};

struct Device {
  static constexpr std::string_view schema = "ridgeline.device/1";
  std::string id;    // "jetson-agx-orin-64gb", lower case
  std::string name;  // "NVIDIA Jetson AGX Orin 64GB"
  std::vector<std::string> aliases;
  Kind kind = Kind::gpu;
  std::string family;                     // "Jetson AGX Orin"
  std::string chip;                       // "T234"
  std::vector<std::string> device_trees;  // words of /proc/device-tree/compatible: "p3701-0005"
  std::optional<GpuSpec> gpu;
  std::vector<CpuCluster> cpu;
  std::optional<ClusterSwitch> cluster_switch;  // absent = not known: a reboot is reckoned with
  std::optional<Dla> dla;
  std::optional<Memory> memory;
  std::vector<Configuration> configurations;  // newest first, at least one
  std::vector<Rail> rails;
  std::vector<IdleReading> idle;
  std::vector<Cap> power_caps;
  std::vector<Cap> thermal_caps;
  std::vector<Prior> priors;
  std::vector<Published> published;
  std::vector<Reference> references;

  friend bool operator==(const Device&, const Device&) = default;
};

// A file of the catalog as it is compiled in; looking at a row costs no parsing.
struct IndexRow {
  std::string_view id;
  std::string_view name;
  std::span<const std::string_view> aliases;
  std::string_view text;  // the JSON document
};

std::span<const IndexRow> index();  // by id; made by cmake/Catalog.cmake

// By id or alias, ignoring case; nullptr where the catalog has no such device.
const IndexRow* find(std::string_view name);

// Parses the file of one device. An unknown name is a usage error that offers the nearest one;
// `where` names the option.
Device load(std::string_view name, const std::string& where = {});

// Whether a word names a device where a file may stand too: there is no file of that name, and it
// does not look like a path.
bool names_device(const std::string& word);

// The configuration of a JetPack release ("5", "6.2"), the newest that has it; without a release
// the newest of all. A release that the device never had is a usage error.
const Configuration& configuration(const Device& device, std::string_view jetpack = {},
                                   const std::string& where = "--jetpack");

const Reference& reference(const Device& device, std::string_view id);

Json to_json(const Device& device);
Device device_from_json(const JsonCursor& cursor);  // ids of sources are checked

}  // namespace ridgeline::catalog

namespace ridgeline {

// A device in one of its configurations.
struct KnownDevice {
  catalog::Device device;
  catalog::Configuration configuration;
};

template <>
struct TokenTable<catalog::Kind> {
  static constexpr std::string_view noun = "kind of device";
  static constexpr std::array<std::pair<catalog::Kind, std::string_view>, 3> rows{
      {{catalog::Kind::jetson, "jetson"},
       {catalog::Kind::gpu, "gpu"},
       {catalog::Kind::cpu, "cpu"}}};
};

template <>
struct TokenTable<catalog::Confidence> {
  static constexpr std::string_view noun = "confidence";
  static constexpr std::array<std::pair<catalog::Confidence, std::string_view>, 6> rows{
      {{catalog::Confidence::vendor, "vendor"},
       {catalog::Confidence::measured, "measured"},
       {catalog::Confidence::fitted, "fitted"},
       {catalog::Confidence::stated, "stated"},
       {catalog::Confidence::inferred, "inferred"},
       {catalog::Confidence::assumed, "assumed"}}};
};

template <>
struct TokenTable<catalog::RailRole> {
  static constexpr std::string_view noun = "role of a rail";
  static constexpr std::array<std::pair<catalog::RailRole, std::string_view>, 7> rows{
      {{catalog::RailRole::total, "total"},
       {catalog::RailRole::gpu, "gpu"},
       {catalog::RailRole::cpu, "cpu"},
       {catalog::RailRole::soc, "soc"},
       {catalog::RailRole::memory, "memory"},
       {catalog::RailRole::input, "input"},
       {catalog::RailRole::part, "part"}}};
};

}  // namespace ridgeline
