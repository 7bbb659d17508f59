// Archive: the members of a .pt2 file, read by name. Only the member with the graph is read;
// weights stay in the file. Knows zip, not what the graph means.
#pragma once

#include <string>

namespace ridgeline::pytorch {

// The JSON text of the exported program. An Error if the file is another kind of archive, is
// encrypted, or holds names that lead out of it or members that inflate beyond all measure.
std::string read_exported_program(const std::string& path);

}  // namespace ridgeline::pytorch
