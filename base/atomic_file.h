// Writing a file so that a reader sees the old content or the new one, never a part.
// Not for growing files such as logs.
#pragma once

#include <string>
#include <string_view>

namespace ridgeline {

// Writes beside the target, syncs and renames. Symbolic links are followed, but not another user's
// in a shared folder such as /tmp, also by root. Permissions of an existing file are kept, and what
// is not a regular file (/dev/stdout, a pipe) is written to directly. Throws Error with path and
// cause; then nothing is left behind.
void write_file_atomically(const std::string& path, std::string_view content);

// Throws the Error that writing there would meet, as far as it can be foreseen: the target is a
// folder, its folder does not exist or cannot be written. Writes nothing.
void check_file_can_be_written(const std::string& path);

}  // namespace ridgeline
