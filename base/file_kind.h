// What kind of file one is by its first bytes, and which command takes it: for messages about a
// file of the wrong kind. Readers decide by themselves whether they can read a file.
#pragma once

#include <string>

namespace ridgeline {

enum class FileKind { unknown, profile, fitted_model, network, table, other };

struct KnownFile {
  FileKind kind = FileKind::unknown;
  std::string hint;  // "it is a fitted model: give it to --on"; empty if unknown
};

// Unknown, too, where the file cannot be read.
KnownFile file_kind(const std::string& path);

}  // namespace ridgeline
