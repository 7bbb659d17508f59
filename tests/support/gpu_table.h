// The table of measured graphics cards as it must be read: its language models ran without their
// heads, and all attention step by step. The source's own code and lists of kernels show that
// (github.com/yifueve/energaizer-ispass26-artifact: test/code/run_model.py makes GPT2Model,
// OPTModel and Qwen2Model; every list in test/data/workloads has a softmax of its own); the options
// column of the table says it of some rows only.
#pragma once

#include <string>

namespace ridgeline::testing {

// $RIDGELINE_DATA/measurements/tables/nvidia_gpus_dvfs.csv; empty where that is not there.
std::string gpu_table_file();

// Writes it to `path`, with logits=none and attention=eager where they are missing.
void write_gpu_table(const std::string& path);

}  // namespace ridgeline::testing
