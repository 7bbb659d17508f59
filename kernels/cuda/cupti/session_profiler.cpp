// Profiling sessions, CUPTI's older interface: NVIDIA's counter library (libnvperf_host) has names,
// configuration and values, CUPTI has passes and ranges. A metric is computed from raw counters;
// those are what passes are made of.
#include <nvperf_cuda_host.h>
#include <nvperf_host.h>
#include <nvperf_target.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/cuda/cupti/call.h"
#include "kernels/cuda/cupti/profilers.h"

namespace ridgeline::cuda {
namespace {

void check_counters(NVPA_Status status, const char* call) {
  if (status == NVPA_STATUS_SUCCESS) return;
  // Codes of nvperf_common.h; what users meet comes from CUPTI, in words.
  throw Error("GPU counters",
              std::string(call) + ": status " + std::to_string(static_cast<int>(status)));
}

template <class Parameters>
Image read_image(Parameters& get, NVPA_Status (*function)(Parameters*), const char* call) {
  check_counters(function(&get), call);
  Image image(get.bytesCopied);
  get.bytesAllocated = image.size();
  get.pBuffer = image.data();
  check_counters(function(&get), call);
  return image;
}

const std::uint8_t* data_or_null(const Image& image) {
  return image.empty() ? nullptr : image.data();
}

// Names of metrics, the counters behind them and back. Newer toolkits have this inside of CUPTI.
class CounterNames {
 public:
  // The images may be empty: names are known without a GPU.
  CounterNames(const std::string& chip, const Image& availability);
  CounterNames(const CounterNames&) = delete;
  CounterNames& operator=(const CounterNames&) = delete;
  ~CounterNames();

  std::vector<std::string> unknown(const std::vector<std::string>& metrics) const;

  // From here on these metrics; all of them are known.
  void choose(const std::vector<std::string>& metrics);
  Image configuration() const;  // what is counted, in which passes
  Image data_prefix() const;    // how counter data is laid out
  std::vector<std::vector<double>> values(const Image& data) const;  // by range

 private:
  std::vector<NVPA_RawMetricRequest> raw_requests() const;

  std::string chip_;
  Image availability_, scratch_;
  NVPW_MetricsEvaluator* evaluator_ = nullptr;
  std::vector<NVPW_MetricEvalRequest> requests_;
  std::vector<std::string> raw_names_;
};

#define RIDGELINE_NVPW(call) CuptiLibrary::instance().function<decltype(&call)>(#call)
#define RIDGELINE_COUNTERS(call, parameters) check_counters(RIDGELINE_NVPW(call)(parameters), #call)

CounterNames::CounterNames(const std::string& chip, const Image& availability)
    : chip_(chip), availability_(availability) {
  RIDGELINE_PARAMS(NVPW_InitializeHost_Params, initialize);
  RIDGELINE_COUNTERS(NVPW_InitializeHost, &initialize);
  RIDGELINE_PARAMS(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize_Params, size);
  size.pChipName = chip_.c_str();
  size.pCounterAvailabilityImage = data_or_null(availability_);
  RIDGELINE_COUNTERS(NVPW_CUDA_MetricsEvaluator_CalculateScratchBufferSize, &size);
  scratch_.resize(size.scratchBufferSize);
  RIDGELINE_PARAMS(NVPW_CUDA_MetricsEvaluator_Initialize_Params, evaluator);
  evaluator.pScratchBuffer = scratch_.data();
  evaluator.scratchBufferSize = scratch_.size();
  evaluator.pChipName = chip_.c_str();
  evaluator.pCounterAvailabilityImage = data_or_null(availability_);
  RIDGELINE_COUNTERS(NVPW_CUDA_MetricsEvaluator_Initialize, &evaluator);
  evaluator_ = evaluator.pMetricsEvaluator;
}

CounterNames::~CounterNames() {
  RIDGELINE_PARAMS(NVPW_MetricsEvaluator_Destroy_Params, destroy);
  destroy.pMetricsEvaluator = evaluator_;
  RIDGELINE_NVPW(NVPW_MetricsEvaluator_Destroy)(&destroy);
}

std::vector<std::string> CounterNames::unknown(const std::vector<std::string>& metrics) const {
  std::vector<std::string> missing;
  for (const std::string& metric : metrics) {
    NVPW_MetricEvalRequest request{};
    RIDGELINE_PARAMS(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params, convert);
    convert.pMetricsEvaluator = evaluator_;
    convert.pMetricName = metric.c_str();
    convert.pMetricEvalRequest = &request;
    convert.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    if (RIDGELINE_NVPW(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest)(&convert) !=
        NVPA_STATUS_SUCCESS)
      missing.push_back(metric);
  }
  return missing;
}

void CounterNames::choose(const std::vector<std::string>& metrics) {
  requests_.assign(metrics.size(), NVPW_MetricEvalRequest{});
  std::set<std::string> raw;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    RIDGELINE_PARAMS(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest_Params, convert);
    convert.pMetricsEvaluator = evaluator_;
    convert.pMetricName = metrics[i].c_str();
    convert.pMetricEvalRequest = &requests_[i];
    convert.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    RIDGELINE_COUNTERS(NVPW_MetricsEvaluator_ConvertMetricNameToMetricEvalRequest, &convert);
    RIDGELINE_PARAMS(NVPW_MetricsEvaluator_GetMetricRawDependencies_Params, dependencies);
    dependencies.pMetricsEvaluator = evaluator_;
    dependencies.pMetricEvalRequests = &requests_[i];
    dependencies.numMetricEvalRequests = 1;
    dependencies.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    dependencies.metricEvalRequestStrideSize = sizeof(NVPW_MetricEvalRequest);
    RIDGELINE_COUNTERS(NVPW_MetricsEvaluator_GetMetricRawDependencies, &dependencies);
    std::vector<const char*> names(dependencies.numRawDependencies);
    dependencies.ppRawDependencies = names.data();
    RIDGELINE_COUNTERS(NVPW_MetricsEvaluator_GetMetricRawDependencies, &dependencies);
    raw.insert(names.begin(), names.end());
  }
  raw_names_.assign(raw.begin(), raw.end());
}

std::vector<NVPA_RawMetricRequest> CounterNames::raw_requests() const {
  std::vector<NVPA_RawMetricRequest> requests;
  for (const std::string& name : raw_names_) {
    NVPA_RawMetricRequest request{};
    request.structSize = NVPA_RAW_METRIC_REQUEST_STRUCT_SIZE;
    request.pMetricName = name.c_str();
    request.isolated = 1;
    request.keepInstances = 1;
    requests.push_back(request);
  }
  return requests;
}

Image CounterNames::configuration() const {
  RIDGELINE_PARAMS(NVPW_CUDA_RawMetricsConfig_Create_V2_Params, create);
  create.activityKind = NVPA_ACTIVITY_KIND_PROFILER;
  create.pChipName = chip_.c_str();
  create.pCounterAvailabilityImage = data_or_null(availability_);
  RIDGELINE_COUNTERS(NVPW_CUDA_RawMetricsConfig_Create_V2, &create);
  NVPA_RawMetricsConfig* const config = create.pRawMetricsConfig;
  if (!availability_.empty()) {
    RIDGELINE_PARAMS(NVPW_RawMetricsConfig_SetCounterAvailability_Params, available);
    available.pRawMetricsConfig = config;
    available.pCounterAvailabilityImage = availability_.data();
    RIDGELINE_COUNTERS(NVPW_RawMetricsConfig_SetCounterAvailability, &available);
  }
  const auto requests = raw_requests();
  RIDGELINE_PARAMS(NVPW_RawMetricsConfig_BeginPassGroup_Params, begin);
  begin.pRawMetricsConfig = config;
  RIDGELINE_COUNTERS(NVPW_RawMetricsConfig_BeginPassGroup, &begin);
  RIDGELINE_PARAMS(NVPW_RawMetricsConfig_AddMetrics_Params, add);
  add.pRawMetricsConfig = config;
  add.pRawMetricRequests = requests.data();
  add.numMetricRequests = requests.size();
  RIDGELINE_COUNTERS(NVPW_RawMetricsConfig_AddMetrics, &add);
  RIDGELINE_PARAMS(NVPW_RawMetricsConfig_EndPassGroup_Params, end);
  end.pRawMetricsConfig = config;
  RIDGELINE_COUNTERS(NVPW_RawMetricsConfig_EndPassGroup, &end);
  RIDGELINE_PARAMS(NVPW_RawMetricsConfig_GenerateConfigImage_Params, generate);
  generate.pRawMetricsConfig = config;
  RIDGELINE_COUNTERS(NVPW_RawMetricsConfig_GenerateConfigImage, &generate);
  RIDGELINE_PARAMS(NVPW_RawMetricsConfig_GetConfigImage_Params, get);
  get.pRawMetricsConfig = config;
  Image image = read_image(get, RIDGELINE_NVPW(NVPW_RawMetricsConfig_GetConfigImage),
                           "NVPW_RawMetricsConfig_GetConfigImage");
  RIDGELINE_PARAMS(NVPW_RawMetricsConfig_Destroy_Params, destroy);
  destroy.pRawMetricsConfig = config;
  RIDGELINE_COUNTERS(NVPW_RawMetricsConfig_Destroy, &destroy);
  return image;
}

Image CounterNames::data_prefix() const {
  RIDGELINE_PARAMS(NVPW_CUDA_CounterDataBuilder_Create_Params, create);
  create.pChipName = chip_.c_str();
  create.pCounterAvailabilityImage = data_or_null(availability_);
  RIDGELINE_COUNTERS(NVPW_CUDA_CounterDataBuilder_Create, &create);
  const auto requests = raw_requests();
  RIDGELINE_PARAMS(NVPW_CounterDataBuilder_AddMetrics_Params, add);
  add.pCounterDataBuilder = create.pCounterDataBuilder;
  add.pRawMetricRequests = requests.data();
  add.numMetricRequests = requests.size();
  RIDGELINE_COUNTERS(NVPW_CounterDataBuilder_AddMetrics, &add);
  RIDGELINE_PARAMS(NVPW_CounterDataBuilder_GetCounterDataPrefix_Params, get);
  get.pCounterDataBuilder = create.pCounterDataBuilder;
  Image image = read_image(get, RIDGELINE_NVPW(NVPW_CounterDataBuilder_GetCounterDataPrefix),
                           "NVPW_CounterDataBuilder_GetCounterDataPrefix");
  RIDGELINE_PARAMS(NVPW_CounterDataBuilder_Destroy_Params, destroy);
  destroy.pCounterDataBuilder = create.pCounterDataBuilder;
  RIDGELINE_COUNTERS(NVPW_CounterDataBuilder_Destroy, &destroy);
  return image;
}

std::vector<std::vector<double>> CounterNames::values(const Image& data) const {
  RIDGELINE_PARAMS(NVPW_MetricsEvaluator_SetDeviceAttributes_Params, attributes);
  attributes.pMetricsEvaluator = evaluator_;
  attributes.pCounterDataImage = data.data();
  attributes.counterDataImageSize = data.size();
  RIDGELINE_COUNTERS(NVPW_MetricsEvaluator_SetDeviceAttributes, &attributes);
  RIDGELINE_PARAMS(NVPW_CounterData_GetNumRanges_Params, ranges);
  ranges.pCounterDataImage = data.data();
  RIDGELINE_COUNTERS(NVPW_CounterData_GetNumRanges, &ranges);
  std::vector<std::vector<double>> values(ranges.numRanges, std::vector<double>(requests_.size()));
  for (std::size_t range = 0; range < values.size(); ++range) {
    RIDGELINE_PARAMS(NVPW_MetricsEvaluator_EvaluateToGpuValues_Params, evaluate);
    evaluate.pMetricsEvaluator = evaluator_;
    evaluate.pMetricEvalRequests = requests_.data();
    evaluate.numMetricEvalRequests = requests_.size();
    evaluate.metricEvalRequestStructSize = NVPW_MetricEvalRequest_STRUCT_SIZE;
    evaluate.metricEvalRequestStrideSize = sizeof(NVPW_MetricEvalRequest);
    evaluate.pCounterDataImage = data.data();
    evaluate.counterDataImageSize = data.size();
    evaluate.rangeIndex = range;
    evaluate.isolated = 1;
    evaluate.pMetricValues = values[range].data();
    RIDGELINE_COUNTERS(NVPW_MetricsEvaluator_EvaluateToGpuValues, &evaluate);
  }
  return values;
}

class SessionProfiler final : public Profiler {
 public:
  explicit SessionProfiler(const ProfilerRequest& request)
      : request_(request),
        context_(context_or_current(request.context)),
        chip_(chip_of(context_)),
        names_(chip_, counter_availability(context_)),
        metrics_(known_metrics(request.metrics, names_.unknown(request.metrics), chip_)) {
    names_.choose(metrics_);
    configuration_ = names_.configuration();
    prefix_ = names_.data_prefix();
  }
  SessionProfiler(const SessionProfiler&) = delete;
  SessionProfiler& operator=(const SessionProfiler&) = delete;
  ~SessionProfiler() override {
    try {
      if (running_) stop();
      if (open_) close();
    } catch (const Error&) {  // the first fault has been reported
    }
  }

  const std::vector<std::string>& metrics() const override { return metrics_; }

  void start() override {
    if (!open_) open();
    if (whole()) {
      RIDGELINE_PARAMS(CUpti_Profiler_BeginPass_Params, begin);
      begin.ctx = context_;
      RIDGELINE_CUPTI(cuptiProfilerBeginPass, &begin);
    }
    RIDGELINE_PARAMS(CUpti_Profiler_EnableProfiling_Params, enable);
    enable.ctx = context_;
    RIDGELINE_CUPTI(cuptiProfilerEnableProfiling, &enable);
    running_ = true;
    if (!whole()) return;
    RIDGELINE_PARAMS(CUpti_Profiler_PushRange_Params, push);
    push.ctx = context_;
    push.pRangeName = "ridgeline";
    RIDGELINE_CUPTI(cuptiProfilerPushRange, &push);
  }

  bool stop() override {
    running_ = false;
    if (whole()) {
      RIDGELINE_PARAMS(CUpti_Profiler_PopRange_Params, pop);
      pop.ctx = context_;
      RIDGELINE_CUPTI(cuptiProfilerPopRange, &pop);
    }
    RIDGELINE_PARAMS(CUpti_Profiler_DisableProfiling_Params, disable);
    disable.ctx = context_;
    RIDGELINE_CUPTI(cuptiProfilerDisableProfiling, &disable);
    if (!whole()) return true;  // the driver has repeated each kernel
    RIDGELINE_PARAMS(CUpti_Profiler_EndPass_Params, end);
    end.ctx = context_;
    RIDGELINE_CUPTI(cuptiProfilerEndPass, &end);
    return end.allPassesSubmitted != 0;
  }

  std::vector<std::vector<double>> values() override {
    if (!open_) return {};
    if (whole()) {
      RIDGELINE_PARAMS(CUpti_Profiler_FlushCounterData_Params, flush);
      flush.ctx = context_;
      RIDGELINE_CUPTI(cuptiProfilerFlushCounterData, &flush);
      if (flush.numRangesDropped > 0)
        throw Error("GPU counters", std::to_string(flush.numRangesDropped) +
                                        " ranges did not fit into the buffer of counters");
    }
    close();
    return names_.values(data_);
  }

 private:
  bool whole() const { return request_.range == ProfiledRange::whole; }

  void open() {
    CUpti_Profiler_CounterDataImageOptions options{};
    options.structSize = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE;
    options.pCounterDataPrefix = prefix_.data();
    options.counterDataPrefixSize = prefix_.size();
    options.maxNumRanges = static_cast<std::uint32_t>(request_.most_ranges);
    options.maxNumRangeTreeNodes = options.maxNumRanges;
    options.maxRangeNameLength = 64;
    RIDGELINE_PARAMS(CUpti_Profiler_CounterDataImage_CalculateSize_Params, size);
    size.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE;
    size.pOptions = &options;
    RIDGELINE_CUPTI(cuptiProfilerCounterDataImageCalculateSize, &size);
    data_.assign(size.counterDataImageSize, 0);
    RIDGELINE_PARAMS(CUpti_Profiler_CounterDataImage_Initialize_Params, initialize);
    initialize.sizeofCounterDataImageOptions = CUpti_Profiler_CounterDataImageOptions_STRUCT_SIZE;
    initialize.pOptions = &options;
    initialize.counterDataImageSize = data_.size();
    initialize.pCounterDataImage = data_.data();
    RIDGELINE_CUPTI(cuptiProfilerCounterDataImageInitialize, &initialize);
    RIDGELINE_PARAMS(CUpti_Profiler_CounterDataImage_CalculateScratchBufferSize_Params, scratch);
    scratch.counterDataImageSize = data_.size();
    scratch.pCounterDataImage = data_.data();
    RIDGELINE_CUPTI(cuptiProfilerCounterDataImageCalculateScratchBufferSize, &scratch);
    scratch_.assign(scratch.counterDataScratchBufferSize, 0);
    RIDGELINE_PARAMS(CUpti_Profiler_CounterDataImage_InitializeScratchBuffer_Params, clear);
    clear.counterDataImageSize = data_.size();
    clear.pCounterDataImage = data_.data();
    clear.counterDataScratchBufferSize = scratch_.size();
    clear.pCounterDataScratchBuffer = scratch_.data();
    RIDGELINE_CUPTI(cuptiProfilerCounterDataImageInitializeScratchBuffer, &clear);

    RIDGELINE_PARAMS(CUpti_Profiler_BeginSession_Params, begin);
    begin.ctx = context_;
    begin.counterDataImageSize = data_.size();
    begin.pCounterDataImage = data_.data();
    begin.counterDataScratchBufferSize = scratch_.size();
    begin.pCounterDataScratchBuffer = scratch_.data();
    begin.range = whole() ? CUPTI_UserRange : CUPTI_AutoRange;
    begin.replayMode = whole() ? CUPTI_UserReplay : CUPTI_KernelReplay;
    begin.maxRangesPerPass = request_.most_ranges;
    begin.maxLaunchesPerPass = whole() ? most_launches : request_.most_ranges;
    RIDGELINE_CUPTI(cuptiProfilerBeginSession, &begin);
    open_ = true;
    RIDGELINE_PARAMS(CUpti_Profiler_SetConfig_Params, set);
    set.ctx = context_;
    set.pConfig = configuration_.data();
    set.configSize = configuration_.size();
    set.minNestingLevel = 1;
    set.numNestingLevels = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    RIDGELINE_CUPTI(cuptiProfilerSetConfig, &set);
  }

  void close() {
    open_ = false;
    RIDGELINE_PARAMS(CUpti_Profiler_UnsetConfig_Params, unset);
    unset.ctx = context_;
    RIDGELINE_CUPTI(cuptiProfilerUnsetConfig, &unset);
    RIDGELINE_PARAMS(CUpti_Profiler_EndSession_Params, end);
    end.ctx = context_;
    RIDGELINE_CUPTI(cuptiProfilerEndSession, &end);
  }

  static constexpr std::size_t most_launches = 64;

  ProfilerRequest request_;
  CUcontext context_;
  std::string chip_;
  CounterNames names_;
  std::vector<std::string> metrics_;
  Image configuration_, prefix_, data_, scratch_;
  bool open_ = false, running_ = false;
};

}  // namespace

std::unique_ptr<Profiler> open_session_profiler(const ProfilerRequest& request) {
  return std::make_unique<SessionProfiler>(request);
}

std::vector<std::string> unknown_to_session_profiler(const std::string& chip,
                                                     const std::vector<std::string>& metrics) {
  return CounterNames(chip, {}).unknown(metrics);
}

}  // namespace ridgeline::cuda
