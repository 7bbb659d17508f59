// A kernel is launched once for its time and then as often as its metrics need passes.
// Sets in DRAM are walked through until what stays in L2 in the end is a few percent of it.
#include "kernels/cuda/verify_counters.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ridgeline::cuda {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t least_counted_array = 256 * mib;
constexpr double walked_per_l2 = 32;  // bytes through DRAM, at least, over those of L2
constexpr std::uint32_t trips = 64;   // of kernels that stay on the chip

bool from_dram(const Kernel& kernel) {
  return kernel.role == Role::sweep || (kernel.role == Role::memory && kernel.level == Level::dram);
}

Quantity flop_quantity(const Kernel& kernel) {
  const bool matrix = kernel.unit == Unit::matrix;
  // Undocumented: whether counters include operations on zeros that sparsity skips. Instructions
  // are counted.
  if (matrix && kernel.sparse) return Quantity::tensor_instructions;
  switch (kernel.dtype) {
    case DType::fp64:
      return matrix ? Quantity::tensor_fp64 : Quantity::flop_fp64;
    case DType::tf32:
      return Quantity::tensor_tf32;
    case DType::fp16:
      return matrix ? Quantity::tensor_fp16 : Quantity::flop_fp16;
    case DType::bf16:
      return matrix ? Quantity::tensor_bf16 : Quantity::flop_fp16;
    case DType::fp8:
      return Quantity::tensor_fp8;
    case DType::fp4:
      return Quantity::tensor_instructions;
    case DType::int8:
      return matrix ? Quantity::tensor_int8 : Quantity::op_integer;
    case DType::int4:
      return Quantity::tensor_int4;
    case DType::int32:
      return Quantity::op_integer;
    default:
      return Quantity::flop_fp32;
  }
}

using Terms = std::vector<VerifiedQuantity::Term>;

// Ways to a quantity, the best first: each is a sum. CUPTI 11.8 counts no operations of tensor
// cores; instructions are as good where a kernel's shape is known.
std::vector<Terms> ways_to(Quantity quantity, const Kernel& kernel, int architecture) {
  constexpr double lanes = 32;
  std::vector<Terms> ways;
  const auto add = [&](Quantity counted, double unit) {
    Terms terms;
    for (const CounterRow* row : counters_of(counted, architecture))
      terms.push_back({row, unit * row->factor});
    if (!terms.empty()) ways.push_back(terms);
  };
  add(quantity, quantity == Quantity::op_integer ? kernel.flop_each / lanes : 1);
  // Only these have FP64 in the tensor pipe: CUPTI names its counters on GA100, GH100 and GB100.
  const bool in_pipe = kernel.dtype != DType::fp64 || architecture == 80 || architecture == 90 ||
                       architecture == 100;
  const bool by_each_warp = !kernel.ptx.starts_with("tcgen05");
  if (kernel.unit == Unit::matrix && !kernel.sparse && in_pipe && by_each_warp)
    add(Quantity::tensor_instructions, kernel.flop_each);
  return ways;
}

Setup setup_for(const Kernel& kernel, const DeviceFacts& facts, std::uint64_t elements) {
  Setup setup;
  setup.kernel = &kernel;
  setup.grid = {static_cast<std::uint32_t>(facts.multiprocessors), 128};
  setup.repeats = trips;
  if (kernel.role == Role::compute) return setup;
  const bool dram = from_dram(kernel);
  setup.set_bytes = dram                        ? elements
                    : kernel.level == Level::l2 ? std::min(facts.l2_bytes / 2, elements)
                                                : 32 * 1024;
  if (!dram) return setup;
  setup.repeats = 1;
  const double wanted = walked_per_l2 * static_cast<double>(facts.l2_bytes);
  setup.repeats =
      static_cast<std::uint32_t>(std::clamp(std::ceil(wanted / setup.bytes()), 1., 1e6));
  return setup;
}

class Verifier {
 public:
  Verifier(Gpu& gpu, ProfilerApi api) : gpu_(gpu), api_(api) {}

  VerifiedKernel run(const Kernel& kernel) {
    const DeviceFacts& facts = gpu_.facts();
    if (kernel.role != Role::compute && elements_.bytes() == 0) {
      const std::uint64_t wanted = 3 * std::max(4 * facts.l2_bytes, least_counted_array);
      elements_ = DeviceBuffer(gpu_, std::min(wanted, facts.free_bytes / 2) / mib * mib);
      fill_elements(gpu_, elements_);
    }
    VerifiedKernel result{setup_for(kernel, facts, elements_.bytes())};
    const Setup& setup = result.setup;
    const DeviceBuffer stamps(gpu_, stamp_bytes(setup.grid));
    DeviceBuffer registers;
    if (kernel.role == Role::compute) {
      registers = DeviceBuffer(gpu_, std::uint64_t{setup.grid.blocks} * setup.grid.threads *
                                         std::uint64_t(kernel.registers() * kernel.register_bytes));
      fill_registers(gpu_, setup, registers);
    }
    const DeviceBuffer& data = kernel.role == Role::compute ? registers : elements_;
    const auto launch = [&] { run_once(gpu_, setup, data, stamps); };
    launch();  // what a first launch costs, code that the driver loads among it, is in no record
    result.time_s = time_of(launch);
    result.quantities = declared_quantities(setup);
    count(result, launch);
    return result;
  }

 private:
  static std::optional<double> time_of(const std::function<void()>& launch) {
    start_kernel_times();
    try {
      launch();
    } catch (...) {
      take_kernel_times();
      throw;
    }
    const KernelTimes times = take_kernel_times();
    if (times.lost > 0 || times.kernels.size() != 1) return std::nullopt;
    return times.kernels.begin()->second.seconds;
  }

  void count(VerifiedKernel& kernel, const std::function<void()>& launch) const {
    const int architecture = gpu_.facts().architecture;
    ProfilerRequest request{.api = api_};
    const Kernel& of = *kernel.setup.kernel;
    for (const VerifiedQuantity& quantity : kernel.quantities)
      for (const Terms& way : ways_to(quantity.quantity, of, architecture))
        for (const auto& term : way) request.metrics.emplace_back(term.row->metric);
    std::vector<std::string> known;
    std::vector<double> values;
    if (!request.metrics.empty()) {
      const auto profiler = open_profiler(request);
      known = profiler->metrics();
      do {
        profiler->start();
        launch();
      } while (!profiler->stop());
      const auto ranges = profiler->values();
      if (!ranges.empty()) values = ranges.front();
    }
    for (VerifiedQuantity& quantity : kernel.quantities)
      add_up(quantity, ways_to(quantity.quantity, of, architecture), known, values);
  }

  // By the first way of which every metric was counted.
  static void add_up(VerifiedQuantity& quantity, const std::vector<Terms>& ways,
                     const std::vector<std::string>& known, const std::vector<double>& values) {
    if (ways.empty()) quantity.why = "this architecture has no metric for it";
    for (const Terms& way : ways) {
      double sum = 0;
      const bool whole = std::ranges::all_of(way, [&](const VerifiedQuantity::Term& term) {
        const auto found = std::ranges::find(known, term.row->metric);
        const auto at = static_cast<std::size_t>(found - known.begin());
        if (at >= values.size()) {
          if (quantity.why.empty())
            quantity.why = "this GPU or CUPTI has no " + std::string(term.row->metric);
          return false;
        }
        sum += term.factor * values[at];
        return true;
      });
      if (!whole) continue;
      quantity.why.clear();
      quantity.measured = sum;
      quantity.terms = way;
      return;
    }
  }

  Gpu& gpu_;
  ProfilerApi api_;
  DeviceBuffer elements_;
};

}  // namespace

double VerifiedQuantity::difference() const { return *measured / declared - 1; }

bool VerifiedQuantity::agrees() const {
  return !measured || std::abs(difference()) <= facts_of(quantity).tolerance;
}

std::vector<VerifiedQuantity> declared_quantities(const Setup& setup) {
  const Kernel& kernel = *setup.kernel;
  std::vector<VerifiedQuantity> quantities;
  if (kernel.arithmetic > 0) {
    const Quantity quantity = flop_quantity(kernel);
    const bool instructions = quantity == Quantity::tensor_instructions;
    quantities.push_back({quantity, instructions ? setup.flop() / kernel.flop_each : setup.flop()});
  }
  if (kernel.arrays == 0) return quantities;
  const double each = setup.bytes() / (kernel.loads + kernel.stores);
  if (from_dram(kernel) && kernel.direction != Direction::random) {
    if (kernel.loads > 0) quantities.push_back({Quantity::dram_read, each * kernel.loads});
    if (kernel.stores > 0) quantities.push_back({Quantity::dram_write, each * kernel.stores});
  } else {
    // A random sector may cost DRAM more than its 32 bytes; what was requested shows in L2.
    quantities.push_back({kernel.level == Level::l1       ? Quantity::l1_read
                          : kernel.level == Level::shared ? Quantity::shared_read
                                                          : Quantity::l2_read,
                          each * kernel.loads});
  }
  return quantities;
}

Verification verify_counters(Gpu& gpu, const std::vector<PlannedTrial>& plan, ProfilerApi api,
                             const std::function<bool()>& interrupted,
                             const std::function<void(double)>& progress) {
  Verification verification;
  Verifier verifier(gpu, api);
  std::set<const Kernel*> done;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    progress(static_cast<double>(i) / static_cast<double>(plan.size()));
    const Role role = plan[i].role;  // the others do no work that a counter shows
    if (!plan[i].missing.empty() ||
        (role != Role::compute && role != Role::memory && role != Role::sweep))
      continue;
    for (const Kernel* kernel : plan[i].candidates) {
      if (!done.insert(kernel).second) continue;
      if (interrupted()) {
        verification.complete = false;
        return verification;
      }
      try {
        verification.kernels.push_back(verifier.run(*kernel));
      } catch (const GpuError& error) {
        VerifiedKernel failed;
        failed.setup.kernel = kernel;
        failed.failure = error.what();
        verification.kernels.push_back(failed);
        if (error.kind() != GpuError::Kind::lost) continue;
        verification.complete = false;
        return verification;
      }
    }
  }
  return verification;
}

}  // namespace ridgeline::cuda
