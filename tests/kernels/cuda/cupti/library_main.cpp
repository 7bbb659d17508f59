// A stub of libcupti.so (with libnvperf_host.so and a few driver functions): a GPU whose counters
// are set by the test. It checks parameters and call order, needs several passes, and every
// function can be made to fail. RIDGELINE_TEST_CUPTI holds words: "function=code",
// "missing=metric", "architecture=87", "records=2" that fit into a buffer.
#include <cupti.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <nvperf_cuda_host.h>
#include <nvperf_host.h>
#include <nvperf_target.h>
#if __has_include(<cupti_range_profiler.h>)
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#define RIDGELINE_HAS_RANGES
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Names = std::vector<std::string>;
using Counts = std::map<std::string, double>;

constexpr std::size_t metrics_per_pass = 2;
int context;  // its address is the one CUDA context

std::string word(const std::string& name) {
  const char* const variable = std::getenv("RIDGELINE_TEST_CUPTI");
  std::istringstream words(variable ? variable : "");
  for (std::string text; words >> text;)
    if (text.starts_with(name + '=')) return text.substr(name.size() + 1);
  return {};
}

int code_of(const char* function) { return std::atoi(word(function).c_str()); }

// A wrong size or private pointer makes any call invalid.
template <class Parameters>
bool wrong(const Parameters* given, std::size_t size) {
  return !given || given->structSize != size || given->pPriv != nullptr;
}

#define TEST_CUPTI(function, Type)                                            \
  if (wrong(given, Type##_STRUCT_SIZE)) return CUPTI_ERROR_INVALID_PARAMETER; \
  if (const int code = code_of(#function); code != 0) return static_cast<CUptiResult>(code)
#define TEST_NVPW(function, Type)                                            \
  if (wrong(given, Type##_STRUCT_SIZE)) return NVPA_STATUS_INVALID_ARGUMENT; \
  if (const int code = code_of(#function); code != 0) return static_cast<NVPA_Status>(code)

bool known(const std::string& metric) {
  return metric.ends_with(".sum") && metric != word("missing");
}

// Configurations and counter data carry the names, so that mix-ups are detected.
std::string joined(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + '\n';
  return text;
}
Names split(const std::string& text) {
  Names names;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) names.push_back(line);
  return names;
}

// State of the profiler, shared by both interfaces.
struct {
  bool initialized = false, enabled = false, configured = false, running = false, pushed = false;
  bool each_kernel = false;
  std::size_t most_ranges = 0, pass = 0;
  Names metrics;
  std::vector<Counts> ranges;  // completed
  Counts range;                // of the current pass
  std::size_t dropped = 0;
} profiler;

std::size_t passes() { return (profiler.metrics.size() + metrics_per_pass - 1) / metrics_per_pass; }

bool counted_in(std::size_t pass, const std::string& metric) {
  const auto found = std::ranges::find(profiler.metrics, metric);
  return found != profiler.metrics.end() &&
         std::size_t(found - profiler.metrics.begin()) / metrics_per_pass == pass;
}

void configure(const Names& metrics, bool each_kernel, std::size_t most_ranges) {
  profiler.metrics = metrics;
  profiler.each_kernel = each_kernel;
  profiler.most_ranges = most_ranges;
  profiler.configured = true;
  profiler.ranges.clear();
  profiler.pass = profiler.dropped = 0;
}

CUptiResult start() {
  if (!profiler.enabled || !profiler.configured || profiler.running)
    return CUPTI_ERROR_INVALID_OPERATION;
  profiler.running = true;
  return CUPTI_SUCCESS;
}
CUptiResult push() {
  if (!profiler.running || profiler.each_kernel || profiler.pushed)
    return CUPTI_ERROR_INVALID_OPERATION;
  profiler.pushed = true;
  profiler.range.clear();
  return CUPTI_SUCCESS;
}
CUptiResult pop() {
  if (!profiler.pushed) return CUPTI_ERROR_INVALID_OPERATION;
  profiler.pushed = false;
  if (profiler.ranges.empty()) profiler.ranges.resize(1);
  // A pass yields only the metrics it counts.
  for (const auto& [metric, value] : profiler.range)
    if (counted_in(profiler.pass, metric)) profiler.ranges[0][metric] = value;
  return CUPTI_SUCCESS;
}
CUptiResult stop(bool& all) {
  if (!profiler.running || profiler.pushed) return CUPTI_ERROR_INVALID_OPERATION;
  profiler.running = false;
  all = profiler.each_kernel || ++profiler.pass >= passes();
  return CUPTI_SUCCESS;
}

// Kernel records and callbacks.
struct Launched {
  std::string kernel;
  std::uint64_t nanoseconds;
};
std::vector<Launched> launched;
bool recording = false;
std::size_t records_lost = 0;
CUpti_BuffersCallbackRequestFunc give_buffer = nullptr;
CUpti_BuffersCallbackCompleteFunc take_buffer = nullptr;
CUpti_CallbackFunc callback = nullptr;
void* callback_data = nullptr;
std::list<std::string> kept_names;  // records point to them

}  // namespace

extern "C" {

// Runs a kernel of this duration and these counter values.
void ridgeline_test_launch(const char* kernel, double seconds, int count,
                           const char* const* metrics, const double* values) {
  if (callback) {
    CUpti_CallbackData data{};
    data.callbackSite = CUPTI_API_ENTER;
    data.context = reinterpret_cast<CUcontext>(&context);
    data.symbolName = kernel;
    callback(callback_data, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
             &data);
  }
  if (recording) launched.push_back({kernel, std::uint64_t(1e9 * seconds + 0.5)});
  if (!profiler.running) return;
  Counts counts;
  for (int i = 0; i < count; ++i) counts[metrics[i]] += values[i];
  if (!profiler.each_kernel) {
    for (const auto& [metric, value] : counts) profiler.range[metric] += value;
  } else if (profiler.ranges.size() < profiler.most_ranges) {
    profiler.ranges.push_back(counts);
  } else {
    ++profiler.dropped;
  }
}

// The driver.
CUresult cuCtxGetCurrent(CUcontext* current) {
  *current = reinterpret_cast<CUcontext>(&context);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  const std::string text = word("architecture");
  const int architecture = text.empty() ? 87 : std::stoi(text);
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? architecture / 10
                                                                     : architecture % 10;
  return CUDA_SUCCESS;
}

// Shared by both interfaces.
CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "CUPTI_ERROR_OF_THE_TEST";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetDeviceId(CUcontext of, uint32_t* device) {
  *device = 0;
  return reinterpret_cast<int*>(of) == &context ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* given) {
  TEST_CUPTI(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params);
  given->pChipName = "GA10B";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* given) {
  TEST_CUPTI(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params);
  profiler = {};
  profiler.initialized = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(
    CUpti_Profiler_GetCounterAvailability_Params* given) {
  TEST_CUPTI(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params);
  if (!profiler.initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  given->counterAvailabilityImageSize = 16;
  return CUPTI_SUCCESS;
}

// Kernel records.
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc give,
                                           CUpti_BuffersCallbackCompleteFunc take) {
  give_buffer = give;
  take_buffer = take;
  return static_cast<CUptiResult>(code_of("cuptiActivityRegisterCallbacks"));
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  recording = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  return static_cast<CUptiResult>(code_of("cuptiActivityEnable"));
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) {
  recording = false;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityFlushAll(uint32_t) {
  using Record = CUpti_ActivityKernel5;
  uint8_t* buffer = nullptr;
  size_t size = 0, most = 0;
  give_buffer(&buffer, &size, &most);
  std::size_t room = size / sizeof(Record);
  if (const std::string limit = word("records"); !limit.empty())
    room = std::min(room, std::size_t(std::stoul(limit)));
  const std::size_t count = std::min(room, launched.size());
  records_lost = launched.size() - count;
  for (std::size_t i = 0; i < count; ++i) {
    kept_names.push_back(launched[i].kernel);
    Record record{};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.start = 1'000'000'000;
    record.end = record.start + launched[i].nanoseconds;
    record.name = kept_names.back().c_str();
    std::memcpy(buffer + i * sizeof record, &record, sizeof record);
  }
  launched.clear();
  take_buffer(nullptr, 0, buffer, size, count * sizeof(Record));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  uint8_t* const next =
      *record ? reinterpret_cast<uint8_t*>(*record) + sizeof(CUpti_ActivityKernel5) : buffer;
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = records_lost;
  return CUPTI_SUCCESS;
}

// Callbacks.
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc function,
                           void* data) {
  if (const int code = code_of("cuptiSubscribe"); code != 0) return static_cast<CUptiResult>(code);
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&context);
  callback_data = data;
  callback = function;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
                                CUpti_CallbackId) {
  return CUPTI_SUCCESS;
}

}  // extern "C"

#include "tests/kernels/cuda/cupti/library_ranges.inc"
#include "tests/kernels/cuda/cupti/library_sessions.inc"
