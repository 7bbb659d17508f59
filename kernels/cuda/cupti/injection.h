// How the library inside another program and the command that put it there communicate:
// environment variables one way, one text file per process the other way.
#pragma once

namespace ridgeline::cuda {

// Set by the command: the folder of the results, and one of the words below.
inline constexpr const char* injection_folder_variable = "RIDGELINE_INJECTION_FOLDER";
inline constexpr const char* injection_work_variable = "RIDGELINE_INJECTION_WORK";
inline constexpr const char* injection_times = "times";
inline constexpr const char* injection_counters = "counters";

// Lines of a result, words separated by tabs; a file without the last one is of a process that was
// ended from outside.
inline constexpr const char* line_architecture = "architecture";  // 87
inline constexpr const char* line_metric = "metric";              // name; in the order of values
inline constexpr const char* line_kernel = "kernel";  // launches, seconds, values …, name
inline constexpr const char* line_lost = "lost";      // records
inline constexpr const char* line_error = "error";    // text
inline constexpr const char* line_end = "end";

}  // namespace ridgeline::cuda
