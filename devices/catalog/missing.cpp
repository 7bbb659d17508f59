// The list of what an entry could say, held against what it says.
// Which dtypes a GPU computes follows from its compute capability (CUDA C++ Programming Guide).
#include "devices/catalog/missing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/parameters.h"

namespace ridgeline::catalog {
namespace {

// Compute capability × 10, from … to.
struct Capability {
  Unit unit;
  DType dtype;
  int from;
  int to;
};

constexpr int newest = 999;
constexpr Capability capabilities[] = {
    {Unit::vector, DType::fp64, 50, newest}, {Unit::vector, DType::fp32, 50, newest},
    {Unit::vector, DType::fp16, 53, newest}, {Unit::vector, DType::bf16, 80, newest},
    {Unit::vector, DType::int8, 61, 72},  // later chips have the matrix unit for it
    {Unit::matrix, DType::fp16, 70, newest}, {Unit::matrix, DType::int8, 72, newest},
    {Unit::matrix, DType::tf32, 80, newest}, {Unit::matrix, DType::bf16, 80, newest},
    {Unit::matrix, DType::fp8, 89, newest},  {Unit::matrix, DType::fp4, 100, newest},
};

int capability_times_ten(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return static_cast<int>(value * 10 + 0.5);
}

class Checklist {
 public:
  explicit Checklist(const Device& device) : device_(device) {}

  std::vector<Gap> run() {
    const bool has_gpu = device_.kind != Kind::cpu;
    if (has_gpu) need(device_.gpu.has_value(), "gpu", "everything about the GPU");
    if (device_.gpu) check(*device_.gpu);
    if (device_.kind != Kind::gpu) need(!device_.cpu.empty(), "cpu", "cores and clusters");
    check_clusters();
    if (device_.dla) check(*device_.dla);
    need(device_.memory.has_value(), "memory", "everything about the memory");
    if (device_.memory) check(*device_.memory);
    for (const Configuration& each : device_.configurations) check(each);
    check_power();
    return std::move(gaps_);
  }

 private:
  void need(bool there, const std::string& where, const std::string& what) {
    if (!there) gaps_.push_back({where, what});
  }

  static bool has_rate(const std::vector<Rate>& rates, Unit unit, DType dtype) {
    return std::any_of(rates.begin(), rates.end(),
                       [&](const Rate& rate) { return rate.unit == unit && rate.dtype == dtype; });
  }
  static bool has_level(const std::vector<CacheSize>& caches, Level level) {
    return std::any_of(caches.begin(), caches.end(),
                       [&](const CacheSize& cache) { return cache.level == level; });
  }

  void check(const GpuSpec& gpu) {
    need(!gpu.compute_capability.empty(), "gpu", "compute capability");
    need(gpu.multiprocessors.has_value(), "gpu", "number of multiprocessors");
    const int capability = capability_times_ten(gpu.compute_capability);
    for (const Capability& ability : capabilities)
      if (capability >= ability.from && capability <= ability.to)
        need(has_rate(gpu.rates, ability.unit, ability.dtype), "gpu",
             fmt::format("rate of {} {}", to_string(ability.dtype), to_string(ability.unit)));
    for (const Level level : {Level::l1, Level::shared, Level::l2})
      need(has_level(gpu.caches, level), "gpu", fmt::format("size of {}", to_string(level)));
    need(gpu.voltage.has_value(), "gpu", "voltage over clock");
    if (gpu.voltage && gpu.voltage->relative) need(false, "gpu", "voltage in volt");
  }

  // Clusters that are alike lack the same facts: listed once.
  void check_clusters() {
    for (std::size_t i = 0; i < device_.cpu.size(); ++i) {
      const CpuCluster& cluster = device_.cpu[i];
      if (i > 0 && cluster == device_.cpu[i - 1]) continue;
      const std::string where = cluster.core.empty() ? "cpu" : "cpu " + cluster.core;
      need(cluster.cores.has_value(), where, "number of cores");
      need(has_rate(cluster.rates, Unit::vector, DType::fp32), where, "rate of fp32 vector");
      for (const Level level : {Level::l1, Level::l2})
        need(has_level(cluster.caches, level), where, fmt::format("size of {}", to_string(level)));
    }
  }

  void check(const Dla& dla) {
    need(dla.engines.has_value(), "dla", "number of engines");
    need(has_rate(dla.rates, Unit::matrix, DType::int8), "dla", "rate of int8");
    need(has_rate(dla.rates, Unit::matrix, DType::fp16), "dla", "rate of fp16");
  }

  void check(const Memory& memory) {
    need(memory.bytes.has_value(), "memory", "size");
    need(memory.visible_bytes.has_value(), "memory", "size that the system or the driver shows");
    need(memory.bus_bits.has_value(), "memory", "width of the bus");
    need(memory.transfers_per_clock.has_value(), "memory", "transfers per clock");
  }

  void check(const ClockDomain& domain, const std::string& where, const std::string& clock) {
    need(!domain.steps.empty(), where, "lockable " + clock + " clocks");
    if (!domain.steps.empty() && !domain.complete)
      need(false, where,
           fmt::format("{} clocks beside the {} that are known", clock, domain.steps.size()));
    need(domain.ceiling_hz.has_value(), where, "highest " + clock + " clock");
  }

  void check(const Configuration& configuration) {
    const std::string& where = configuration.id;
    if (device_.gpu) check(configuration.gpu, where, "GPU");
    if (device_.gpu || device_.kind == Kind::jetson) check(configuration.memory, where, "memory");
    if (device_.kind != Kind::gpu) need(!configuration.cpu.empty(), where, "CPU clocks");
    for (std::size_t i = 0; i < configuration.cpu.size(); ++i)
      if (i == 0 || configuration.cpu[i] != configuration.cpu[i - 1])
        check(configuration.cpu[i], where, "CPU");
    if (device_.dla) need(!configuration.engines.empty(), where, "highest DLA clock");
    if (device_.kind == Kind::jetson) need(!configuration.modes.empty(), where, "stock modes");
    for (const StockMode& mode : configuration.modes)
      check(mode, configuration, where + ": mode " + mode.name);
  }

  void check(const StockMode& mode, const Configuration& configuration, const std::string& where) {
    need(!mode.cores.empty(), where, "cores online");
    need(mode.gpu_max_hz.has_value(), where, "GPU clock");
    need(mode.memory_max_hz.has_value(), where, "memory clock");
    // A count that is stated for one mode holds for all that have the same mask.
    const bool counted = std::any_of(
        configuration.modes.begin(), configuration.modes.end(), [&](const StockMode& other) {
          return other.multiprocessors && other.tpc_pg_mask == mode.tpc_pg_mask;
        });
    need(!mode.tpc_pg_mask || counted || (device_.gpu && device_.gpu->mask_tpcs), where,
         "multiprocessors that its mask leaves on");
  }

  void check_power() {
    if (device_.kind == Kind::jetson) need(!device_.rails.empty(), "power", "rails and sensors");
    need(!device_.idle.empty(), "power", "idle power");
    need(!device_.power_caps.empty(), "power", "power cap");
    need(!device_.thermal_caps.empty(), "power", "temperatures of throttling and shutdown");
    const auto has_prior = [&](const auto& wanted) {
      return std::any_of(device_.priors.begin(), device_.priors.end(), [&](const Prior& prior) {
        return wanted(parameter_row(prior.name, device_.id));
      });
    };
    const auto is_efficiency = [](const ParameterRow& row) {
      return row.name == families::matmul_efficiency;
    };
    const auto is_launch = [](const ParameterRow& row) {
      return row.name == "gpu_launch_cpu_clocks";
    };
    const auto is_energy = [](const ParameterRow& row) {
      return row.unit == "J/FLOP" || row.unit == "J/B";
    };
    need(has_prior(is_efficiency), "model", "efficiencies");
    need(has_prior(is_launch), "model", "cost of a launch");
    need(has_prior(is_energy), "model", "energy per operation and byte");
  }

  const Device& device_;
  std::vector<Gap> gaps_;
};

}  // namespace

std::vector<Gap> missing(const Device& device) { return Checklist(device).run(); }

}  // namespace ridgeline::catalog
