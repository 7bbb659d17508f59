// Range profiling, the interface of CUDA 12.6 and newer: CUPTI itself turns names into counters and
// counters into values. A build with an older toolkit has sessions only.
#include "kernels/cuda/cupti/profilers.h"

#if __has_include(<cupti_range_profiler.h>)

#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>

#include "base/error.h"
#include "kernels/cuda/cupti/call.h"

namespace ridgeline::cuda {
namespace {

// What CUPTI knows of a chip: which names it has, and how they are counted.
class Host {
 public:
  Host(const std::string& chip, const Image& availability) {
    RIDGELINE_PARAMS(CUpti_Profiler_Host_Initialize_Params, initialize);
    initialize.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    initialize.pChipName = chip.c_str();
    initialize.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
    RIDGELINE_CUPTI(cuptiProfilerHostInitialize, &initialize);
    object_ = initialize.pHostObject;
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  ~Host() {
    RIDGELINE_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, end);
    end.pHostObject = object_;
    CuptiLibrary::instance().function<decltype(&cuptiProfilerHostDeinitialize)>(
        "cuptiProfilerHostDeinitialize")(&end);
  }

  // Looked up one by one: a name that cannot be added leaves the whole object unusable.
  std::vector<std::string> unknown(const std::vector<std::string>& metrics) const {
    const auto properties =
        CuptiLibrary::instance().function<decltype(&cuptiProfilerHostGetMetricProperties)>(
            "cuptiProfilerHostGetMetricProperties");
    std::vector<std::string> missing;
    for (const std::string& metric : metrics) {
      RIDGELINE_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, asked);
      asked.pHostObject = object_;
      asked.pMetricName = metric.c_str();
      if (properties(&asked) != CUPTI_SUCCESS) missing.push_back(metric);
    }
    return missing;
  }

  Image configuration(std::vector<const char*>& names) const {
    RIDGELINE_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
    add.pHostObject = object_;
    add.ppMetricNames = names.data();
    add.numMetrics = names.size();
    RIDGELINE_CUPTI(cuptiProfilerHostConfigAddMetrics, &add);
    RIDGELINE_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
    size.pHostObject = object_;
    RIDGELINE_CUPTI(cuptiProfilerHostGetConfigImageSize, &size);
    Image image(size.configImageSize);
    RIDGELINE_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, get);
    get.pHostObject = object_;
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    RIDGELINE_CUPTI(cuptiProfilerHostGetConfigImage, &get);
    return image;
  }

  std::vector<double> values(std::vector<const char*>& names, const Image& data,
                             std::size_t range) const {
    std::vector<double> values(names.size());
    RIDGELINE_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
    evaluate.pHostObject = object_;
    evaluate.pCounterDataImage = data.data();
    evaluate.counterDataImageSize = data.size();
    evaluate.rangeIndex = range;
    evaluate.ppMetricNames = names.data();
    evaluate.numMetrics = names.size();
    evaluate.pMetricValues = values.data();
    RIDGELINE_CUPTI(cuptiProfilerHostEvaluateToGpuValues, &evaluate);
    return values;
  }

 private:
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

class RangeProfiler final : public Profiler {
 public:
  explicit RangeProfiler(const ProfilerRequest& request)
      : request_(request),
        context_(context_or_current(request.context)),
        chip_(chip_of(context_)),
        availability_(counter_availability(context_)),
        host_(chip_, availability_),
        metrics_(known_metrics(request.metrics, host_.unknown(request.metrics), chip_)) {
    for (const std::string& metric : metrics_) names_.push_back(metric.c_str());
    configuration_ = host_.configuration(names_);
    RIDGELINE_PARAMS(CUpti_RangeProfiler_Enable_Params, enable);
    enable.ctx = context_;
    RIDGELINE_CUPTI(cuptiRangeProfilerEnable, &enable);
    object_ = enable.pRangeProfilerObject;
    // From here on the destructor does not run if this throws.
    try {
      configure();
    } catch (...) {
      disable();
      throw;
    }
  }
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;
  ~RangeProfiler() override {
    try {
      if (running_) stop();
    } catch (const Error&) {  // the first fault has been reported
    }
    disable();
  }

  const std::vector<std::string>& metrics() const override { return metrics_; }

  void start() override {
    RIDGELINE_PARAMS(CUpti_RangeProfiler_Start_Params, start);
    start.pRangeProfilerObject = object_;
    RIDGELINE_CUPTI(cuptiRangeProfilerStart, &start);
    running_ = true;
    if (request_.range != ProfiledRange::whole) return;
    RIDGELINE_PARAMS(CUpti_RangeProfiler_PushRange_Params, push);
    push.pRangeProfilerObject = object_;
    push.pRangeName = "ridgeline";
    RIDGELINE_CUPTI(cuptiRangeProfilerPushRange, &push);
  }

  bool stop() override {
    running_ = false;
    if (request_.range == ProfiledRange::whole) {
      RIDGELINE_PARAMS(CUpti_RangeProfiler_PopRange_Params, pop);
      pop.pRangeProfilerObject = object_;
      RIDGELINE_CUPTI(cuptiRangeProfilerPopRange, &pop);
    }
    RIDGELINE_PARAMS(CUpti_RangeProfiler_Stop_Params, stop);
    stop.pRangeProfilerObject = object_;
    RIDGELINE_CUPTI(cuptiRangeProfilerStop, &stop);
    return stop.isAllPassSubmitted != 0;
  }

  std::vector<std::vector<double>> values() override {
    RIDGELINE_PARAMS(CUpti_RangeProfiler_DecodeData_Params, decode);
    decode.pRangeProfilerObject = object_;
    RIDGELINE_CUPTI(cuptiRangeProfilerDecodeData, &decode);
    if (decode.numOfRangeDropped > 0)
      throw Error("GPU counters", std::to_string(decode.numOfRangeDropped) +
                                      " ranges did not fit into the buffer of counters");
    RIDGELINE_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = data_.data();
    info.counterDataImageSize = data_.size();
    RIDGELINE_CUPTI(cuptiRangeProfilerGetCounterDataInfo, &info);
    std::vector<std::vector<double>> values;
    for (std::size_t range = 0; range < info.numTotalRanges; ++range)
      values.push_back(host_.values(names_, data_, range));
    configure();  // empty again
    return values;
  }

 private:
  void configure() {
    RIDGELINE_PARAMS(CUpti_RangeProfiler_GetCounterDataSize_Params, size);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = names_.data();
    size.numMetrics = names_.size();
    size.maxNumOfRanges = request_.most_ranges;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(request_.most_ranges);
    RIDGELINE_CUPTI(cuptiRangeProfilerGetCounterDataSize, &size);
    data_.assign(size.counterDataSize, 0);
    RIDGELINE_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize_Params, initialize);
    initialize.pRangeProfilerObject = object_;
    initialize.counterDataSize = data_.size();
    initialize.pCounterData = data_.data();
    RIDGELINE_CUPTI(cuptiRangeProfilerCounterDataImageInitialize, &initialize);
    const bool whole = request_.range == ProfiledRange::whole;
    RIDGELINE_PARAMS(CUpti_RangeProfiler_SetConfig_Params, set);
    set.pRangeProfilerObject = object_;
    set.configSize = configuration_.size();
    set.pConfig = configuration_.data();
    set.counterDataImageSize = data_.size();
    set.pCounterDataImage = data_.data();
    set.range = whole ? CUPTI_UserRange : CUPTI_AutoRange;
    set.replayMode = whole ? CUPTI_UserReplay : CUPTI_KernelReplay;
    set.maxRangesPerPass = request_.most_ranges;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    RIDGELINE_CUPTI(cuptiRangeProfilerSetConfig, &set);
  }

  void disable() noexcept {
    RIDGELINE_PARAMS(CUpti_RangeProfiler_Disable_Params, end);
    end.pRangeProfilerObject = object_;
    CuptiLibrary::instance().function<decltype(&cuptiRangeProfilerDisable)>(
        "cuptiRangeProfilerDisable")(&end);
  }

  ProfilerRequest request_;
  CUcontext context_;
  std::string chip_;
  Image availability_;
  Host host_;
  std::vector<std::string> metrics_;
  std::vector<const char*> names_;
  Image configuration_, data_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  bool running_ = false;
};

}  // namespace

bool has_range_profiler() { return CuptiLibrary::instance().has("cuptiRangeProfilerEnable"); }

std::unique_ptr<Profiler> open_range_profiler(const ProfilerRequest& request) {
  return std::make_unique<RangeProfiler>(request);
}

std::vector<std::string> unknown_to_range_profiler(const std::string& chip,
                                                   const std::vector<std::string>& metrics) {
  return Host(chip, {}).unknown(metrics);
}

}  // namespace ridgeline::cuda

#else

#include "base/error.h"

namespace ridgeline::cuda {
namespace {

Error too_old() { return {"CUPTI", "range profiling needs a build with CUDA 12.6 or newer"}; }

}  // namespace

bool has_range_profiler() { return false; }
std::unique_ptr<Profiler> open_range_profiler(const ProfilerRequest&) { throw too_old(); }
std::vector<std::string> unknown_to_range_profiler(const std::string&,
                                                   const std::vector<std::string>&) {
  throw too_old();
}

}  // namespace ridgeline::cuda

#endif
