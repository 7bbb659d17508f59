// Whole jobs of people, from the question to an answer that they can use: what each text must show,
// in 80 columns. Numbers are checked elsewhere.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/text_file.h"
#include "base/text_table.h"
#include "tests/support/paths.h"
#include "tests/support/process.h"
#include "tests/support/sample_models.h"
#include "tests/support/schema_validator.h"
#include "tests/support/temporary_directory.h"

namespace ridgeline::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

ProcessResult asked(const std::string& line) { return run_ridgeline(words_of(line)); }

// A text in 80 columns, unwrapped.
std::string answer_to(const std::string& line) {
  const ProcessResult result = asked(line);
  EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
  std::istringstream lines(result.out);
  for (std::string each; std::getline(lines, each);) EXPECT_LE(display_width(each), 80) << each;
  return std::regex_replace(result.out, std::regex("\n  (?=\\S)"), " ");
}

Json json_answer_to(const std::string& line) {
  const ProcessResult result = asked(line + " --json");
  EXPECT_EQ(result.exit_code, 0) << line << "\n" << result.err;
  return parse_json(result.out, line);
}

std::string answer_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void expect_lines(const std::string& text, const std::vector<const char*>& patterns) {
  for (const char* pattern : patterns)
    EXPECT_TRUE(std::regex_search(text, std::regex(pattern))) << pattern << "\n" << text;
}

const std::string camera = "plan yolov8n --on orin-nano-8gb --fps 30 --dtype fp16";

// The owner of an Orin Nano wants yolov8n at 30 frames per second.
TEST(Answers, ACameraGetsAStockModeAndItsCommand) {
  const std::string text = answer_to(camera);
  EXPECT_TRUE(std::regex_match(
      answer_line(text), std::regex("mode (15W|25W|MAXN_SUPER): sudo nvpmodel -m [012] && sudo "
                                    "jetson_clocks")))
      << answer_line(text);
  expect_lines(text, {"least energy per sample with idle time among 3 stock modes",
                      "at 30.0 /s +value +90 % interval", "\nmean power +[0-9.]+ W",
                      "\nenergy per sample +[0-9.]+ mJ", "\npower while busy +[0-9.]+ W",
                      "busy [0-9]+ % of the time, idle at [0-9.]+ W"});
}

// What a reader must not stumble over, in any answer.
void expect_readable(const std::string& out) {
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(display_width(line), 80) << line;
    EXPECT_FALSE(std::regex_search(line, std::regex("\\b(nan|inf|NaN|Infinity)\\b"))) << line;
    EXPECT_FALSE(std::regex_search(line, std::regex("^ *(%|ms|mJ|W|MHz|GHz)( |,|;|$)")))
        << "a unit without its number: " << line;
    EXPECT_FALSE(std::regex_search(line, std::regex("[0-9]{4,}00 ?Hz"))) << line;
    EXPECT_FALSE(std::regex_search(line, std::regex("probability 100 %"))) << line;
    EXPECT_FALSE(!line.empty() && line.back() == ' ') << line;
  }
}

// The parts of an answer, each behind the one before it.
void expect_in_order(const std::string& text, const std::vector<const char*>& parts) {
  std::size_t at = 0;
  for (const char* part : parts) {
    const std::size_t found = text.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n" << text;
    at = found;
  }
}

struct Persona {
  const char* who;
  std::vector<std::string> commands;  // at most two, each a row of the README with other names
  std::vector<const char*> in_readme;
  std::vector<const char*> first_parts;  // of the first answer
};

// Everyone's job takes at most two commands that the README shows before its second heading of
// results, and the answers read from top to bottom: what to type, what it costs, how sure it is,
// what else there is, what to measure.
TEST(Answers, EveryJobTakesTwoCommandsOfTheReadme) {
  const TemporaryDirectory folder;
  const auto models = sample_models();
  const auto found = std::find_if(models.begin(), models.end(), [](const SampleModel& model) {
    return model.name.find("conv") != std::string::npos;
  });
  ASSERT_NE(found, models.end());
  const std::string net = folder.file("net.onnx");
  write_file_atomically(net, found->bytes);
  const std::vector<Persona> personas{
      {"an owner of an Orin Nano wants yolov8n at 30 fps",
       {"plan yolov8n --on jetson-orin-nano-8gb --fps 30",
        "plan yolov8n --on jetson-orin-nano-8gb --fps 30 --dtype fp16"},
       {"plan yolov8n --on jetson-orin-nano-8gb --fps 30", "--dtype fp16"},
       {"mode ", ": sudo nvpmodel -m ", "yolov8n, batch 1", "at 30.0 /s", "latency", "mean power",
        "energy per sample", "--dtype fp16 instead of fp32: ", "rate: ", "memory: ", "alternatives",
        "Pareto front", "to be sure, measure", "--probes-csv"}},
      {"a researcher compares boards and asks what limits a network",
       {"plan resnet50 --on jetson --dtype fp16",
        "explain mobilenet_v3_large --on jetson-agx-orin-64gb --mode MAXN --dtype fp16"},
       {"plan resnet50 --on jetson --dtype fp16",
        "explain mobilenet_v3_large --on jetson-agx-orin-64gb --mode MAXN --dtype fp16"},
       {"resnet50 by tensorrt; predicted", "rank 1: least energy per sample", "rank  device",
        "\n   1  jetson-", "\n   2  jetson-"}},
      {"someone has an ONNX file",
       {"plan " + net + " --assume-dim 1 --on jetson-orin-nano-8gb --dtype fp16",
        "explain " + net + " --assume-dim 1 --on jetson-orin-nano-8gb --dtype fp16"},
       {"A network is an `.onnx` file"},
       {"mode ", ": sudo nvpmodel -m ", "net.onnx, batch 1, fp16", "time", "power", "energy",
        "memory: ", "to be sure, measure"}},
      {"a student trains on Xavier NX",
       {"plan --train resnet18 --on jetson-xavier-nx --dataset 50000x150kB --storage sd "
        "--workers 4 --epochs 10",
        "plan --train resnet18 --on jetson-xavier-nx --dataset 50000x150kB --storage sd,ssd "
        "--workers 4 --epochs 10"},
       {"plan --train resnet18 --on jetson-agx-orin-64gb --dataset 50000x150kB --storage ssd "
        "--workers 4 --epochs 10"},
       {"mode ", ": sudo nvpmodel -m ", "training resnet18, batch 16", "mean epoch", "all 10: time",
        "data stall", "host, not hidden", "GPU busy", "bound by", "storage: sd", "memory: "}},
      {"someone runs a language model",
       {"plan llama-3.2-1b --on jetson-orin-nano-8gb --prompt 512 --generate 128",
        "plan llama-3.2-1b --on jetson-orin-nano-8gb --prompt 512 --generate 128 --modes all"},
       {"plan llama-3.2-1b --on jetson-orin-nano-8gb --prompt 512 --generate 128 --modes all"},
       {"mode ", ": sudo nvpmodel -m ", "least energy per request", "time to first token", "tokens",
        "energy per token", "stock mode", "15W", "25W", "MAXN_SUPER", "memory: ", "J/request"}}};
  const std::string readme = read_text_file(source_file("README.md"));
  const std::string shown = readme.substr(0, readme.find("## How good"));
  for (const Persona& persona : personas) {
    SCOPED_TRACE(persona.who);
    for (const char* words : persona.in_readme) EXPECT_THAT(shown, HasSubstr(words));
    EXPECT_LE(persona.commands.size(), 2u);
    for (const std::string& command : persona.commands) {
      const ProcessResult result = asked(command);
      EXPECT_EQ(result.exit_code, 0) << command << "\n" << result.err;
      expect_readable(result.out);
    }
    expect_in_order(answer_to(persona.commands.front()), persona.first_parts);
  }
}

// Power and energy of every table and sentence include the idle time.
TEST(Answers, AtARateEveryNumberHasOneMeaning) {
  const Json plan = json_answer_to(camera + " --why MAXN_SUPER --tune all");
  const auto mean_w = [&](const Json& run) {
    return run.at("service").at("mean_power_w").get<double>();
  };
  const auto joule = [](const Json& run) { return run.at("service").at("energy_j").get<double>(); };
  for (const Json& run : {plan.at("chosen"), plan.at("why").at("run")}) {
    EXPECT_NEAR(joule(run), mean_w(run) / 30, 1e-9);
    EXPECT_LT(mean_w(run), run.at("power_w").at("value").get<double>());
  }
  EXPECT_EQ(plan.at("rated").at("mean_power_w").at("value").get<double>(),
            mean_w(plan.at("chosen")));
  for (const Json& point : plan.at("pareto"))
    EXPECT_NEAR(point.at("energy_j").get<double>(), point.at("power_w").get<double>() / 30, 1e-9);
  EXPECT_THAT(schema_violations(plan, "plan.schema.json"), IsEmpty());
}

// CPU cores and clock stay as in a stock mode, unless they are asked for.
TEST(Answers, TheCpuIsLeftAloneUnlessAskedFor) {
  const auto cpus = [](const std::string& line) {
    std::set<std::string> seen;
    const Json plan = json_answer_to(line);
    for (const Json& point : plan.at("pareto")) {
      const std::string mode = point.at("mode");
      seen.insert(mode.substr(mode.find("cpu=")));
    }
    return seen;
  };
  for (const std::string& cpu : cpus(camera)) EXPECT_THAT(cpu, HasSubstr("cores=6")) << cpu;
  EXPECT_LE(cpus(camera).size(), 3u);
  EXPECT_GT(cpus(camera + " --tune all").size(), 3u);
  const Json reserved = json_answer_to(camera + " --reserve-cores 2 --reserve-cpu 1.2GHz");
  for (const char* key : {"chosen", "without_reboot", "with_reboot"}) {
    if (reserved.at(key).is_null()) continue;
    const Json& run = key == std::string("chosen") ? reserved.at(key) : reserved.at(key).at("run");
    EXPECT_GE(run.at("mode").at("cpu_cores").get<int>(), 3);
    EXPECT_GE(run.at("mode").at("cpu_hz").at(0).get<double>(), 1.2e9);
  }
}

// Work of the host comes on top; a pipeline hides it from the rate, not from the latency.
TEST(Answers, HostWorkCounts) {
  const std::string line =
      "plan yolov8n --on orin-nano-8gb --dtype fp16 --filter gpu=612MHz,"
      "emc=2133MHz,cpu=1497.6MHz,cores=6 ";
  const auto service = [&](const std::string& more) {
    return json_answer_to(line + more).at("chosen").at("service");
  };
  const Json alone = service(""), series = service("--host 10ms@1.4976GHz"),
             beside = service("--host 10ms@1.4976GHz --pipelined");
  const auto number = [](const Json& json, const char* key) { return json.at(key).get<double>(); };
  EXPECT_NEAR(number(series, "latency_s") - number(alone, "latency_s"), 0.01, 1e-6);
  EXPECT_EQ(number(series, "latency_s"), number(beside, "latency_s"));
  EXPECT_NEAR(1 / number(series, "samples_per_s"), number(series, "latency_s"), 1e-9);
  EXPECT_NEAR(number(beside, "samples_per_s"), 100, 0.1);
  EXPECT_GT(number(series, "energy_j"), number(alone, "energy_j"));
}

TEST(Answers, ABlockComesWithItsInstructions) {
  const TemporaryDirectory folder;
  const ProcessResult result = asked(camera + " --nvpmodel " + folder.file("custom.conf"));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("/etc/nvpmodel.conf"));
  EXPECT_THAT(result.err, HasSubstr("then: sudo nvpmodel -m 3"));
  EXPECT_THAT(read_text_file(folder.file("custom.conf")), HasSubstr("ID=3 "));
}

// A type that is too slow is refused with the one that is not.
TEST(Answers, TypesAreHinted) {
  EXPECT_THAT(answer_to("plan resnet50 --on jetson-orin-nano-8gb"),
              HasSubstr("--dtype fp16 instead of fp32: "));
  const ProcessResult slow = asked("plan resnet50 --on jetson-orin-nano-8gb --latency 4ms");
  EXPECT_EQ(slow.exit_code, 3);
  EXPECT_TRUE(std::regex_search(
      slow.err, std::regex("--dtype (fp16|int8) would do it: [A-Z0-9_]+ with [0-9.]+ ms and")))
      << slow.err;
  EXPECT_THAT(answer_to("explain resnet50 --on jetson-orin-nano-8gb"), HasSubstr("as TF32"));
  EXPECT_THAT(answer_to("explain resnet50 --on jetson-orin-nano-8gb"),
              HasSubstr("fp32, tensorrt on"));
  EXPECT_THAT(answer_to("explain resnet18 --train --on jetson-orin-nano-8gb"),
              HasSubstr("torch-eager on"));
}

// Someone has an ONNX file: it is built in the precision that is asked for.
TEST(Answers, AFileIsBuiltInAPrecision) {
  const TemporaryDirectory folder;
  const auto models = sample_models();
  const auto found = std::find_if(models.begin(), models.end(), [](const SampleModel& model) {
    return model.name.find("conv") != std::string::npos;
  });
  ASSERT_NE(found, models.end());
  const std::string path = folder.file("net.onnx");
  write_file_atomically(path, found->bytes);
  for (const char* command : {"explain", "plan"})
    for (const char* dtype : {"fp16", "int8"}) {
      const Json json =
          json_answer_to(std::string(command) + " " + path +
                         " --assume-dim 1 --on jetson-orin-nano-8gb --dtype " + dtype);
      const Json& run = command == std::string("plan") ? json.at("chosen") : json;
      EXPECT_EQ(run.at("dtype"), dtype) << command;
    }
}

// A researcher compares stock modes, boards, types and runtimes.
TEST(Answers, TablesCompareOneThing) {
  const std::string modes = answer_to(
      "plan resnet50 --on jetson-orin-nano-8gb --dtype fp16 "
      "--modes all --latency 6ms");
  expect_lines(modes, {"rank +mode +id +time", "15W +0 +[0-9.]+ ms", "MAXN_SUPER +2",
                       "best: sudo nvpmodel -m [012]"});
  EXPECT_THAT(answer_to("explain resnet50 --on jetson-orin-nano-8gb --modes 15w,25W"),
              Not(HasSubstr("MAXN")));
  const std::string devices =
      answer_to("plan resnet50 --on orin-nano-8gb,orin-nx-16gb,agx-orin-64gb --dtype fp16");
  expect_lines(devices, {"rank +device +mode", "\n +1 +[a-z]", "fits"});
  const std::string types =
      answer_to("explain resnet50 --on jetson-orin-nano-8gb --mode 15W --dtype fp32,fp16,int8");
  expect_lines(types, {"all in mode 15W", "fp16 +[0-9.]+ ms", "int8 +[0-9.]+ ms"});
  expect_lines(answer_to("explain resnet50 --on jetson-orin-nano-8gb --runtime trt,pytorch"),
               {"trt +[0-9.]+ ms", "pytorch +[0-9.]+ ms"});
  const ProcessResult two = asked("explain resnet50 --on jetson-nano,jetson-tx2 --batch 1,2");
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("cannot vary beside"));
  const Json json = json_answer_to("plan resnet50 --on jetson-orin-nano-8gb --modes all");
  EXPECT_THAT(schema_violations(json, "comparison.schema.json"), IsEmpty());
  EXPECT_EQ(json.at("rows").size(), 3u);
}

// Every Jetson of the catalog can be planned for.
TEST(Answers, NoDeviceStopsThePlan) {
  const auto begin = std::chrono::steady_clock::now();
  const Json table = json_answer_to("plan resnet50 --on jetson --dtype fp16");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(table.at("rows").size(), 13u);
  for (const Json& row : table.at("rows"))
    EXPECT_TRUE(row.at("run").is_object()) << row.at("label") << " " << row.at("why_not");
  if (!is_sanitized()) {
    EXPECT_LT(taken.count(), 10);  // 1 s on a quiet machine
  }
  EXPECT_THAT(answer_to("plan resnet50 --on jetson-agx-thor-t5000 --dtype fp16"),
              HasSubstr("90W is left out: the operating point has no number of SMs"));
  EXPECT_THAT(answer_to("plan resnet50 --on jetson-agx-xavier --tune all"), Not(HasSubstr("00Hz")));
}

// Language models in their own words.
TEST(Answers, ALanguageModelIsPlannedInTokens) {
  const std::string line = "llama-3.2-1b --on jetson-orin-nano-8gb --prompt 512 --generate 128";
  expect_lines(answer_to("plan " + line), {"time to first token +[0-9.]+ m?s", "tokens +[0-9.]+ /s",
                                           "energy per token +[0-9.]+ m?J", "caches"});
  expect_lines(answer_to("plan " + line + " --modes all"), {"first token", "tokens/s", "J/token"});
  // At a rate the values of a request alone are called busy.
  expect_lines(
      answer_to("plan " + line + " --rate 0.1/s"),
      {"one request, while busy", "stock mode, while busy", "energy per request +[0-9.]+ J",
       "a request every 10.0 s: busy [0-9]+ % of the time", "J/request"});
  EXPECT_THAT(answer_to("plan llama-3.2-1b --on jetson-orin-nano-8gb"),
              HasSubstr("--prompt 512 --generate 128 plans whole answers"));
  const ProcessResult frames = asked("plan llama-3.2-1b --on jetson-orin-nano-8gb --fps 30");
  EXPECT_EQ(frames.exit_code, 2);
  EXPECT_THAT(frames.err, HasSubstr("--prompt 512 --generate 128"));
  const auto tokens = [&](const std::string& more) {
    return json_answer_to("plan " + line + " --stock-only --filter gpu=1020MHz " + more)
        .at("chosen")
        .at("generation")
        .at("tokens_per_s")
        .at("value")
        .get<double>();
  };
  const double fp16 = tokens(""), int8 = tokens("--weights int8"), int4 = tokens("--weights int4");
  EXPECT_GT(int8, 1.2 * fp16);
  EXPECT_GT(int4, 1.2 * int8);
  EXPECT_LT(int4, 4 * fp16);  // head and caches stay, scales are read
  EXPECT_GE(tokens("--kv int8"), fp16);
}

// Published for eight language models: 25W is best, and 15W beats MAXN_SUPER or the other way
// round (smolhub.com, "Four Power Modes x Eight Models").
TEST(Answers, OrinNanoTakesTheLeastEnergyPerTokenIn25W) {
  for (const char* more : {"", " --weights int4"}) {
    const Json table = json_answer_to(
        std::string("plan llama-3.2-1b --on jetson-orin-nano-8gb --prompt 2048 --generate 256 "
                    "--modes all") +
        more);
    std::map<std::string, double> joule;
    for (const Json& row : table.at("rows"))
      joule[row.at("label")] =
          row.at("run").at("generation").at("token_energy_j").at("value").get<double>();
    ASSERT_EQ(joule.size(), 3u);
    EXPECT_LT(joule.at("25W"), joule.at("15W")) << more;
    EXPECT_LT(joule.at("25W"), joule.at("MAXN_SUPER")) << more;
  }
  const ProcessResult long_prompt =
      asked("plan llama-3.2-1b --on jetson-orin-nano-8gb --prompt 100000 --generate 128");
  EXPECT_EQ(long_prompt.exit_code, 3);
  EXPECT_THAT(long_prompt.err, HasSubstr("use --prompt ")) << "an option that the command has";
}

// A student trains on Xavier NX.
TEST(Answers, TrainingSaysWhereTheTimeGoes) {
  const std::string line =
      "plan --train resnet18 --on jetson-xavier-nx --dataset 50000x150kB --workers 4 --epochs 5 ";
  expect_lines(answer_to(line + "--storage sd"),
               {"mode [A-Z0-9_]+: sudo nvpmodel -m", "\ndata stall +[0-9]", "\nhost, not hidden",
                "\nGPU busy +[0-9]+ %", "\nCPU busy +[0-9]+ %", "\nreads +[0-9.]+ .?B/s",
                "\nfrom memory +0 %"});
  expect_lines(answer_to(line + "--storage SD,ssd"),
               {"all in mode", "SD +[0-9]", "ssd +[0-9]", "GPU busy"});
  expect_lines(answer_to(line + "--storage 90MB/s,0.2ms"), {"90MB/s,0.2ms, [0-9.]+ ms per sample"});
  const std::string alone = std::regex_replace(line, std::regex("--workers 4"), "--workers 0");
  const auto width = [&](const char* storage) {
    const Json time =
        json_answer_to(alone + "--storage " + storage).at("training").at("epoch_time_s");
    return time.at("high").get<double>() / time.at("low").get<double>();
  };
  EXPECT_GT(width("sd"), width("ram"));  // cards differ by a factor of four
  // In one mode, step and epochs of an explanation are those of the plan.
  const Json plan = json_answer_to(line + "--storage sd --stock-only");
  const std::string mode = plan.at("chosen").at("mode").at("label");
  const Json explained = json_answer_to(
      "explain resnet18 --train --on jetson-xavier-nx --dataset 50000x150kB --workers 4 --epochs 5 "
      "--storage sd --mode " +
      mode);
  EXPECT_EQ(explained.at("batch"), plan.at("chosen").at("batch"));
  EXPECT_NEAR(explained.at("time_s").at("value").get<double>(),
              plan.at("chosen").at("time_s").at("value").get<double>(), 1e-6);
  const ProcessResult late = asked(
      "plan --train resnet18 --infer resnet101 --rate 400/s --latency 50ms --on jetson-xavier-nx");
  EXPECT_EQ(late.exit_code, 3);
  EXPECT_THAT(late.err, HasSubstr("inference alone is too slow"));
}

// Names as people write them.
TEST(Answers, NamesAreTakenInAnyCase) {
  for (const char* line :
       {"explain ResNet50 --on jetson-orin-nano-8gb", "explain ViT-B/16 --on jetson-thor",
        "explain MobileNetV2 --on rtx4090 --runtime onnx --dtype f16",
        "explain YOLOv8n --on Orin-Nano-8GB",
        "explain resnet50 --on jetson-orin-nano-8gb --dtype FP16 --runtime trt --mode 15w",
        "explain resnet50 --on jetson-thor --dtype half",
        "explain resnet50 --on nvidia-jetson-nano",
        "explain resnet50 --on jetson-orin-nano-8gb --runtime PyTorch --mode maxn-super"})
    EXPECT_EQ(asked(line).exit_code, 0) << line << "\n" << asked(line).err;
  EXPECT_THAT(asked("explain mobilenetv3 --on jetson-nano").err, HasSubstr("mobilenet_v3_large"));
}

// The next option is not taken for a value that was forgotten.
TEST(Answers, AForgottenValueIsSaid) {
  const ProcessResult result = asked("plan resnet18 --train --on jetson-xavier-nx");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--train: needs a value, but --on follows"));
}

// A device that cannot keep up has no latency.
TEST(Answers, AQueueThatGrowsHasNoLatency) {
  const std::string table =
      answer_to("plan resnet50 --on jetson-nano,jetson-orin-nano-8gb --fps 30");
  expect_lines(table, {"jetson-nano +[A-Z0-9]+ +grows", "jetson-nano breaks rate"});
  EXPECT_THAT(table, Not(HasSubstr("inf")));
}

// What people type beside the exact words, and where it leads.
TEST(Answers, RefusalsSayWhatToWrite) {
  struct Refusal {
    const char *line, *says;
  };
  for (const Refusal& one :
       {Refusal{"plan resnet50 --on jetson-orin-nano-8gb --modes 99W", "it has 15W, 25W"},
        Refusal{"explain resnet50 --on orin", "jetson-agx-orin-64gb, jetson-orin-nano-4gb"},
        Refusal{"plan --train resnet18 --on jetson-nano --storage 90MB/s,0.2",
                "an access time with its unit (write for example 90MB/s,0.2ms)"},
        Refusal{"plan --train resnet18 --on jetson-nano --storage disk", "there are hdd, sd"},
        Refusal{"plan --train resnet18 --on jetson-nano --decode 3", "write 3ms or 3s"},
        Refusal{"calibrate --on jetson-nano --for resnet50 --mode MAXN --time 12",
                "write 12ms or 12s"},
        Refusal{"plan resnet50 --on jetson-nano --mode 5W,MAXN", "--modes takes several"},
        Refusal{"plan llama-3.2-1b --on jetson-nano --prompt 9 --context 9",
                "--context: cannot be combined with --prompt"},
        Refusal{"plan resnet50 --on jetson-nano --svg x.png", "write --png x.png"}}) {
    const ProcessResult result = asked(one.line);
    EXPECT_EQ(result.exit_code, 2) << one.line;
    EXPECT_THAT(result.err, HasSubstr(one.says));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_EQ(asked("calibrate --on jetson-orin-nano-8gb --for resnet50 --mode 15W --time 12ms "
                  "--power 10W")
                .exit_code,
            0);
  const ProcessResult cores = asked("plan resnet50 --on jetson-nano --fps 5 --reserve-cores 4");
  EXPECT_EQ(cores.exit_code, 3);
  EXPECT_THAT(cores.err, HasSubstr("are more than the 4 of NVIDIA Jetson Nano"));
  EXPECT_THAT(cores.err, HasSubstr("(reserve at most 3)"));
  const ProcessResult clock = asked("plan resnet50 --on jetson-nano --fps 5 --reserve-cpu 3GHz");
  EXPECT_EQ(clock.exit_code, 3);
  EXPECT_THAT(clock.err, HasSubstr("--reserve-cpu: no mode of"));
  const ProcessResult waits = asked(
      "plan --train resnet18 --infer mobilenet_v2 --rate 30/s --latency 50ms --on "
      "jetson-xavier-nx");
  EXPECT_EQ(waits.exit_code, 3);
  EXPECT_TRUE(std::regex_search(
      waits.err, std::regex("training is the reason: a request may wait for a step of [0-9.]+ ms, "
                            "inference itself takes [0-9.]+ ms \\(relax latency to .*--minibatch")))
      << waits.err;
}

// Every number that has a unit needs one.
TEST(Answers, UnitsAreRequired) {
  for (const char* line :
       {"plan resnet50 --on jetson-orin-nano-8gb --latency 20",
        "plan resnet50 --on jetson-orin-nano-8gb --power 20",
        "plan resnet50 --on jetson-orin-nano-8gb --energy 20",
        "plan resnet50 --on jetson-orin-nano-8gb --battery 50 --hours 4",
        "plan resnet50 --on jetson-orin-nano-8gb --rate 30",
        "plan resnet50 --on jetson-orin-nano-8gb --max-slowdown 5",
        "plan resnet50 --on jetson-orin-nano-8gb --free-memory 2",
        "plan resnet50 --on jetson-orin-nano-8gb --host 3@2GHz",
        "explain resnet50 --on jetson-orin-nano-8gb --time 12",
        "modes jetson-orin-nano-8gb --filter gpu>5",
        "plan resnet50 --on jetson-orin-nano-8gb --filter gpu>=700",
        "explain resnet50 --on jetson-orin-nano-8gb --mode gpu=600",
        "explain resnet50 --on jetson-orin-nano-8gb --board-offset 5", "measure --budget 10",
        "roofline jetson-orin-nano-8gb --point a=2e9:48MB:11",
        "plan resnet50 --on jetson-orin-nano-8gb --reserve-cpu 1.2"}) {
    const ProcessResult result = asked(line);
    EXPECT_EQ(result.exit_code, 2) << line;
    EXPECT_THAT(result.err, AnyOf(HasSubstr("has no unit"), HasSubstr("the unit is missing")));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

struct WrongFile {
  std::string content, name;
  const char *line, *says;
};

TEST(Answers, AFileOfTheWrongKindNamesTheCommandThatTakesIt) {
  const TemporaryDirectory folder;
  const std::string profile = source_file("tests/data/profiles/example_cpu.json");
  const std::vector<WrongFile> files{
      {"mode;model;batch\n15W;resnet50;1\n", "a.csv", "calibrate --on jetson-nano", "semicolons"},
      {"mode\tmodel\tbatch\n", "b.csv", "validate", "tabs"},
      {std::string("\xff\xfem\0o\0", 6), "c.csv", "validate", "UTF-16"},
      {"mode,model,batch\n", "d2.csv", "plan", "'ridgeline calibrate'"},
      {"{\"schema\": \"ridgeline.machine_model/1\"}", "f2.json", "explain", "give it to --on"},
      {"mode,model,batch\n", "d.csv", "explain resnet50 --on", "'ridgeline calibrate'"},
      {"PK\x03\x04rest", "e.pt2", "explain resnet50 --on", "network of torch.export"},
      {"PK\x03\x04rest", "e.zip", "explain resnet50 --on", "torch.onnx.export"},
      {"PK\x03\x04rest", "e2.pt2", "lint", "'ridgeline explain' and 'plan' take it"},
      {"PK\x03\x04rest", "e3.pt2", "validate", "'ridgeline explain' and 'plan' take it"},
      {"{\"schema\": \"ridgeline.machine_model/1\"}", "f.json", "roofline", "give it to --on"},
      {"\x08\x07rest", "g.onnx", "explain resnet50 --on", "ONNX network"},
      {"\x08\x07rest", "g2.onnx", "validate", "ONNX network"},
      {"\x08\x07rest", "g3.onnx", "modes", "ONNX network"},
      {read_text_file(source_file("tests/data/tensorrt/toy.graph.json")), "j.json", "roofline",
       "layer information of a TensorRT engine"},
      {read_text_file(source_file("tests/data/tensorrt/toy.profile.json")), "k.json",
       "explain resnet50 --on", "explain ENGINE --times"},
      {read_text_file(profile), "h.json", "validate", "it is a profile"},
      {read_text_file(profile), "i.json", "explain --on jetson-nano", "'ridgeline roofline'"}};
  for (const WrongFile& file : files) {
    write_file_atomically(folder.file(file.name), file.content);
    const ProcessResult result = asked(std::string(file.line) + " " + folder.file(file.name));
    EXPECT_THAT(result.exit_code, AnyOf(1, 2)) << file.name;
    EXPECT_THAT(result.err, HasSubstr(file.says)) << file.name;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_EQ(asked("plan resnet50 --on jetson-nano --svg " + folder.file("a.png")).exit_code, 2);
}

// "Measure to be sure" ends with a sheet that calibration reads back.
TEST(Answers, TheProbeSheetIsReadBack) {
  const TemporaryDirectory folder;
  const std::string sheet = folder.file("probes.csv");
  ASSERT_EQ(asked(camera + " --probes-csv " + sheet).exit_code, 0);
  std::string text = read_text_file(sheet);
  EXPECT_THAT(text, HasSubstr("sudo nvpmodel -m 0 && sudo jetson_clocks"));
  EXPECT_THAT(text, HasSubstr("trtexec --onnx=yolov8n.onnx --fp16"));
  EXPECT_THAT(text, HasSubstr("tegrastats"));
  EXPECT_THAT(text, HasSubstr("sudo ridgeline modes set gpu="));
  const std::string calibrate =
      "calibrate --on jetson-orin-nano-8gb " + sheet + " -o " + folder.file("board.json");
  EXPECT_EQ(asked(calibrate).exit_code, 4);  // not filled in yet
  const std::string by_hand =
      std::regex_replace(text, std::regex(",inference,,,,"), ",inference,5.1,9.4,module,");
  write_file_atomically(sheet, by_hand);
  EXPECT_EQ(asked(calibrate).exit_code, 0) << asked(calibrate).err;
  EXPECT_EQ(asked("explain yolov8n --on " + folder.file("board.json")).exit_code, 0);
}

// A log of tegrastats with idle seconds around the run.
std::string power_log(int busy_mw) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += fmt::format(
        "RAM 1/2MB (lfb 1x4MB) SWAP 0/1MB (cached 0MB) CPU [1%@729] GR3D_FREQ 0% VDD_IN "
        "{0}mW/{0}mW VDD_CPU_GPU_CV 520mW/510mW VDD_SOC 1440mW/1430mW\n",
        i < 5 || i > 34 ? 4760 : busy_mw);
  return text;
}

constexpr const char* trtexec_log =
    "&&&& RUNNING TensorRT.trtexec [TensorRT v100300] # trtexec\n"
    "[I] GPU Compute Time: min = 6.0 ms, max = 7 ms, mean = 6.2 ms, median = 6.13 ms\n";

// The commands of the sheet write files that it names: nothing has to be copied by hand.
TEST(Answers, TheProbeSheetTakesTheToolsOwnFiles) {
  const TemporaryDirectory folder;
  const std::string sheet = folder.file("probes.csv"), board = folder.file("board.json");
  ASSERT_EQ(asked(camera + " --probes-csv " + sheet).exit_code, 0);
  const std::string text = read_text_file(sheet);
  EXPECT_THAT(text, HasSubstr("| tee probe1-time.log"));
  EXPECT_THAT(text, HasSubstr("--logfile probe1-power.log"));
  folder.write("probe1-time.log", trtexec_log);
  folder.write("probe1-power.log", power_log(10210));
  const ProcessResult result =
      asked("calibrate --on jetson-orin-nano-8gb " + sheet + " -o " + board);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 measured value used"));
  EXPECT_THAT(result.err, HasSubstr("probe2-time.log is not there"));
  const std::string model = read_text_file(board);
  EXPECT_THAT(model, HasSubstr("10.21"));
}

TEST(Answers, OneRunIsCalibratedFromTheFilesOfItsTools) {
  const TemporaryDirectory folder;
  folder.write("trtexec.log", trtexec_log);
  folder.write("power.log", power_log(10210));
  const std::string words = "calibrate --on jetson-orin-nano-8gb --time " +
                            folder.file("trtexec.log") + " --power " + folder.file("power.log");
  const ProcessResult result = asked(words + " --for yolov8n --dtype fp16 --mode 15W");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 measured value used"));
  EXPECT_EQ(asked(words + " --for yolov8n").exit_code, 2) << "no mode";
  EXPECT_EQ(asked(words + " --mode 15W").exit_code, 2) << "no network";
  EXPECT_EQ(asked("calibrate --on jetson-orin-nano-8gb --power x.log").exit_code, 2) << "no time";
}

// A saving lies within the interval beside it, as printed.
TEST(Answers, SavingsAreWithinTheirPrintedInterval) {
  const std::regex saving(
      R"(([0-9.]+) % (less|more)\s+energy\s+\((-?[0-9.]+) %\s+to\s+(-?[0-9.]+) %\))");
  int seen = 0;
  for (const char* words : {"yolov8n --fps 30", "yolov8n --fps 10", "resnet50", "mobilenet_v2"}) {
    const std::string out =
        asked(fmt::format("plan {} --on jetson-orin-nano-8gb --dtype fp16", words)).out;
    for (std::sregex_iterator each(out.begin(), out.end(), saving), end; each != end; ++each) {
      ++seen;
      EXPECT_LE(std::stod((*each)[3]), std::stod((*each)[1])) << each->str();
      EXPECT_GE(std::stod((*each)[4]), std::stod((*each)[1])) << each->str();
    }
  }
  EXPECT_GT(seen, 4);
}

// The value that is held against the limit is worse than the prediction, and both are said.
TEST(Answers, TheNearestMissSaysHowFarItIs) {
  const ProcessResult slow = asked("plan yolov8n --on jetson-orin-nano-8gb --latency 4ms");
  EXPECT_TRUE(std::regex_search(
      slow.err, std::regex("[0-9.]+ ms predicted, [0-9.]+ ms with 90 % certainty, instead of 4")))
      << slow.err;
}

// No stock mode meets the limit: the command that enters the mode stands below it. --mode is where
// the machine is, and a note says so.
TEST(Answers, ACustomModeComesWithItsCommand) {
  const std::string words = "plan resnet50 --on jetson-orin-nano-8gb ";
  const ProcessResult result = asked(words + "--battery 50Wh --hours 4");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(std::regex_search(
      result.out, std::regex("\non the board: sudo ridgeline modes set --lock --apply \\\\\n"
                             "  gpu=[0-9.]+MHz,emc=[^ ]*,sm=8\n")))
      << result.out;
  const std::string now = asked(words + "--mode MAXN_SUPER").out;
  EXPECT_THAT(now, HasSubstr("note: --mode is the mode that the machine is in"));
  EXPECT_THAT(asked(words).out, Not(HasSubstr("--mode is")));
}

// Every limit is named in its own unit, and several each with its value.
TEST(Answers, RelaxingIsSaidInTheLimitsUnit) {
  const ProcessResult rate = asked("plan resnet50 --on jetson-nano --fps 500 --dtype fp16");
  EXPECT_EQ(rate.exit_code, 3);
  EXPECT_TRUE(std::regex_search(rate.err, std::regex("relax rate to [0-9.]+ /s"))) << rate.err;
  const ProcessResult both =
      asked("plan resnet50 --on jetson-nano --latency 1ms --power 1W --energy 1mJ --dtype fp16");
  EXPECT_TRUE(std::regex_search(
      both.err, std::regex("relax latency to [0-9.]+ ms and power to [0-9.]+ W and energy to")))
      << both.err;
}

}  // namespace
}  // namespace ridgeline::testing
