// The engine is opened without memory for running it: only its layers are wanted.
#include "analyzer/tensorrt/inspector.h"

#include <fmt/format.h>

#include <utility>

#include "analyzer/tensorrt/nvinfer/library.h"
#include "base/error.h"

namespace ridgeline::tensorrt {
namespace {

class LoadedInspector final : public EngineInspector {
 public:
  explicit LoadedInspector(std::unique_ptr<NvinferLibrary> library)
      : library_(std::move(library)) {}

  std::string name() const override { return library_->name(); }

  Inspection inspect(const std::string& engine, const InputShapes& shapes, int profile) override {
    const auto opened = library_->deserialize(engine);
    if (!opened) return {{}, library_->log().text()};
    const std::unique_ptr<nvinfer1::IEngineInspector> inspector(opened->createEngineInspector());
    if (!inspector) return {{}, library_->log().text()};
    // Without memory of its own: it only says which shapes are meant.
    const std::unique_ptr<nvinfer1::IExecutionContext> context(opened->createExecutionContext(
        nvinfer1::ExecutionContextAllocationStrategy::kUSER_MANAGED));
    if (const int profiles = opened->getNbOptimizationProfiles(); profile >= profiles)
      throw Error("--opt-profile",
                  fmt::format("the engine has no optimisation profile {}", profile),
                  fmt::format("its profiles are 0 to {}", profiles - 1));
    constexpr cudaStream_t default_stream = nullptr;
    if (context && profile != 0 && !context->setOptimizationProfileAsync(profile, default_stream))
      return {{}, library_->log().text()};
    if (context) {
      if (set_shapes(*opened, *context, shapes, profile))
        inspector->setExecutionContext(context.get());
      else if (!shapes.empty())
        throw Error("--shape", "the engine does not accept these sizes of its inputs",
                    "give sizes that its optimisation profile allows");
    }
    const char* const json =
        inspector->getEngineInformation(nvinfer1::LayerInformationFormat::kJSON);
    return {json == nullptr ? "" : json, library_->log().text()};
  }

 private:
  std::unique_ptr<NvinferLibrary> library_;
};

}  // namespace

std::unique_ptr<EngineInspector> EngineInspector::open(const std::string& library,
                                                       std::string& why_not) {
  auto opened = NvinferLibrary::open(library, why_not);
  if (!opened) return nullptr;
  return std::make_unique<LoadedInspector>(std::move(opened));
}

}  // namespace ridgeline::tensorrt
