// A profile with every section filled and rows of every status.
// Numbers are made up and describe no real machine.
#pragma once

#include "base/profile.h"

namespace ridgeline::testing {

inline Profile sample_profile() {
  Profile profile;
  profile.tool = "ridgeline 0.1.0";

  Machine& machine = profile.machine;
  machine.name = "Example \"CPU\" ® 3 GHz";
  machine.architecture = "x86_64";
  machine.microarchitecture = "Example Cove";
  machine.cores = 4;
  machine.hardware_threads = 8;
  machine.memory_bytes = 17179869184;
  machine.caches = {{Level::l1, 49152, 4, 1, 64}, {Level::l3, 12582912, 1, 4, 64}};
  machine.isa = {"sse2", "avx2"};
  machine.os = "Example OS 1";
  machine.kernel = "6.1.0";
  machine.hypervisor = "KVM";
  machine.gpus = {{"Example GPU", "sm_87", 8, 8589934592, "12.6"}};

  ProfileMode mode;
  mode.mode = {"30W", 8, 612e6, 2133e6, {1.2e9, 2.4e9}, 4, 30.0};
  mode.conditions = {"2025-01-02T03:04:05Z",
                     12.5,
                     false,
                     31,
                     2,
                     true,
                     "powersave",
                     0.01,
                     0.48,
                     {{"other load: 'stress' used 48 % of the cores", "stop it"}},
                     {40, 9, 8, 2, 17, 3},
                     RunVerdict{RunState::disturbed, "other processes took 48 % of the CPU",
                                "close them and measure again"}};
  const Estimate rate{1.83e11, 1.80e11, 1.85e11, Source::measured};
  const Estimate clock{2.9e9, 2.8e9, 3.0e9, Source::measured};
  mode.compute = {{Processor::cpu, "fma_avx2_fp32", Unit::vector, DType::fp32, DType::fp32, "avx2",
                   8, Status::ok, "", rate, exact(2e11, Source::datasheet), clock},
                  {Processor::gpu, "mma_int8", Unit::matrix, DType::int8, DType::int32, "", 1,
                   Status::unsupported, "no GPU", std::nullopt, std::nullopt, std::nullopt, true}};
  mode.memory = {{Processor::cpu, "read_avx2", Level::dram, Direction::read, "avx2", 8,
                  Status::throttled, "clock fell by 9 %", rate, std::nullopt, clock, 1073741824,
                  "pinned"}};
  mode.sweep = {{Processor::cpu, "sweep_avx2", DType::fp32, 8, 4, 2.0, Status::ok, "", rate, rate,
                 1073741824, Estimate{41.5, 41, 42, Source::measured}}};
  mode.latency = {{Processor::cpu, "chase", Level::l1, 16384, Status::ok, "",
                   Estimate{1.4e-9, 1.3e-9, 1.5e-9, Source::measured}},
                  {Processor::cpu, "chase", std::nullopt, 1073741824, Status::impossible,
                   "faster than the cache", exact(1e-12, Source::measured)}};
  mode.launch = {
      {Processor::cpu, "fork_join", 8, Status::ok, "", exact(3e-6, Source::measured), clock},
      {Processor::gpu, "kernel", 1, Status::unsupported, "no GPU", std::nullopt}};
  mode.transfer = {{Processor::gpu, "host_to_device", "pinned", 67108864, Status::ok, "", rate}};
  mode.storage = {{"samples", "ext4", "ssd", 2, 150000, Status::ok, "", rate}};
  mode.decode = {{"jpeg", "libjpeg-turbo 2.1.5", 500, 375, 110000, 1, Status::ok, "",
                  exact(2.5e-3, Source::measured), clock}};
  mode.energy = {{Processor::gpu, "sweep_fp32", DType::fp32, "INA3221 VDD_GPU_SOC", Status::ok, "",
                  exact(5e-12, Source::fitted), exact(9e-11, Source::fitted),
                  exact(7.5, Source::fitted)}};
  mode.idle_power_w = Estimate{6.6, 6.5, 6.8, Source::measured};
  mode.compute[0].sustained =
      Sustained{5, Estimate{1.5e11, 1.4e11, 1.6e11, Source::measured}, 2.9e9, 2.4e9, 51, 84, 45};
  mode.compute[1].roof = false;
  mode.memory[0].sustained = Sustained{4.5, rate};
  mode.compute[0].power_w = Estimate{38, 37, 39, Source::measured};
  mode.conditions.gpu = GpuConditions{0.12, 45, 84, 2, 17, "power cap"};
  mode.conditions.system = SystemConditions{{{"gpu", 612e6, 611e6, 612e6, "nvhost_podgov", true},
                                             {"cores", std::nullopt, 4, 4, "", false}},
                                            0.3,
                                            0.5,
                                            2100,
                                            -4.5,
                                            62,
                                            84,
                                            {{"clock_fell", 3}, {"oc3", 0}},
                                            "'stress' (pid 4711)"};
  mode.idle = {{IdleState::locked, {6.6, 6.5, 6.8, Source::measured}, 612e6, 3199e6},
               {IdleState::suspended, {4.1, 4, 4.2, Source::measured}}};
  profile.modes = {mode, mode};
  profile.modes[1].mode = OperatingPoint{};
  profile.modes[1].mode.label = "as found";
  profile.modes[1].idle_power_w.reset();
  return profile;
}

}  // namespace ridgeline::testing
