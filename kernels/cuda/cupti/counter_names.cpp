// A metric is computed from raw counters; those are what passes are made of.
#include "kernels/cuda/cupti/counter_names.h"

#include <nvperf_cuda_host.h>
#include <nvperf_target.h>

#include <set>

#include "base/error.h"

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

}  // namespace

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

}  // namespace ridgeline::cuda
