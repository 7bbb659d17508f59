// Options that say how a model file is to be read: batch, shapes, free dimensions, control flow.
// Shared by every command that takes a MODEL; what the numbers lead to is the importer's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/onnx/import.h"
#include "cli/command.h"

namespace ridgeline::cli {

void add_model_options(OptionsDescription& options);

// Usage errors where a value makes no sense by itself.
onnx::ImportOptions import_options(const Options& options);

// The option's value as a count of at least `least`; `fallback` where it is not given.
std::int64_t count_option(const Options& options, const char* name, std::int64_t least,
                          std::int64_t fallback);

// --batch, within the limits that networks known by name have too.
std::optional<std::int64_t> batch_option(const Options& options);

// Opens a model. What is no file gets an Error that says what would be one.
onnx::ModelFile open_model(const std::string& path);

}  // namespace ridgeline::cli
