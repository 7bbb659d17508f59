// Forward declarations, so that headers of nouns do not pull in the JSON library.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace ridgeline {

using Json = nlohmann::ordered_json;
class JsonCursor;

}  // namespace ridgeline
