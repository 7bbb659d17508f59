// NameMap against std::map, for names of all lengths.
#include "analyzer/onnx/name_map.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace ridgeline::testing {
namespace {

RC_GTEST_PROP(NameMap, HoldsWhatAMapHolds, (const std::vector<std::string>& names)) {
  onnx::NameMap<std::size_t> found;
  std::map<std::string_view, std::size_t> expected;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_new = expected.try_emplace(names[i], i).second;
    RC_ASSERT(found.insert(names[i], i).second == is_new);
  }
  for (const auto& [name, value] : expected) RC_ASSERT(*found.find(name) == value);
  const std::string other = "no name of these \x7f";
  RC_ASSERT((found.find(other) != nullptr) == expected.contains(other));
}

// Exporters number their names: names that differ in a few digits must not collide.
TEST(NameMap, CountedNamesSpread) {
  for (const std::string prefix : {"r", "/layer1/layer1.0/conv_", "0123456"}) {
    std::map<std::size_t, int> places;
    for (int i = 0; i < 4096; ++i)
      ++places[onnx::hash_of(prefix + std::to_string(i) + "_out") % 8192];
    EXPECT_GT(places.size(), 2500U) << prefix;  // about 3223 for a random hash
  }
}

}  // namespace
}  // namespace ridgeline::testing
