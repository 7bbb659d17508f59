// GPU counters with a stub of CUPTI: its counts come out as FLOP and bytes through both of CUPTI's
// interfaces, and every fault is one line with its fix. Metric names are checked against the real
// library if it is installed; that needs no GPU.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/json.h"
#include "report/counters.h"
#include "tests/kernels/cuda/test_gpu.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using cuda::ProfilerApi;
using cuda::Quantity;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int architectures[] = {72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
const std::string library = build_file("tests/libridgeline_test_cupti.so");
const std::string program = build_file("tests/ridgeline_test_program");

TEST(CounterTable, TellsWhatEveryKernelDeclares) {
  for (const int architecture : architectures)
    for (const cuda::Kernel& kernel : cuda::kernel_table()) {
      if (!kernel.architectures.include(architecture) || kernel.role == cuda::Role::launch)
        continue;
      cuda::Setup setup;
      setup.kernel = &kernel;
      setup.set_bytes = kernel.arrays > 0 ? std::uint64_t{1} << 30 : 0;
      for (const cuda::VerifiedQuantity& quantity : cuda::declared_quantities(setup)) {
        const bool by_instructions =
            kernel.unit == Unit::matrix &&
            !cuda::counters_of(Quantity::tensor_instructions, architecture).empty();
        EXPECT_TRUE(by_instructions || !cuda::counters_of(quantity.quantity, architecture).empty())
            << kernel.name << " on sm_" << architecture;
        EXPECT_GT(quantity.declared, 0) << kernel.name;
      }
    }
}

TEST(CounterTable, EveryRowHasASourceAndNoArchitectureCountsTwice) {
  for (const cuda::CounterRow& row : cuda::counter_table()) {
    EXPECT_FALSE(row.source.empty()) << row.metric;
    EXPECT_LE(row.first, row.last) << row.metric;
    int same = 0;
    for (const cuda::CounterRow& other : cuda::counter_table())
      same += row.metric == other.metric && row.quantity == other.quantity &&
              row.first <= other.last && other.first <= row.last;
    EXPECT_EQ(same, 1) << row.metric;
  }
}

TEST(CounterTable, QuantitiesAreThoseOfTheSchema) {
  std::vector<std::string> tokens;
  for (const cuda::QuantityFacts& facts : cuda::quantity_table()) tokens.emplace_back(facts.token);
  EXPECT_EQ(tokens, schema_enum("counters.schema.json#/$defs/quantity"));
}

// Chips by CUPTI's names.
struct Chip {
  int architecture;
  const char* name;
};
constexpr Chip chips[] = {{72, "GV11B"},  {75, "TU102"},  {80, "GA100"},  {86, "GA102"},
                          {87, "GA10B"},  {89, "AD102"},  {90, "GH100"},  {100, "GB100"},
                          {103, "GB110"}, {110, "GB10B"}, {120, "GB202"}, {121, "GB20B"}};

TEST(CounterTable, CuptiKnowsEveryName) {
  if (is_sanitized()) GTEST_SKIP() << "CUPTI loads its parts in a way that sanitizers end";
  unsetenv("RIDGELINE_CUPTI_LIBRARY");
  if (const std::string reason = cuda::why_no_cupti(); !reason.empty()) GTEST_SKIP() << reason;
  for (const ProfilerApi api : {ProfilerApi::newest, ProfilerApi::session})
    for (const Chip& chip : chips) {
      std::vector<std::string> metrics;
      for (const cuda::CounterRow& row : cuda::counter_table())
        if (chip.architecture >= row.first && chip.architecture <= row.last)
          metrics.emplace_back(row.metric);
      try {
        auto unknown = cuda::unknown_metrics(chip.name, metrics, api);
        if (unknown == metrics && chip.architecture == 72) continue;  // CUDA 13 dropped Volta
        if (cuda::unknown_metrics("GA100", {"sm__ops_path_tensor_src_int8.sum"}, api).size() == 1)
          std::erase_if(unknown, [](const std::string& metric) {  // an older toolkit
            return metric.starts_with("sm__ops_path_tensor");
          });
        EXPECT_THAT(unknown, IsEmpty()) << chip.name;
        metrics = {"dram__bytes_of_nothing.sum"};
        EXPECT_EQ(cuda::unknown_metrics(chip.name, metrics, api), metrics) << chip.name;
      } catch (const Error& error) {  // a toolkit older than the chip, or without Volta
        EXPECT_TRUE(chip.architecture > 90 || chip.architecture == 72) << error.what();
      }
    }
}

// Counters of an sm_87 for one launch, from the kernel's instructions alone.
std::map<std::string, double> counts_of(const cuda::Kernel& kernel, double warp_trips) {
  const double warps = warp_trips * kernel.arithmetic, threads = 32 * warps;
  const std::string thread = "smsp__sass_thread_inst_executed_op_", on = "_pred_on.sum";
  const std::string opcode(kernel.opcodes.substr(0, kernel.opcodes.find('|')));
  std::map<std::string, double> counts;
  if (opcode == "DFMA") counts[thread + "dfma" + on] = threads;
  if (opcode == "FFMA") counts[thread + "ffma" + on] = threads;
  if (opcode == "HFMA2") counts[thread + "hfma" + on] = threads;
  // Includes the loop's own instructions.
  if (opcode == "IMAD" || opcode == "IDP") counts[thread + "integer" + on] = 1.02 * threads;
  if (opcode.ends_with("MMA")) {
    static const std::map<DType, std::string> source = {{DType::fp64, "fp64"},
                                                        {DType::tf32, "tf32_dst_fp32"},
                                                        {DType::bf16, "bf16_dst_fp32"},
                                                        {DType::int8, "int8"},
                                                        {DType::int4, "int4"}};
    const std::string name =
        kernel.dtype == DType::fp16
            ? (kernel.accumulate == DType::fp16 ? "fp16_dst_fp16" : "fp16_dst_fp32")
            : source.at(kernel.dtype);
    counts["sm__ops_path_tensor_src_" + name + ".sum"] = warps * kernel.flop_each;
    counts["smsp__inst_executed_pipe_tensor.sum"] = warps;
  }
  const double read = 16 * warp_trips * kernel.loads, written = 16 * warp_trips * kernel.stores;
  counts["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = read;
  counts["lts__t_sectors_srcunit_tex_op_read.sum"] = read;
  counts["lts__t_sectors_op_write.sum"] = written;
  counts["lts__d_sectors_fill_device.sum"] = 0.97 * read;
  counts["lts__d_sectors_fill_sysmem.sum"] = 0.01 * read;
  counts["smsp__sass_data_bytes_mem_shared_op_ld.sum"] = 32 * read;
  return counts;
}

class Cupti : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(library)) GTEST_SKIP() << "this build has no CUPTI";
    setenv("RIDGELINE_CUPTI_LIBRARY", library.c_str(), 1);
    behave("");
  }
  void TearDown() override {
    unsetenv("RIDGELINE_CUPTI_LIBRARY");
    unsetenv("RIDGELINE_TEST_CUPTI");
  }
  static void behave(const std::string& words) { setenv("RIDGELINE_TEST_CUPTI", words.c_str(), 1); }

  // An Orin whose launches feed the stub's counters; the kernel `doubled` does twice the work.
  static TestGpuSettings counted_orin(const std::string& doubled = {}) {
    TestGpuSettings settings = test_orin();
    void* const handle = dlopen(library.c_str(), RTLD_NOW);
    using Launch = void (*)(const char*, double, int, const char* const*, const double*);
    const auto tell = reinterpret_cast<Launch>(dlsym(handle, "ridgeline_test_launch"));
    settings.on_launch = [=](const cuda::Kernel& kernel, cuda::Grid grid,
                             const cuda::Arguments& arguments, double seconds) {
      const double trips = double(grid.blocks) * (grid.threads / 32) * arguments.trips *
                           arguments.passes * (kernel.name == doubled ? 2 : 1);
      std::vector<const char*> names;
      std::vector<double> values;
      const auto counts = counts_of(kernel, trips);
      for (const auto& [name, value] : counts) {
        names.push_back(name.c_str());
        values.push_back(value);
      }
      tell(std::string(kernel.name).c_str(), seconds, int(names.size()), names.data(),
           values.data());
    };
    return settings;
  }

  static cuda::Verification verified(const TestGpuSettings& settings,
                                     std::vector<std::string> only = {},
                                     ProfilerApi api = ProfilerApi::newest) {
    TestGpu gpu(settings);
    const auto plan = cuda::plan({.only = std::move(only)}, gpu.facts(),
                                 [&](const cuda::Kernel& kernel) { return gpu.support(kernel); });
    return cuda::verify_counters(
        gpu, plan, api, [] { return false; }, [](double) {});
  }

  static std::string failure(const std::string& words, ProfilerApi api) {
    behave(words);
    try {
      verified(counted_orin(), {"fp32"}, api);
      return "nothing";
    } catch (const Error& error) {
      return error.what();
    }
  }

  static ProcessResult counters(std::vector<std::string> arguments, const std::string& words = {}) {
    arguments.insert(arguments.begin(), "counters");
    return run_ridgeline(
        arguments,
        {.environment = {{"RIDGELINE_CUPTI_LIBRARY", library},
                         {"RIDGELINE_INJECTION_LIBRARY", build_file("libridgeline_injection.so")},
                         {"RIDGELINE_TEST_CUPTI", words}}});
  }
};

TEST_F(Cupti, EveryKernelDoesWhatItDeclares) {
  for (const ProfilerApi api : {ProfilerApi::newest, ProfilerApi::session}) {
    const cuda::Verification verification = verified(counted_orin(), {}, api);
    EXPECT_TRUE(verification.complete);
    EXPECT_GT(verification.kernels.size(), 50u);
    for (const cuda::VerifiedKernel& kernel : verification.kernels) {
      EXPECT_EQ(kernel.failure, "") << kernel.setup.kernel->name;
      ASSERT_TRUE(kernel.time_s) << kernel.setup.kernel->name;
      EXPECT_GT(*kernel.time_s, 0);
      EXPECT_FALSE(kernel.quantities.empty() && kernel.setup.kernel->name != "sweep_0");
      for (const cuda::VerifiedQuantity& quantity : kernel.quantities) {
        ASSERT_TRUE(quantity.measured) << kernel.setup.kernel->name << ": " << quantity.why;
        EXPECT_TRUE(quantity.agrees())
            << kernel.setup.kernel->name << " " << quantity.declared << " " << *quantity.measured;
      }
    }
    EXPECT_EQ(judge_verification(verification), ExitCode::ok);
  }
}

TEST_F(Cupti, WorkThatIsNotDeclaredIsAnError) {
  const cuda::Verification verification = verified(counted_orin("fma_fp32_8"), {"fp32"});
  try {
    judge_verification(verification);
    ADD_FAILURE() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), "counters differ from what is declared: fma_fp32_8 (FP32 FLOP)");
    EXPECT_EQ(error.code(), ExitCode::error);
  }
  EXPECT_THAT(verification_text(verification, 120),
              AllOf(HasSubstr("fma_fp32_8"), HasSubstr("2.0000"), HasSubstr("differs by more")));
  const Json json = verification_json(verification, test_orin().facts);
  EXPECT_THAT(schema_violations(json, "counter_verification.schema.json"), IsEmpty());
  EXPECT_THAT(verification_csv(verification), HasSubstr("fma_fp32_8,flop_fp32,"));
}

TEST_F(Cupti, WhatIsForbiddenOrInUseHasAFix) {
  struct {
    ProfilerApi api;
    const char *words, *expected, *fix;
  } const cases[] = {
      {ProfilerApi::newest, "cuptiRangeProfilerEnable=35", "ERR_NVGPUCTRPERM",
       "NVreg_RestrictProfilingToAdminUsers=0"},
      {ProfilerApi::session, "cuptiProfilerBeginSession=35", "ERR_NVGPUCTRPERM", "sudo"},
      {ProfilerApi::newest, "cuptiRangeProfilerEnable=26", "another tool is using",
       "dcgmi profile --pause"},
      {ProfilerApi::session, "cuptiProfilerEnableProfiling=26", "another tool is using", "ncu"},
      {ProfilerApi::newest, "cuptiProfilerInitialize=39", "another profiler is attached", "nsys"},
      {ProfilerApi::newest, "cuptiRangeProfilerStop=999", "cuptiRangeProfilerStop", "999"},
      {ProfilerApi::session, "NVPW_RawMetricsConfig_AddMetrics=3",
       "NVPW_RawMetricsConfig_AddMetrics", "status 3"},
  };
  for (const auto& [api, words, expected, fix] : cases) {
    const std::string text = failure(words, api);
    EXPECT_THAT(text, AllOf(HasSubstr(expected), HasSubstr(fix))) << words;
    EXPECT_EQ(text.find('\n'), std::string::npos) << words;
  }
  EXPECT_EQ(failure("", ProfilerApi::newest), "nothing") << "all of it was let go of";
}

TEST_F(Cupti, AMetricThatTheGpuLacksIsARowWithTheReason) {
  const std::string metric = "lts__t_sectors_op_write.sum";
  for (const ProfilerApi api : {ProfilerApi::newest, ProfilerApi::session}) {
    behave("missing=" + metric);
    const cuda::Verification verification = verified(counted_orin(), {"copy"}, api);
    ASSERT_EQ(verification.kernels.size(), 1u);
    const auto& quantities = verification.kernels[0].quantities;
    ASSERT_EQ(quantities.size(), 2u);
    EXPECT_TRUE(quantities[0].measured);
    EXPECT_FALSE(quantities[1].measured);
    EXPECT_EQ(quantities[1].why, "this GPU or CUPTI has no " + metric);
    EXPECT_EQ(judge_verification(verification), ExitCode::ok);
    const Json json = verification_json(verification, test_orin().facts);
    EXPECT_THAT(schema_violations(json, "counter_verification.schema.json"), IsEmpty());
  }
}

TEST_F(Cupti, WithoutOperationsTensorInstructionsTell) {
  behave("missing=sm__ops_path_tensor_src_int8.sum");
  const cuda::Verification verification = verified(counted_orin(), {"int8"});
  int matrix = 0;
  for (const cuda::VerifiedKernel& kernel : verification.kernels) {
    ASSERT_EQ(kernel.quantities.size(), 1u);
    const cuda::VerifiedQuantity& quantity = kernel.quantities[0];
    EXPECT_TRUE(quantity.measured && quantity.agrees()) << kernel.setup.kernel->name;
    if (quantity.quantity != Quantity::tensor_int8) continue;
    ++matrix;
    ASSERT_EQ(quantity.terms.size(), 1u);
    EXPECT_EQ(quantity.terms[0].row->metric, "smsp__inst_executed_pipe_tensor.sum");
    EXPECT_EQ(quantity.terms[0].factor, 8192);
  }
  EXPECT_EQ(matrix, 3);  // two with operands in registers, one fed from shared memory
}

TEST_F(Cupti, AFailedLaunchAndALostDeviceKeepWhatIsThere) {
  TestGpuSettings settings = counted_orin();
  settings.fail_launch = 3;
  const cuda::Verification failed = verified(settings, {"fp32"});
  EXPECT_THAT(failed.kernels.front().failure, HasSubstr("too many resources"));
  EXPECT_EQ(failed.kernels.back().failure, "");
  EXPECT_EQ(judge_verification(failed), ExitCode::incomplete);
  settings.fail_launch = 0;
  settings.lost_after_s = 1e-3;
  const cuda::Verification lost = verified(settings);
  EXPECT_FALSE(lost.complete);
  EXPECT_FALSE(lost.kernels.empty());
}

TEST_F(Cupti, RecordsThatDoNotFitAreNoTimes) {
  behave("records=0");
  EXPECT_FALSE(verified(counted_orin(), {"copy"}).kernels[0].time_s);
}

TEST_F(Cupti, AMissingLibraryIsSaid) {
  setenv("RIDGELINE_CUPTI_LIBRARY", "/nowhere/libcupti.so", 1);
  EXPECT_THAT(cuda::why_no_cupti(), AllOf(HasSubstr("/nowhere/libcupti.so is not installed"),
                                          HasSubstr("RIDGELINE_CUPTI_LIBRARY")));
  const ProcessResult result =
      run_ridgeline({"counters", "--", "true"},
                    {.environment = {{"RIDGELINE_CUPTI_LIBRARY", "/nowhere/libcupti.so"}}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("is not installed"));
}

TEST_F(Cupti, TheCommandNeedsAGpuAndRefusesWhatItIgnores) {
  EXPECT_EQ(run_ridgeline({"measure", "--verify-counters", "--list"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"measure", "--verify-counters", "--threads", "2"}).exit_code, 2);
  EXPECT_EQ(run_ridgeline({"measure", "--verify-counters", "-o", "profile.json"}).exit_code, 2);
  if (cuda::why_no_gpu().empty()) return;
  const ProcessResult result = run_ridgeline({"measure", "--verify-counters"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no CUDA device"));
}

TEST_F(Cupti, CountsAnotherProgram) {
  // More launches than one batch of counting holds.
  const ProcessResult result = counters({"--json", "--", program, "600"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("output of the program"));
  const Json json = Json::parse(result.out);
  EXPECT_THAT(schema_violations(json, "counters.schema.json"), IsEmpty());
  ASSERT_EQ(json["kernels"].size(), 2u);
  const Json &multiply = json["kernels"][0], &add = json["kernels"][1];
  EXPECT_EQ(multiply["kernel"], "multiply(float*)");
  EXPECT_EQ(multiply["launches"], 600);
  EXPECT_NEAR(multiply["time_s"], 600 * 5e-6, 1e-9);
  EXPECT_EQ(multiply["counts"]["tensor_fp16"], 600 * 4096.0);
  EXPECT_EQ(add["kernel"], "add(float*)");
  EXPECT_EQ(add["counts"]["flop_fp32"], 600 * 2 * 500.0);
  EXPECT_EQ(add["counts"]["dram_read"], 600 * 320.0);
  EXPECT_EQ(add["counts"]["dram_write"], 600 * 160.0);
  EXPECT_EQ(json["total"]["launches"], 1200);

  EXPECT_THAT(counters({"--", program, "2"}).out,
              AllOf(HasSubstr("add(float*)"), HasSubstr("FLOP/byte"), HasSubstr("total")));
  // Like CUPTI 11.8, which lacks these names.
  EXPECT_THAT(
      counters({"--only", "counters", "--", program, "2"},
               "missing=sm__ops_path_tensor_src_int8.sum")
          .err,
      AllOf(HasSubstr("tensor instructions are not in the FLOP"), HasSubstr("4096 for 16816")));
  EXPECT_THAT(counters({"--csv", "--only", "times", "--", program, "2"}).out,
              HasSubstr("add(float*),2,4.0"));
}

TEST_F(Cupti, FaultsOfAnotherProgramAreOneLine) {
  struct {
    std::vector<std::string> arguments;
    const char *words, *expected;
    int exit_code;
  } const cases[] = {
      {{"--", program, "2"},
       "cuptiRangeProfilerEnable=35 cuptiProfilerBeginSession=35",
       "ERR_NVGPUCTRPERM",
       1},
      {{"--", program, "2"}, "cuptiSubscribe=39", "another profiler is attached", 1},
      {{"--", program, "2"}, "records=3", "1 records of kernel times were lost", 1},
      {{"--", program, "2"}, "architecture=999", "no metric is known for sm_999", 1},
      {{"--", program, "0"}, "", "ran no CUDA kernel", 1},
      {{"--", program, "2", "7"}, "", "ended with exit code 7", 1},
      {{"--", "/nowhere/program"}, "", "cannot be started", 1},
      {{}, "", "no program to run", 2},
      {{"--only", "rates", "--", program}, "", "is neither counters nor times", 2},
  };
  for (const auto& [arguments, words, expected, exit_code] : cases) {
    const ProcessResult result = counters(arguments, words);
    EXPECT_EQ(result.exit_code, exit_code) << expected;
    EXPECT_THAT(result.err, HasSubstr(expected));
  }
}

// The program that is counted asks ridgeline to end, as a user or a batch system would.
TEST(CountersCommand, RemovesItsFolderWhenItIsKilled) {
  const TemporaryDirectory folder;
  const auto killed_by = [&](const char* number) {
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    ::setenv("RIDGELINE_INJECTION_LIBRARY", "none", 1);
    cuda::time_program({"sh", "-c", std::string("kill -") + number + " $PPID; exec sleep 20"});
    ::_exit(0);
  };
  EXPECT_EXIT(killed_by("TERM"), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(killed_by("HUP"), ::testing::KilledBySignal(SIGHUP), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace ridgeline::testing
