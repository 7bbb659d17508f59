// Calls that launch nothing, by the operator's own word.
// Eager mode calls every view; hooks around the nodes that torch.fx traces see functions and
// modules, not methods of a tensor (reshape, permute, expand), but what Python asks of shapes too.
#include "analyzer/lowering/host_calls.h"

#include <algorithm>
#include <string_view>

namespace ridgeline {
namespace {

struct ViewCall {
  std::string_view origin;
  HostCalls calls;
};

constexpr HostCalls function{.functions = 1, .modules = 0};
constexpr HostCalls module{.functions = 0, .modules = 1};

constexpr ViewCall view_calls[] = {
    {"Dropout", module},            // torch.nn.Dropout
    {"Flatten", function},          // torch.flatten
    {"Identity", module},           // torch.nn.Identity
    {"Slice", function},            // x[:, 0]
    {"Split", function},            // torch.split
    {"StochasticDepth", function},  // torchvision's, which traces as a function
};

}  // namespace

HostCalls host_calls_of(const Layer& layer, Runtime runtime) {
  HostCalls calls;
  if (!walks_one_by_one(runtime)) return calls;
  const bool hooked = runtime == Runtime::torch_eager_hooks;
  if (is_view(layer)) {
    const auto* row = std::find_if(std::begin(view_calls), std::end(view_calls),
                                   [&](const ViewCall& one) { return one.origin == layer.origin; });
    if (row != std::end(view_calls))
      calls = row->calls;
    else if (!hooked)
      calls = function;
  }
  if (hooked) calls.functions += layer.bookkeeping;
  return calls;
}

}  // namespace ridgeline
