// A validator for the JSON Schemas in docs/schemas, limited to the keywords that they use.
// An unknown keyword throws, so that none is skipped silently.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace ridgeline::testing {

// Errors in the document, one line each with the JSON path; empty = valid. `schema_file` is a name
// in docs/schemas, optionally with a definition: "profile.schema.json",
// "common.schema.json#/$defs/machine".
// Stricter than the standard in one point: a member that an object's schema does not list is an
// error, so that all output is documented.
std::vector<std::string> schema_violations(const Json& document, const std::string& schema_file);

// Throws std::runtime_error for an unknown keyword or a broken reference anywhere in the file.
void check_schema_file(const std::string& schema_file);

// The words of an enum, for comparison with a TokenTable.
std::vector<std::string> schema_enum(const std::string& schema_file);

}  // namespace ridgeline::testing
