// Mutates a JSON document for a fuzzer: values are replaced, dropped, doubled or exchanged, and the
// result is JSON again.
// Random byte changes mostly break the syntax, and then only the parser is tested.
#pragma once

#include <string>
#include <string_view>

namespace ridgeline::testing {

// The document with one to three changes; empty if the text is no JSON.
std::string mutated_json(std::string_view text, unsigned seed);

}  // namespace ridgeline::testing
