// Names of metrics, the counters behind them and back, by NVIDIA's counter library
// (libnvperf_host): the host's part of the older interface, which newer toolkits have inside of
// CUPTI.
#pragma once

#include <nvperf_host.h>

#include <string>
#include <vector>

#include "kernels/cuda/cupti/call.h"

namespace ridgeline::cuda {

class CounterNames {
 public:
  // The images may be empty: names can be asked for without a GPU.
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

}  // namespace ridgeline::cuda
