// The two tables: what rows have taught, and how uncertain the rest is. Kinds that rows of every
// runtime contain (convolutions, products, normalisation, pooling, element-wise kernels, copies)
// have no subject: their rates are priors with a spread of their own.
#include "roofline/model/familiarity.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "devices/catalog/catalog.h"
#include "roofline/model/coefficients.h"

namespace ridgeline {
namespace {

// clang-format off
constexpr TaughtRow taught_table[] = {
  {"jetson", "torch", "fp32",             "AGX Orin, one node at a time, nine networks"},
  {"jetson", "torch", "fp16",             "AGX Orin, one node at a time, nine networks"},
  {"jetson", "torch", "bf16",             "AGX Orin, one node at a time, nine networks"},
  {"jetson", "torch", "depthwise",        "AGX Orin, MobileNets and EfficientNet-B0"},
  {"jetson", "torch", "recurrent",        "AGX Orin, LSTM, eager"},
  {"jetson", "tensorrt", "int8",          "MLPerf: Xavier and Orin"},
  {"jetson", "tensorrt", "fp16",          "Orin Nano, YOLOv8n"},
  {"jetson", "tensorrt", "fp32",          "Orin Nano, YOLOv8n"},
  {"jetson", "tensorrt", "depthwise",     "MLPerf: SSD MobileNet"},
  {"jetson", "tensorrt", "attention",     "MLPerf: BERT-Large"},
  {"jetson", "tensorrt", "gather",        "MLPerf: BERT-Large"},
  {"jetson", "tensorrt", "resize",        "Orin Nano, YOLOv8n"},
  {"gpu", "torch", "fp32",                "A100 and A10, eager"},
  {"gpu", "torch", "bf16",                "A100 and A10, eager"},
  {"gpu", "torch", "fp16",                "RTX 3090 and 4090, timm"},
  {"gpu", "torch", "depthwise",           "A100, MobileViT; RTX 3090 and 4090, MobileNets"},
  {"gpu", "torch", "attention",           "RTX 3090 and 4090, ViT-B/32"},
  {"gpu", "torch", "window_attention",    "RTX 3090 and 4090, Swin-T; A100, MobileViT"},
  {"gpu", "torch", "gather",              "A100 and A10, GPT-2, OPT, BERT"},
  {"gpu", "torch_compiled", "fp16",       "RTX 4090, timm"},
  {"gpu", "torch_compiled", "depthwise",  "RTX 4090, MobileNets"},
  {"cpu", "torch", "fp32",                "Emerald Rapids guest, five networks"},
  {"cpu", "torch", "depthwise",           "Emerald Rapids guest, MobileNetV3"},
  {"cpu", "torch", "attention",           "Emerald Rapids guest, BERT"},
  {"cpu", "torch", "gather",              "Emerald Rapids guest, BERT"},
  {"cpu", "onnxruntime", "fp32",          "Emerald Rapids guest, five networks"},
  {"cpu", "onnxruntime", "depthwise",     "Emerald Rapids guest, MobileNetV3"},
  {"cpu", "onnxruntime", "attention",     "Emerald Rapids guest, BERT"},
  {"cpu", "onnxruntime", "gather",        "Emerald Rapids guest, BERT"},
  {"GA10B", "", "device",                 "AGX Orin, Orin Nano"},
  {"GV11B", "", "device",                 "MLPerf: AGX Xavier, Xavier NX"},
  {"GA100", "", "device",                 "A100-40GB-PCIe at 510 to 1410 MHz"},
  {"GA102", "", "device",                 "A10, RTX 3090"},
  {"AD102", "", "device",                 "RTX 4090"},
};

// Sigmas are judgements. Kernels that stream their data are known within a third by their bytes;
// those that gather, sort or transform may be off by a factor of two. Small int8 layers of YOLOv8n
// took 2.4 times the time that was predicted before they were measured, and a chip of another
// generation is off by 10 to 20 % (docs/accuracy.md, devices left out). Servers' CPUs differ by ±50 %
// in the speed of one thread (roofline/model/host_cpu.cpp), which 90 % of the draws cover.
constexpr UnfamiliarRow unfamiliar_table[] = {
  {Subject::depthwise,        0.5,  "depthwise convolutions"},
  {Subject::attention,        0.5,  "fused attention"},
  {Subject::recurrent,        0.5,  "recurrent cells"},
  {Subject::gather,           0.3,  "gathers"},
  {Subject::resize,           0.3,  "resizing"},
  {Subject::other,            0.7,  "operators without a rule of their own"},
  {Subject::window_attention, 0.4,  "window attention"},
  {Subject::grid_sample,      0.6,  "grid sampling"},
  {Subject::region_align,     0.6,  "region-of-interest alignment"},
  {Subject::deformable,       0.6,  "deformable convolutions"},
  {Subject::volumetric,       0.4,  "3-D convolutions"},
  {Subject::grouped,          0.5,  "grouped convolutions"},
  {Subject::transposed,       0.4,  "transposed convolutions"},
  {Subject::sort,             0.7,  "sorting"},
  {Subject::fourier,          0.6,  "Fourier transforms"},
  {Subject::scatter,          0.5,  "scattered updates"},
  {Subject::small_int8,       0.6,  "int8 layers with few channels"},
  {Subject::host,             0.25, "the server's host CPU (give --host-cpu)"},
  {Subject::dtype,            0.2,  "products in this type"},
  {Subject::runtime,          0.2,  "this runtime's kernels"},
  {Subject::device,           0.15, "this chip"},
};
// clang-format on

// Below this many channels on either side, a product in int8 fills no tile.
constexpr double few_channels = 64;

class Lessons {
 public:
  Lessons(TaughtDevice device, Runtime runtime)
      : device_(std::move(device)), library_(library_of(runtime)) {}

  // A card's server is not part of its catalog entry; boards and CPUs are their own host.
  bool has_host() const { return device_.kind != to_string(catalog::Kind::gpu); }

  bool has_runtime() const {
    return any([&](const TaughtRow& row) { return is_own(row) && row.library == library_; });
  }

  bool has_chip() const {
    return device_.chip.empty() || any([&](const TaughtRow& row) {
             return row.what == to_string(Subject::device) &&
                    device_.chip.find(row.device) != std::string::npos;
           });
  }

  // Where the runtime itself is unfamiliar here, what it does elsewhere counts. torch's compiler
  // takes products and attention from the libraries that torch calls.
  bool has(std::string_view what) const {
    const bool here = has_runtime();
    return any([&](const TaughtRow& row) {
      if (row.what != what) return false;
      if (row.library == library_) return is_own(row) || !here;
      return library_ == "torch_compiled" && row.library == "torch" && is_own(row);
    });
  }

 private:
  template <class Test>
  static bool any(const Test& test) {
    return std::any_of(std::begin(taught_table), std::end(taught_table), test);
  }
  bool is_own(const TaughtRow& row) const { return row.device == device_.kind; }

  TaughtDevice device_;
  std::string_view library_;
};

Familiarity make_familiarity(const std::string& device, Runtime runtime) {
  Familiarity result;
  if (runtime == Runtime::ideal) return result;  // a bound, not a prediction
  const Lessons lessons(taught_device(device), runtime);
  for (const UnfamiliarRow& row : unfamiliar_table)
    result.unfamiliar[index_of(row.subject)] = !lessons.has(to_string(row.subject));
  for (const auto& [dtype, word] : TokenTable<DType>::rows)
    result.unfamiliar_dtype[index_of(dtype)] = !lessons.has(word);
  // TF32 is what fp32 products become.
  result.unfamiliar_dtype[index_of(DType::tf32)] = result.unfamiliar_dtype[index_of(DType::fp32)];
  result.unfamiliar[index_of(Subject::dtype)] = false;  // by type, above
  result.unfamiliar[index_of(Subject::host)] = !lessons.has_host();
  result.unfamiliar[index_of(Subject::runtime)] = !lessons.has_runtime();
  result.unfamiliar[index_of(Subject::device)] = !lessons.has_chip();
  return result;
}

std::optional<Subject> subject_of_trait(KernelTrait trait) {
  switch (trait) {
    case KernelTrait::plain:
      break;
    case KernelTrait::window_attention:
      return Subject::window_attention;
    case KernelTrait::grid_sample:
      return Subject::grid_sample;
    case KernelTrait::region_align:
      return Subject::region_align;
    case KernelTrait::deformable:
      return Subject::deformable;
    case KernelTrait::volumetric:
      return Subject::volumetric;
    case KernelTrait::grouped:
      return Subject::grouped;
    case KernelTrait::transposed:
      return Subject::transposed;
    case KernelTrait::sort:
      return Subject::sort;
    case KernelTrait::fourier:
      return Subject::fourier;
    case KernelTrait::scatter:
      return Subject::scatter;
  }
  return std::nullopt;
}

bool has_few_channels(const Gemm& gemm) {
  const double inputs = static_cast<double>(gemm.k) / static_cast<double>(gemm.taps);
  return std::min(inputs, static_cast<double>(gemm.n)) < few_channels;
}

}  // namespace

std::span<const TaughtRow> taught_rows() { return taught_table; }
std::span<const UnfamiliarRow> unfamiliar_rows() { return unfamiliar_table; }

std::string unfamiliar_parameter(Subject subject) {
  return "unfamiliar_" + std::string(to_string(subject)) + "_time_scale";
}

const TaughtDevice& taught_device(const std::string& device) {
  // Every prediction needs it, and an entry of the catalog takes milliseconds to read.
  thread_local std::map<std::string, TaughtDevice> known;
  const auto found = known.find(device);
  if (found != known.end()) return found->second;
  TaughtDevice taught{"cpu", "CPUs", ""};
  if (catalog::find(device)) {
    const catalog::Device entry = catalog::load(device);
    taught.kind = to_string(entry.kind);
    if (entry.gpu) {
      taught.plural = entry.kind == catalog::Kind::jetson ? "Jetson boards" : "graphics cards";
      taught.chip = entry.gpu->architecture;
    }
  }
  return known.emplace(device, std::move(taught)).first->second;
}

std::optional<Subject> subject_of(KernelKind kind, KernelTrait trait, DType dtype,
                                  const std::optional<Gemm>& gemm, Runtime runtime) {
  if (const auto subject = subject_of_trait(trait)) return subject;
  if (runtime == Runtime::tensorrt && dtype == DType::int8 && gemm && has_few_channels(*gemm) &&
      (kind == KernelKind::convolution || kind == KernelKind::linear))
    return Subject::small_int8;
  switch (kind) {
    case KernelKind::depthwise:
      return Subject::depthwise;
    case KernelKind::attention:
      return Subject::attention;
    case KernelKind::recurrent:
      return Subject::recurrent;
    case KernelKind::gather:
      return Subject::gather;
    case KernelKind::resize:
      return Subject::resize;
    case KernelKind::other:
      return Subject::other;
    default:
      return std::nullopt;
  }
}

const Familiarity& familiarity(const std::string& device, Runtime runtime) {
  // Asked for with every draw of the parameters.
  thread_local std::map<std::pair<std::string, Runtime>, Familiarity> known;
  const auto found = known.find({device, runtime});
  if (found != known.end()) return found->second;
  return known.emplace(std::pair(device, runtime), make_familiarity(device, runtime)).first->second;
}

std::vector<UnfamiliarRow> unfamiliar_on(const std::string& device) {
  std::vector<UnfamiliarRow> rows;
  for (const UnfamiliarRow& row : unfamiliar_table)
    for (const auto& [runtime, name] : TokenTable<Runtime>::rows) {
      const Familiarity& here = familiarity(device, runtime);
      const bool needed =
          row.subject == Subject::dtype
              ? std::find(here.unfamiliar_dtype.begin(), here.unfamiliar_dtype.end(), true) !=
                    here.unfamiliar_dtype.end()
              : here.unfamiliar[index_of(row.subject)];
      if (!needed) continue;
      rows.push_back(row);
      break;
    }
  return rows;
}

}  // namespace ridgeline
