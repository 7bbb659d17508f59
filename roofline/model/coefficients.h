// Coefficients: the parameters of a MachineModel as plain numbers, arranged for the formulas and
// looked up by name once. Each draw and each step of a fit has its own.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/machine_model.h"
#include "base/parameters.h"
#include "base/runtime.h"
#include "base/tokens.h"
#include "roofline/model/network_load.h"

namespace ridgeline {

inline constexpr std::size_t dtype_count = TokenTable<DType>::rows.size();
constexpr std::size_t index_of(DType dtype) { return static_cast<std::size_t>(dtype); }
constexpr std::size_t index_of(KernelKind kind) { return static_cast<std::size_t>(kind); }

// Arithmetic of the processor: operations per unit (SM or core) and clock, and the share that the
// library's kernels reach.
struct Engine {
  std::array<double, dtype_count> matrix_rate{};    // 0: no such unit
  std::array<double, dtype_count> wide_sum_rate{};  // with fp32 sums; 0: as matrix_rate
  std::array<double, dtype_count> vector_rate{};
  std::array<double, dtype_count> convolution_efficiency{};
  std::array<double, dtype_count> matmul_efficiency{};
  std::array<double, dtype_count> attention_efficiency{};
  std::array<double, kernel_kinds> elements_per_clock{};  // of one unit; 0: not limited
  std::array<double, kernel_kinds> kernel_clocks{};       // fixed cost of a kernel
  double further_kernel_clocks = 0;  // for each launch of a node after the first
  double cache_bytes = 0;            // where activations may stay
  double cached_traffic = 1;         // share of their bytes that still goes to memory then
  double overlap = 0;                // of arithmetic and memory traffic within a kernel
  double gradient_efficiency = 1;    // of a convolution's gradients over the convolution's own
  double wide_sum_efficiency = 1;    // share of wide_sum_rate that products reach at most
  double layout_conversion = 0;      // share of activations converted to NHWC and back
  double activations_per_clock = 0;  // elements of one unit, of an activation function alone
  double reformats_per_clock = 0;    // of an image converted to the library's layout; 0: free
  double matmul_padding = 1;         // upper limit of tile over useful arithmetic of a product
  double convolution_padding = 1;
};

// Host work per node, in clocks of one core.
struct Host {
  std::array<double, kernel_kinds> node_clocks{};
  double function_clocks = 0;  // a call that launches nothing
  double module_clocks = 0;
  double further_launch = 0;  // share of a node's clocks for each launch after the first
  double step_clocks = 0;     // once per inference or training step
  double graph_s = 0;         // launch of a captured graph …
  double graph_node_s = 0;    // … and of each of its nodes
  double default_hz = 0;      // if the operating point has no CPU clock
  // If host and device take about equally long, neither hides the other fully: the p-norm replaces
  // the larger of the two.
  double pipeline_exponent = 0;  // 0: fully hidden
  // From run to run the host is either fast or slow; its clocks above are the geometric mean.
  double slow_share = 0;   // of the runs
  double slow_factor = 1;  // time of a slow run over that of a fast one
  // One node at a time: share of the host's work before the launch, the stall if the GPU waits
  // longer than `stall_gap_s`, and how sharply it sets in.
  double before_launch = 1;
  double stall_s = 0;
  double stall_gap_s = 0;
  double stall_spread_s = 1;
  // The governor keeps the load at a target and counts the time between nodes as idle.
  double target_load = 1;
  double untimed_s = 0;
  double floor_hz = 0;
};

// Power in watts, and energy in joules at the highest voltage.
struct Power {
  bool known = false;
  double static_w = 0;
  double soc_w = 0;                // on the rail whose voltage follows the memory clock, at its top
  double joule_per_peak_byte = 0;  // background of the memory clock, on the same rail
  double soc_voltage_floor = 1;    // relative to the voltage at the top memory clock
  double memory_top_hz = 0;
  std::vector<std::pair<double, double>> idle_by_clock;  // (hz, W), ascending; else static_w
  double cpu_idle_joule = 0;                             // per core and clock
  double cpu_busy_joule = 0;
  double cpu_voltage_floor = 1;  // relative to the voltage at the top clock
  double cpu_top_hz = 0;
  double idle_joule = 0;  // per unit (SM) and clock
  double busy_joule = 0;
  std::array<double, dtype_count> matrix_joule{};  // per operation
  double other_joule = 0;                          // per operation outside products
  double byte_joule = 0;
  double voltage_floor = 1;  // relative to the voltage at the top clock
  double knee_hz = 0;
  double top_hz = 0;
  std::vector<std::pair<double, double>>
      voltage_by_clock;  // (hz, ratio), ascending; else the above
  double offset_w = 0;
  double wall_offset_w = 0;
  double wall_loss = 0;         // of the supply, as a share of what it delivers
  std::optional<double> cap_w;  // enforced by the board itself
  double cap_share = 1;         // mean power that the control of a cap settles at
  // Leakage grows with temperature: by this share from idle to the cap, as far as idle power
  // depends on the clock, that is on the voltage.
  double leakage_heating = 0;
};

// Factors on the time of kernels that no measurement covers; 1 for all others.
struct UnfamiliarScales {
  std::array<double, subject_count> subject;
  std::array<double, dtype_count> dtype;  // of products
  UnfamiliarScales() {
    subject.fill(1);
    dtype.fill(1);
  }
};

struct Coefficients {
  Processor processor = Processor::gpu;  // runs the network
  Engine engine;
  Host host;
  Power power;
  double bus_bytes_per_clock = 0;  // memory peak = this × memory clock
  double memory_bytes_per_s = 0;   // measured or stated, if there is no memory clock
  double dram_efficiency = 1;
  double dram_bytes_per_clock = 0;  // limit of the bandwidth by the GPU clock; 0: none
  // Deviation of one network from the formulas: its kernels and its host work.
  double kernel_scale = 1;
  double host_scale = 1;
  UnfamiliarScales unfamiliar;
  double time_error = 0;  // from run to run, one sigma of the logarithm
  double mode_error = 0;  // of the ratio of times in two modes
  double power_error = 0;
};

// Prefix of a runtime's own parameters ("torch"); empty if it has none.
std::string_view library_of(Runtime runtime);

// The parameters of a model by name, looked up once for many draws of their values.
class ParameterIndex {
 public:
  explicit ParameterIndex(const MachineModel& model);  // must outlive the index

  const std::string& device() const { return *device_; }
  // Throws an Error if no model can have a parameter of that name.
  std::optional<std::size_t> find(std::string_view name) const;
  // Families that are read as a whole: each member with its index.
  const std::vector<std::pair<RateName, std::size_t>>& rates() const { return rates_; }
  const std::vector<std::pair<double, std::size_t>>& idle_hz() const { return idle_hz_; }
  const std::vector<std::pair<double, std::size_t>>& voltage_hz() const { return voltage_hz_; }

 private:
  const std::string* device_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::vector<std::pair<RateName, std::size_t>> rates_;
  std::vector<std::pair<double, std::size_t>> idle_hz_, voltage_hz_;
};

// Values in the order of the model's parameters: means, or a draw of them.
Coefficients coefficients(const ParameterIndex& names, std::span<const double> values,
                          Runtime runtime);
Coefficients coefficients(const MachineModel& model, Runtime runtime);

// Relative voltage of the GPU at a clock: of its table, if clocks were measured one by one, and
// flat below and straight on above it; else flat up to the knee, then a line to 1 at the top.
double relative_voltage(const Power& power, double hz);

// Relative voltage of the SoC rail at a memory clock: flat up to two thirds of the top clock, then
// a line to 1.
double soc_voltage(const Power& power, double memory_hz);

}  // namespace ridgeline
