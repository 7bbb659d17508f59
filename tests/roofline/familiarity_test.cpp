// What no measurement covers: which kernels that is, how far it widens an interval, and how an
// answer names it.
#include "roofline/model/familiarity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/lowering/kernel_trait.h"
#include "base/error.h"
#include "base/parameters.h"
#include "roofline/model/fit.h"
#include "roofline/model/host_cpu.h"
#include "roofline/model/predict.h"
#include "roofline/model/unfamiliar_time.h"
#include "tests/base/error_line.h"
#include "tests/roofline/modelled.h"

namespace ridgeline::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view orin_device = "jetson-agx-orin-64gb";
constexpr std::string_view a100_device = "a100-40gb-pcie";

Conditions conditions_of(std::string_view device, Runtime runtime) {
  Conditions conditions;
  const catalog::Device entry = catalog::load(device);
  conditions.point = default_mode(entry, catalog::configuration(entry)).point;
  conditions.runtime = runtime;
  return conditions;
}

Prediction predicted(std::string_view device, const NetworkLoad& load) {
  PredictOptions options;
  options.rows = RowDetail::none;
  return predict(model_of(device), load, conditions_of(device, load.runtime), options);
}

double half_width(const Estimate& estimate) {
  return (estimate.high - estimate.low) / 2 / estimate.value;
}

std::set<KernelTrait> traits_of(std::string_view name, std::string_view options = "",
                                Runtime runtime = Runtime::torch_eager) {
  WorkloadOptions chosen = parse_options(options);
  std::set<KernelTrait> traits;
  for (const Demand& demand : lower(build_workload(name, chosen), runtime))
    traits.insert(demand.trait);
  return traits;
}

NetworkLoad of_kernels(Runtime runtime, const std::vector<KernelTrait>& traits) {
  std::vector<Demand> demands;
  for (const KernelTrait trait : traits) {
    Demand demand;
    demand.name = "kernel" + std::to_string(demands.size());
    demand.kind = KernelKind::elementwise;
    demand.trait = trait;
    add_flop(demand.work, Unit::vector, DType::fp16, 1e9);
    demand.work.bytes_read = demand.work.bytes_written = 1e9;
    demands.push_back(demand);
  }
  return network_load(demands, runtime);
}

TEST(Familiarity, TablesAreComplete) {
  std::set<Subject> subjects;
  for (const UnfamiliarRow& row : unfamiliar_rows()) {
    EXPECT_TRUE(subjects.insert(row.subject).second) << to_string(row.subject);
    EXPECT_GT(row.sigma, 0);
    EXPECT_FALSE(row.text.empty());
    EXPECT_NE(find_parameter_row(unfamiliar_parameter(row.subject)), nullptr);
  }
  EXPECT_EQ(subjects.size(), subject_count);
  for (const TaughtRow& row : taught_rows()) {
    EXPECT_TRUE(parse_token<Subject>(row.what) || parse_token<DType>(row.what)) << row.what;
    EXPECT_FALSE(row.origin.empty()) << row.what;
  }
}

TEST(Familiarity, LoweringReportsTraits) {
  for (const Runtime runtime : {Runtime::torch_eager, Runtime::tensorrt})
    EXPECT_TRUE(traits_of("swin_t", "batch=2", runtime).count(KernelTrait::window_attention));
  EXPECT_TRUE(traits_of("unet").count(KernelTrait::transposed));
  for (const char* plain : {"resnet50", "vit_b_32", "mobilenet_v3_large", "yolov8n"})
    EXPECT_EQ(traits_of(plain), std::set{KernelTrait::plain}) << plain;
  for (const char* attention : {"fused", "eager"})
    for (const Runtime runtime : {Runtime::torch_eager, Runtime::tensorrt})
      EXPECT_EQ(traits_of("opt-1.3b", std::string("batch=2;attention=") + attention, runtime),
                std::set{KernelTrait::plain});
}

TEST(Familiarity, TraitsOfOps) {
  const auto trait_of = [](const Op& op, std::string origin = "") {
    Graph graph;
    graph.tensors.resize(1);
    graph.tensors[0].shape = {1, 8, 8, 8};
    Layer layer;
    layer.origin = std::move(origin);
    layer.parts = {{op, DType::fp32}};
    layer.outputs = {0};
    return kernel_trait(graph, layer, 1);
  };
  Convolution convolution;
  convolution.in_channels = convolution.out_channels = 32;
  convolution.kernel = {3, 3};
  EXPECT_EQ(trait_of(convolution), KernelTrait::plain);
  convolution.groups = 32;
  EXPECT_EQ(trait_of(convolution), KernelTrait::plain);  // depthwise, a kind of its own
  convolution.groups = 4;
  EXPECT_EQ(trait_of(convolution), KernelTrait::grouped);
  convolution.kernel = {3, 3, 3};
  EXPECT_EQ(trait_of(convolution), KernelTrait::volumetric);
  convolution.deformable = true;
  EXPECT_EQ(trait_of(convolution), KernelTrait::deformable);
  EXPECT_EQ(trait_of(Resize{}, "Resize"), KernelTrait::plain);
  EXPECT_EQ(trait_of(Resize{}, "com.microsoft.GridSample"), KernelTrait::grid_sample);
  EXPECT_EQ(trait_of(Resize{}, "RoiAlign"), KernelTrait::region_align);
  EXPECT_EQ(trait_of(Sort{}), KernelTrait::sort);
  EXPECT_EQ(trait_of(FourierTransform{}), KernelTrait::fourier);
  EXPECT_EQ(trait_of(Scatter{}), KernelTrait::scatter);
}

// The same kernels, one of three of a kind that no row has: the value stays, the interval is wider
// by about a third of what it would be if all were unfamiliar.
TEST(Familiarity, IntervalWidensByTheShareThatIsUnfamiliar) {
  const Runtime runtime = Runtime::cuda_graph;  // no host that hides kernels
  using enum KernelTrait;
  const auto time_of = [&](const std::vector<KernelTrait>& traits) {
    return predicted(orin_device, of_kernels(runtime, traits)).time_s;
  };
  const Estimate none = time_of({plain, plain, plain});
  const Estimate third = time_of({plain, plain, fourier});
  const Estimate all = time_of({fourier, fourier, fourier});
  EXPECT_DOUBLE_EQ(third.value, none.value);
  EXPECT_DOUBLE_EQ(all.value, none.value);
  EXPECT_GT(half_width(third), half_width(none));
  EXPECT_GT(half_width(all), 2 * half_width(third));
  // One factor for all kernels of a kind: two kinds average out, one does not.
  EXPECT_LT(half_width(time_of({fourier, sort, grid_sample})), half_width(all));
}

// The draws of all other parameters stay as they were.
TEST(Familiarity, TaughtKernelsKeepTheirInterval) {
  const NetworkLoad load = load_of("resnet50", Runtime::torch_eager, 8);
  const MachineModel model = model_of(orin_device);
  MachineModel bare = model;
  for (const UnfamiliarRow& row : unfamiliar_on(std::string(orin_device)))
    set_parameter(bare, {unfamiliar_parameter(row.subject), 1, Source::assumed});
  const Conditions conditions = conditions_of(orin_device, load.runtime);
  EXPECT_EQ(predict(model, load, conditions).time_s, predict(bare, load, conditions).time_s);
}

TEST(Familiarity, AnswersNameIt) {
  const auto named = [](std::string_view device, const NetworkLoad& load) {
    std::string all;
    for (const std::string& text : texts(predicted(device, load).unfamiliar)) all += text + "\n";
    return all;
  };
  EXPECT_THAT(named(orin_device, load_of("resnet50", Runtime::torch_eager, 8)), IsEmpty());
  EXPECT_THAT(named(orin_device, load_of("vit_b_32", Runtime::torch_eager, 64)),
              HasSubstr("no measurement covers the rate of fused attention with torch-eager on "
                        "Jetson boards"));
  EXPECT_THAT(named(orin_device, load_of("resnet50", Runtime::onnxruntime, 8)),
              HasSubstr("kernels of onnxruntime on Jetson boards"));
  EXPECT_THAT(named("h100-80gb-sxm", load_of("resnet50", Runtime::torch_eager, 64)),
              HasSubstr("kernels on Hopper GH100"));
  EXPECT_THAT(named(a100_device, load_of("resnet50", Runtime::torch_eager, 64, "int8")),
              HasSubstr("products in int8 with torch-eager on graphics cards"));
  EXPECT_THAT(named(orin_device, load_of("yolov8n", Runtime::tensorrt, 1, "int8")),
              HasSubstr("int8 layers with few channels"));
  EXPECT_THAT(named(a100_device, load_of("mobilenet_v2", Runtime::torch_eager, 1)),
              HasSubstr("the server's host CPU (give --host-cpu)"));
  EXPECT_THAT(named(a100_device, load_of("resnet50", Runtime::ideal, 1)), IsEmpty());
}

// Rows with the kernels in question teach their rate: the scale moves, and less is unknown.
TEST(Familiarity, AFitTeachesIt) {
  using enum KernelTrait;
  const NetworkLoad load = of_kernels(Runtime::cuda_graph, {fourier, fourier, fourier});
  const NetworkLoad other = of_kernels(Runtime::cuda_graph, {plain, plain, plain});
  const Conditions conditions = conditions_of(orin_device, load.runtime);
  const MachineModel prior = model_of(orin_device);
  constexpr double slower = 1.8;
  std::vector<Observation> rows;
  std::vector<const NetworkLoad*> loads;
  for (const NetworkLoad* each : {&load, &other}) {
    Observation row;
    row.device = orin_device;
    row.conditions = conditions;
    row.time_s = predict(prior, *each, conditions, {.draws = 0}).time_s.value;
    if (each == &load) row.time_s *= slower;
    // Of one network alone, most of it would count as that network's own.
    for (int i = 0; i < 16; ++i) {
      row.network = (each == &load ? "fourier" : "plain") + std::to_string(i);
      rows.push_back(row);
      loads.push_back(each);
    }
  }
  const MachineModel fitted = fit(prior, rows, loads).model;
  EXPECT_GT(mean_of(fitted, unfamiliar_parameter(Subject::fourier)), 1.4);
  const auto before = predict(prior, load, conditions).unfamiliar;
  ASSERT_THAT(before, ::testing::SizeIs(1));
  for (const Unfamiliar& after : predict(fitted, load, conditions).unfamiliar)
    EXPECT_LT(std::log(after.factor), 0.8 * std::log(before.front().factor));
}

TEST(HostCpu, NamesAndFactors) {
  EXPECT_DOUBLE_EQ(host_cpu_factor("0.8"), 0.8);
  EXPECT_DOUBLE_EQ(host_cpu_factor("EPYC 7742"), 1);
  EXPECT_DOUBLE_EQ(host_cpu_factor("xeon 8480"), host_cpu_factor("Intel Xeon Platinum 8480+"));
  EXPECT_NEAR(host_cpu_factor("EPYC 9654"), 3.7 / 3.4 * 1.19 * 1.13, 0.02);  // clock, Zen 3, Zen 4
  EXPECT_THAT(error_line([] { host_cpu_factor("Pentium"); }),
              HasSubstr("--host-cpu Pentium: is not a CPU that ridgeline knows"));
  EXPECT_THAT(error_line([] { host_cpu_factor("EPYC"); }), HasSubstr("fits several CPUs"));
  for (const char* wrong : {"0", "-1", "1e9", "nan"})
    EXPECT_NE(error_line([&] { host_cpu_factor(wrong); }), "no error") << wrong;
}

TEST(HostCpu, AGivenHostIsFasterAndNarrower) {
  const NetworkLoad load = load_of("mobilenet_v2", Runtime::torch_eager, 1);
  const Conditions conditions = conditions_of(a100_device, load.runtime);
  MachineModel model = model_of(a100_device);
  const Estimate unknown = predict(model, load, conditions).time_s;
  EXPECT_GT(half_width(unknown), 0.4);
  set_host_cpu(model, "2");
  const Prediction known = predict(model, load, conditions);
  EXPECT_LT(known.time_s.value, 0.7 * unknown.value);
  EXPECT_LT(half_width(known.time_s), 0.8 * half_width(unknown));
  EXPECT_THAT(known.unfamiliar, IsEmpty());
  MachineModel board = model_of(orin_device);
  EXPECT_THAT(error_line([&] { set_host_cpu(board, "2"); }),
              HasSubstr("only graphics cards have a host of their own"));
}

// Shares are of the whole time: one of three equal kernels, all of them, or a host that is slow.
TEST(Familiarity, TheShareIsThatOfTheUnfamiliarKernels) {
  using enum KernelTrait;
  const auto share = [](const std::vector<KernelTrait>& traits) {
    const auto found = predicted(orin_device, of_kernels(Runtime::cuda_graph, traits)).unfamiliar;
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? 0 : found.front().time_share;
  };
  EXPECT_NEAR(share({plain, plain, fourier}), 1.0 / 3, 0.02);
  EXPECT_NEAR(share({plain, fourier, fourier}), 2.0 / 3, 0.02);
  EXPECT_NEAR(share({fourier, fourier, fourier}), 1, 0.02);
}

// 90 % of a log-normal lie within 1.645 sigma, and the largest share comes first.
TEST(Familiarity, NamesTheFactorAndTheLargestShareFirst) {
  using enum KernelTrait;
  const auto found =
      predicted(orin_device, of_kernels(Runtime::cuda_graph, {sort, fourier, fourier})).unfamiliar;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].what, HasSubstr("Fourier"));
  EXPECT_NEAR(found[0].factor, std::exp(1.645 * 0.6), 1e-3);
  EXPECT_THAT(found[1].what, HasSubstr("sorting"));
  EXPECT_NEAR(found[1].factor, std::exp(1.645 * 0.7), 1e-3);
}

}  // namespace
}  // namespace ridgeline::testing
