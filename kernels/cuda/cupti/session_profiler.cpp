// Profiling sessions, CUPTI's older interface: names, configuration and values are
// counter_names.h's part, passes and ranges are CUPTI's.
#include "base/error.h"
#include "kernels/cuda/cupti/counter_names.h"
#include "kernels/cuda/cupti/profilers.h"

namespace ridgeline::cuda {
namespace {

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
    } catch (const Error&) {  // what went wrong before has been told
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
