// Laws for every network and every runtime: no work is lost or added, and all savings are itemised.
// Checked on the built-in networks, in both forms of attention, and on random networks.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analyzer/count/count.h"
#include "analyzer/fusion/fusion.h"
#include "analyzer/lowering/lowering.h"
#include "analyzer/training/summary.h"
#include "tests/analyzer/lowered.h"
#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

std::vector<Runtime> runtimes() {
  std::vector<Runtime> all;
  for (const auto& [runtime, name] : TokenTable<Runtime>::rows) all.push_back(runtime);
  return all;
}

// The first law that fails; empty if all hold.
std::string broken_law(const Graph& graph, Runtime runtime) {
  const std::vector<Demand> demands = lower(graph, runtime);
  const Work whole = work_of(graph), lowered = work_of(demands);
  if (demands != lower(graph, runtime)) return "differs from time to time";
  if (lowered.macs != whole.macs) return "changes MACs";
  double bytes = 0, flop = 0;
  for (const AppliedRule& one : itemized_fusion(graph, runtime).applied) {
    if (one.bytes_saved < 0 || one.flop_saved < 0) return one.rule + " adds at " + one.kernel;
    bytes += one.bytes_saved;
    flop += one.flop_saved;
  }
  // The order of summation differs.
  if (std::abs(total_bytes(whole) - bytes - total_bytes(lowered)) > 1e-9 * total_bytes(whole))
    return "moves less than was saved, or more";
  if (std::abs(total_flop(whole) - flop - total_flop(lowered)) > 1e-9 * total_flop(whole))
    return "computes less than was saved, or more";
  std::map<std::string, std::size_t> maker;  // the first, if training recomputes the tensor
  for (std::size_t i = 0; i < demands.size(); ++i)
    for (const TensorUse& use : demands[i].writes) maker.emplace(use.tensor, i);
  for (const Tensor& tensor : graph.tensors)
    if (tensor.role == Role::weight)
      maker.erase(tensor.name);  // updated in place, for the next step
  for (std::size_t i = 0; i < demands.size(); ++i)
    for (const TensorUse& use : demands[i].reads)
      if (const auto made = maker.find(use.tensor); made != maker.end() && made->second > i)
        return demands[i].name + " reads what " + demands[made->second].name + " has not made yet";
  return {};
}

TEST(LoweringLaws, HoldForEveryNetwork) {
  for (const Workload& workload : all_workloads())
    for (const AttentionForm form : {AttentionForm::fused, AttentionForm::eager}) {
      WorkloadOptions options;
      if (form == AttentionForm::eager) {
        if (!workload.options.has(WorkloadOption::attention)) continue;
        options.attention = form;
      }
      const Graph graph = build_workload(workload.name, options);
      for (const Runtime runtime : runtimes())
        EXPECT_EQ(broken_law(graph, runtime), "") << workload.name << " on " << to_string(runtime);
    }
}

TEST(LoweringLaws, HoldForTrainingSteps) {
  for (const char* name : {"resnet18", "mobilenet_v3_small", "vit_b_32", "gpt2", "lstm", "unet"}) {
    const Graph step = train(build_workload(name), {.checkpoint = true}).graph;
    for (const Runtime runtime : runtimes())
      EXPECT_EQ(broken_law(step, runtime), "") << name << " on " << to_string(runtime);
  }
}

// Layers of every kind that fusion handles, each on earlier tensors: branches, tensors with many
// readers, results without any.
Graph random_network(const std::vector<std::pair<int, int>>& choices) {
  NetworkBuilder net("random", {});
  std::vector<Operand> made = {net.input("x", {2, 8, 8, 8})};
  for (const auto& [kind, which] : choices) {
    const auto pick = [&](int more) {
      return made[static_cast<std::size_t>(which + more) % made.size()];
    };
    switch (kind) {
      case 0:
        made.push_back(net.conv("conv", pick(0), 8, {.kernel = 3, .padding = 1}));
        break;
      case 1:
        made.push_back(net.batch_norm("bn", pick(0)));
        break;
      case 2:
        made.push_back(net.relu("relu", pick(0)));
        break;
      case 3:
        made.push_back(net.add("add", pick(0), pick(1)));
        break;
      case 4:
        made.push_back(net.linear("linear", pick(0), 8));
        break;
      case 5:
        made.push_back(net.matmul("matmul", pick(0), pick(1)));
        break;
      case 6:
        made.push_back(net.softmax("softmax", pick(0)));
        break;
      case 7:
        made.push_back(net.layer_norm("ln", pick(0)));
        break;
      case 8:
        made.push_back(net.dropout("dropout", pick(0)));
        break;
      case 9:
        made.push_back(net.max_pool("pool", pick(0), {.kernel = 3, .stride = 1, .padding = 1}));
        break;
      case 10:
        made.push_back(net.multiply("mul", net.global_average_pool("gap", pick(0)), pick(1)));
        break;
      case 11:
        made.push_back(net.transpose("transpose", pick(0), {2, 8, 8, 8}));
        break;
      case 12: {
        const auto halves = net.split("split", pick(0), {4, 4}, 3);
        made.push_back(net.concat("concat", {net.relu("half", halves[1]), halves[0]}, 3));
        made.push_back(net.concat("other", {halves[0], net.relu("half", halves[1])}, 3));
        break;
      }
      default:
        net.output(pick(0));
    }
  }
  net.output(made.back());
  return net.finish();
}

RC_GTEST_PROP(LoweringLaws, HoldForNetworksMadeAtRandom, ()) {
  const auto choices = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 14), rc::gen::inRange(0, 1000)));
  const Graph graph = random_network(choices);
  for (const Runtime runtime : runtimes()) RC_ASSERT(broken_law(graph, runtime) == "");
}

TEST(LoweringLaws, KernelsGrowWithTheBatch) {
  for (const Workload& workload : all_workloads()) {
    WorkloadOptions options;
    options.batch = 3;
    const auto one = lower(build_workload(workload.name), Runtime::tensorrt);
    const auto three = lower(build_workload(workload.name, options), Runtime::tensorrt);
    ASSERT_EQ(one.size(), three.size()) << workload.name;
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(three[i].work.macs, 3 * one[i].work.macs) << workload.name << ' ' << one[i].name;
      if (one[i].work.macs > 0) {  // a gather reads one row of its table per token
        EXPECT_EQ(three[i].work.weight_bytes_read, one[i].work.weight_bytes_read) << one[i].name;
      }
    }
  }
}

TEST(TrainingLaws, AStepIsTheSumOfItsPasses) {
  for (const Workload& workload : all_workloads())
    for (const bool mixed : {false, true}) {
      const TrainingOptions options{.optimizer = Optimizer::adam, .mixed_precision = mixed};
      const Training training = train(build_workload(workload.name), options);
      const TrainingSummary summary = summarize(training, options, default_weights());
      Work sum;
      for (const auto& [pass, work] : summary.passes) sum += work;
      const Work whole = work_of(training.graph);
      EXPECT_EQ(sum.macs, whole.macs) << workload.name;
      EXPECT_NEAR(total_bytes(sum), total_bytes(whole), 1e-9 * total_bytes(whole)) << workload.name;
      EXPECT_EQ(training.memory.peak(), training.memory.weights + training.memory.master_weights +
                                            training.memory.gradients +
                                            training.memory.optimizer_state +
                                            training.memory.activations + training.memory.transient)
          << workload.name;
      EXPECT_EQ(training.memory.master_weights > 0, mixed) << workload.name;
    }
}

}  // namespace
}  // namespace ridgeline::testing
