// Rule "channel-alignment": products whose channels are not a multiple of what a tensor core reads
// at once (16 bytes: 8 channels in fp16, 16 in int8; 32 is what int8 layouts are padded to). The
// rest of the last group is computed and moved for nothing.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/tensorrt/lint/finding_list.h"
#include "analyzer/tensorrt/lint/layer_role.h"
#include "analyzer/tensorrt/lint/rules.h"
#include "analyzer/tensorrt/tactic.h"

namespace ridgeline::tensorrt {
namespace {

struct Channels {
  std::int64_t in = 0, out = 0;
};

// Per group; nothing if the file does not say.
std::optional<Channels> channels_of(const EngineLayer& layer) {
  if (layer.inputs.empty() || layer.out_maps <= 0 || layer.groups <= 0) return std::nullopt;
  const Shape& shape = layer.inputs.front().shape;
  if (shape.size() < 3 || shape[1] <= 0) return std::nullopt;
  const Channels channels{shape[1] / layer.groups, layer.out_maps / layer.groups};
  return channels.in > 0 && channels.out > 0 ? std::optional(channels) : std::nullopt;
}

std::int64_t padded(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

}  // namespace

std::vector<Finding> find_unaligned_channels(const LintSubject& subject) {
  FindingList findings("channel-alignment", Source::predicted);
  for (const std::size_t index : subject.judged) {
    const EngineLayer& layer = subject.layer(index);
    const ElementType type = product_type(layer);
    const bool is_narrow = bits(type) == 8 || bits(type) == 16;
    if (!is_product(layer) || is_depthwise(layer)) continue;
    if (!is_narrow && !parse_tactic(layer.tactic).tensor_cores.value_or(false)) continue;
    const auto channels = channels_of(layer);
    if (!channels || bits(type) == 0) continue;
    const std::int64_t multiple = 128 / bits(type);
    const double used = static_cast<double>(channels->in) * static_cast<double>(channels->out);
    const double filled = static_cast<double>(padded(channels->in, multiple)) *
                          static_cast<double>(padded(channels->out, multiple));
    if (used >= filled) continue;
    const double wasted = 1 - used / filled;
    const LayerCost& cost = subject.costs[index];
    std::optional<double> lost_s;
    if (cost.time_s) lost_s = wasted * *cost.time_s;
    const std::string detail = fmt::format("{} → {} channels", channels->in, channels->out);
    // Limited by what it writes: how much of the padding shows in its time is unknown.
    if (subject.wiring.reads_input(index) || channels->in <= 4)
      findings.add("a first layer that reads few channels",
                   "if it matters, move space into channels before the network (2×2 pixels of 3 "
                   "channels are 12), or leave it: there is one such layer in most networks",
                   {index, std::nullopt, std::nullopt, detail});
    else
      findings.add(fmt::format("{} products with channels that are not a multiple of {}",
                               to_string(type), multiple),
                   fmt::format("choose channel counts that are multiples of {} ({} for the best "
                               "layouts), for example when the network is pruned",
                               multiple, 2 * multiple),
                   {index, lost_s, std::nullopt, detail});
  }
  return findings.take();
}

}  // namespace ridgeline::tensorrt
