// Mutates a TorchScript archive for a fuzzer: words and lines of its code are exchanged, bytes of
// its other members changed, and the archive is whole again.
#pragma once

#include <functional>
#include <string>

namespace ridgeline::testing {

// Changes bytes at random; their length may grow up to the limit.
using MemberMutator = std::function<void(std::string& bytes, std::size_t limit)>;

// `scratch` is a path that the mutator may write. Empty if the bytes are no archive.
std::string mutated_script(const std::string& archive, unsigned seed, const std::string& scratch,
                           const MemberMutator& mutate);

}  // namespace ridgeline::testing
