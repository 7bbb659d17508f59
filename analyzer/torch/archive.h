// Archive: the members of a file of PyTorch, which is a zip archive. Of a .pt2 file the member with
// the graph is read; weights stay in the file. Knows zip, not what the graph means.
#pragma once

#include <string>

namespace ridgeline::pytorch {

// The JSON text of the exported program. An Error if the file is another kind of archive, is
// encrypted, or holds names that lead out of it or members that inflate beyond all measure.
std::string read_exported_program(const std::string& path);

// Whether it holds TorchScript. False if it cannot be read: reading it says why.
bool is_script_archive(const std::string& path);

// Before LibTorch reads TorchScript: the same Errors, for every member.
void check_script_archive(const std::string& path);

}  // namespace ridgeline::pytorch
