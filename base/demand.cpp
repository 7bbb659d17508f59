// The JSON form of a Demand.
// Making Demands from a Graph is the analyzer's lowering.
#include "base/demand.h"

#include "base/json.h"
#include "base/limits.h"

namespace ridgeline {
namespace {

Json tensor_use_to_json(const TensorUse& use) {
  return {{"tensor", use.tensor}, {"bytes", use.bytes}, {"producer", use.producer}};
}

TensorUse tensor_use_from_json(const JsonCursor& cursor) {
  return {cursor.at("tensor").text(), bounded(cursor.at("bytes"), static_cast<double>(max_bytes)),
          cursor.at("producer").text()};
}

}  // namespace

OpClass op_class(KernelKind kind) {
  switch (kind) {
    case KernelKind::convolution:
    case KernelKind::depthwise:
    case KernelKind::convolution_gradient:
    case KernelKind::depthwise_gradient:
      return OpClass::convolution;
    case KernelKind::linear:
    case KernelKind::product:
      return OpClass::matmul;
    case KernelKind::attention:
      return OpClass::attention;
    case KernelKind::recurrent:
      return OpClass::recurrent;
    case KernelKind::batch_norm:
    case KernelKind::normalize:
      return OpClass::normalize;
    case KernelKind::softmax:
      return OpClass::softmax;
    case KernelKind::pool:
      return OpClass::pool;
    case KernelKind::elementwise:
    case KernelKind::broadcast:
      return OpClass::elementwise;
    case KernelKind::reduce:
      return OpClass::reduce;
    case KernelKind::gather:
      return OpClass::gather;
    case KernelKind::resize:
      return OpClass::resize;
    case KernelKind::copy:
      return OpClass::copy;
    case KernelKind::none:
      return OpClass::view;
    case KernelKind::other:
      break;
  }
  return OpClass::other;
}

Json to_json(const Demand& demand) {
  Json gemm;
  if (demand.gemm)
    gemm = {{"m", demand.gemm->m},
            {"n", demand.gemm->n},
            {"k", demand.gemm->k},
            {"batch", demand.gemm->batch},
            {"taps", demand.gemm->taps}};
  return {{"name", demand.name},
          {"kind", to_string(demand.kind)},
          {"trait", to_string(demand.trait)},
          {"op_class", to_string(op_class(demand.kind))},
          {"work", to_json(demand.work)},
          {"gemm", std::move(gemm)},
          {"reads", array_of(demand.reads, tensor_use_to_json)},
          {"writes", array_of(demand.writes, tensor_use_to_json)},
          {"launches", demand.launches},
          {"host_functions", demand.host_calls.functions},
          {"host_modules", demand.host_calls.modules},
          {"source_layers", Json(demand.source_layers)}};
}

Demand demand_from_json(const JsonCursor& cursor) {
  Demand demand;
  demand.name = cursor.at("name").text();
  demand.kind = cursor.at("kind").token<KernelKind>();
  demand.trait = cursor.at("trait").token<KernelTrait>();
  demand.work = work_from_json(cursor.at("work"));
  if (const auto gemm = cursor.find("gemm"))
    demand.gemm = Gemm{bounded_bytes(gemm->at("m")), bounded_bytes(gemm->at("n")),
                       bounded_bytes(gemm->at("k")), bounded_bytes(gemm->at("batch")),
                       bounded_bytes(gemm->at("taps"))};
  demand.reads = vector_of(cursor.at("reads"), tensor_use_from_json);
  demand.writes = vector_of(cursor.at("writes"), tensor_use_from_json);
  demand.launches = cursor.at("launches").count();
  demand.host_calls.functions = cursor.at("host_functions").count();
  demand.host_calls.modules = cursor.at("host_modules").count();
  for (const JsonCursor& layer : cursor.at("source_layers").items())
    demand.source_layers.push_back(layer.text());
  return demand;
}

}  // namespace ridgeline
