// The JSON that write_json gives for an analysis, parsed.
// Also checks that the text matches what the JSON library would write.
#pragma once

#include <gtest/gtest.h>

#include <sstream>

#include "analyzer/analysis/analysis.h"
#include "base/json.h"

namespace ridgeline::testing {

inline Json written_json(const Analysis& analysis) {
  std::ostringstream out;
  write_json(out, analysis);
  Json json = parse_json(out.str(), "analysis");
  EXPECT_TRUE(out.str() == dump_json(json));
  return json;
}

}  // namespace ridgeline::testing
