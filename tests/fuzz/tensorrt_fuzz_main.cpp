// Fuzz target of the TensorRT front end: any bytes are read as layer information, counted and
// linted, and read as times, or refused with an Error. libFuzzer drives it (`./run fuzz tensorrt`);
// any other exception is a bug.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyzer/tensorrt/engine.h"
#include "analyzer/tensorrt/engine_diff.h"
#include "analyzer/tensorrt/engine_file.h"
#include "analyzer/tensorrt/import.h"
#include "analyzer/tensorrt/layer_cost.h"
#include "analyzer/tensorrt/lint/lint.h"
#include "analyzer/tensorrt/times.h"
#include "base/error.h"
#include "base/json.h"

namespace {

using namespace ridgeline;
using namespace ridgeline::tensorrt;

template <class Call>
void refused_or(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    if (std::string_view(error.what()).find('\n') != std::string_view::npos) std::abort();
  }
}

void read_and_judge(std::string_view text) {
  ReadOptions options;
  options.batch = options.assumed_dim = 1;
  const LoadedEngine loaded = load_engine(read_engine(text, "fuzz.json"), options);
  const ComparedEngine compared{loaded.engine, layer_costs(loaded.import.kernels), std::nullopt};
  for (const LayerCost& cost : compared.costs)
    if (!(cost.bytes >= 0)) std::abort();
  dump_json(to_json(lint({compared.engine, compared.costs, std::nullopt})));
  if (!diff(compared, compared).added.empty()) std::abort();
  refused_or([&] { join_times(compared.engine, {read_times(text, "fuzz.json")}); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (engine_version(text) && !is_engine_file(text)) std::abort();
  refused_or([&] { read_and_judge(text); });
  refused_or([&] { read_times(text, "fuzz.json"); });
  return 0;
}
