// Parameters and multiply-accumulates of every network, against published numbers or counts by the
// source's own code. docs/workloads.md lists where each number comes from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/workloads/counted.h"

namespace ridgeline::testing {
namespace {

struct Published {
  const char* name;
  const char* options;
  double parameters;
  double macs;
};

class PublishedCounts : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedCounts, AreOurs) {
  const Graph graph = build_workload(GetParam().name, parse_options(GetParam().options));
  EXPECT_EQ(parameters_of(graph), GetParam().parameters);
  EXPECT_EQ(macs_of(graph), GetParam().macs);
}

constexpr Published published[] = {
    {"lenet5", "", 61'706, 416'520},
    {"alexnet", "", 61'100'840, 714'188'480},
    {"squeezenet1_1", "", 1'235'496, 349'151'936},
    {"vgg11", "", 132'863'336, 7'609'090'048},
    {"vgg16", "", 138'357'544, 15'470'264'320},
    {"vgg19", "", 143'667'240, 19'632'062'464},
    {"resnet18", "", 11'689'512, 1'814'073'344},
    {"resnet34", "", 21'797'672, 3'663'761'408},
    {"resnet50", "", 25'557'032, 4'089'184'256},
    {"resnet101", "", 44'549'160, 7'801'405'440},
    {"densenet121", "", 7'978'856, 2'834'161'664},
    // torchvision's 27,161,264 include the auxiliary classifier's 3,326,696.
    {"inception_v3", "", 27'161'264 - 3'326'696, 5'713'216'096},
    {"inception_v4", "", 42'679'816, 12'253'974'624},
    {"mobilenet_v2", "", 3'504'872, 300'774'272},
    {"mobilenet_v3_small", "", 2'542'856, 56'510'400},
    {"mobilenet_v3_large", "", 5'483'032, 216'589'760},
    {"efficientnet_b0", "", 5'288'548, 385'814'752},
    {"efficientnet_b1", "", 7'794'184, 686'802'832},
    {"vit_b_16", "", 86'567'656, 17'563'828'224},
    {"vit_b_32", "", 88'224'232, 4'409'186'304},
    {"vit_l_16", "", 304'326'632, 61'554'712'576},
    {"swin_t", "", 28'288'354, 4'490'566'656},
    {"maxvit_t", "", 30'919'624, 5'558'046'720},
    {"mobilevit_s", "", 5'578'632, 2'000'831'488},
    {"yolov3_tiny", "", 8'852'366, 2'782'480'896},
    {"yolov8n", "", 3'157'200, 4'371'993'600},
    {"ssd_mobilenet_v1", "", 6'819'839, 1'237'129'408},
    {"ssd_resnet34", "", 19'972'534, 216'415'931'904},
    {"retinanet", "", 37'060'652, 201'208'394'752},
    {"unet", "", 31'030'658, 150'428'424'448},
    {"bert_base", "", 109'482'240, 11'174'215'680},
    {"bert_large", "", 335'141'888, 39'461'060'608},
    {"gpt2", "", 124'439'808, 16'114'089'984},
    {"opt-1.3b", "", 1'315'758'080, 169'407'938'560},
    {"qwen2-1.5b", "", 1'543'714'304, 198'986'170'368},
    {"llama-3.2-1b", "", 1'235'814'400, 159'249'334'272},
    // Counted by hooks on the authors' own classes in torch.
    {"mobilenet_v3_large_dreamlab", "", 4'131'561, 247'755'872},
    {"resnet18_dreamlab", "", 11'173'962, 555'422'720},
    {"lenet5_dreamlab", "", 61'706, 416'520},
    // Both LSTM layers do 8,388,608; the last layer 256 · 29,423 for each of the 8 tokens.
    {"lstm", "seq=8", 16'146'671, 8'388'608 + 8 * 256 * 29'423},
};

INSTANTIATE_TEST_SUITE_P(Workloads, PublishedCounts, ::testing::ValuesIn(published),
                         [](const auto& param) {
                           std::string name = param.param.name;
                           for (char& letter : name)
                             if (letter == '-' || letter == '.') letter = '_';
                           return name;
                         });

TEST(Workloads, EveryNetworkHasItsPublishedCounts) {
  std::vector<std::string> listed, known;
  for (const Published& row : published) known.emplace_back(row.name);
  for (const Workload& workload : all_workloads()) listed.emplace_back(workload.name);
  EXPECT_THAT(known, ::testing::UnorderedElementsAreArray(listed));
}

// Another number of classes changes only the last layers.
TEST(Workloads, ClassesChangeTheLastLayer) {
  WorkloadOptions ten;
  ten.classes = 10;
  EXPECT_EQ(parameters_of(build_workload("resnet50", ten)), 25'557'032 - 990 * 2049);
  EXPECT_EQ(macs_of(build_workload("resnet50", ten)), 4'089'184'256 - 990 * 2048);
  EXPECT_EQ(parameters_of(build_workload("squeezenet1_1", ten)), 1'235'496 - 990 * 513);
}

// Counts by torchvision and timm at these sizes: no number depends on the published image size.
TEST(Workloads, ImagesChangeTheWork) {
  const auto macs = [](const char* name, const char* options) {
    return macs_of(build_workload(name, parse_options(options)));
  };
  EXPECT_EQ(macs("resnet18", "image=32"), 37'523'456);
  EXPECT_EQ(macs("resnet50", "image=288"), 6'758'334'464);
  EXPECT_EQ(macs("alexnet", "image=256"), 927'124'160);
  EXPECT_EQ(macs("vgg16", "image=256"), 20'168'212'480);
  EXPECT_EQ(macs("squeezenet1_1", "image=227"), 387'747'520);
  EXPECT_EQ(macs("densenet121", "image=256"), 3'701'448'704);
  EXPECT_EQ(macs("inception_v3", "image=224"), 2'837'921'120);
  EXPECT_EQ(macs("efficientnet_b1", "image=255"), 743'303'680);
  EXPECT_EQ(macs("vit_b_16", "image=384"), 55'484'350'464);
  EXPECT_EQ(macs("swin_t", "image=256"), 7'345'441'536);
  EXPECT_EQ(macs("swin_t", "image=230"), 6'780'498'048);  // odd sides, padded windows
  EXPECT_EQ(macs("maxvit_t", "image=448"), 22'224'506'880);
  EXPECT_EQ(macs("mobilevit_s", "image=224"), 1'521'507'328);  // odd sides, resized
  EXPECT_EQ(macs("mobilevit_s", "image=272"), 2'382'500'608);
}

}  // namespace
}  // namespace ridgeline::testing
