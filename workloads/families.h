// The families of workloads: one file and one line each.
// A family's rows are in its file; the registry joins them.
#pragma once

#include <span>

#include "workloads/workload.h"

namespace ridgeline {

std::span<const Workload> lenet_workloads();
std::span<const Workload> alexnet_workloads();
std::span<const Workload> squeezenet_workloads();
std::span<const Workload> vgg_workloads();
std::span<const Workload> resnet_workloads();
std::span<const Workload> densenet_workloads();
std::span<const Workload> inception_v3_workloads();
std::span<const Workload> inception_v4_workloads();
std::span<const Workload> mobilenet_v2_workloads();
std::span<const Workload> mobilenet_v3_workloads();
std::span<const Workload> efficientnet_workloads();
std::span<const Workload> vision_transformer_workloads();
std::span<const Workload> swin_workloads();
std::span<const Workload> maxvit_workloads();
std::span<const Workload> mobilevit_workloads();
std::span<const Workload> yolov3_workloads();
std::span<const Workload> yolov8_workloads();
std::span<const Workload> ssd_mobilenet_workloads();
std::span<const Workload> ssd_resnet_workloads();
std::span<const Workload> retinanet_workloads();
std::span<const Workload> unet_workloads();
std::span<const Workload> bert_workloads();
std::span<const Workload> gpt2_workloads();
std::span<const Workload> opt_workloads();
std::span<const Workload> llama_workloads();
std::span<const Workload> lstm_workloads();
std::span<const Workload> dreamlab_workloads();

}  // namespace ridgeline
