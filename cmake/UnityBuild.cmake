# Neighbouring source files are compiled together, so that the headers they share are parsed once
# and the templates they share are compiled once: a third of the processor time of one by one.
# Files of a group see each other's private names, so these must differ within a room.
# `./run prove` compiles every file alone, without precompiled header, and so finds what a
# neighbour's include hides.
option(RIDGELINE_UNITY "Compile neighbouring files together, with a precompiled header" ON)
if(RIDGELINE_SANITIZE OR RIDGELINE_FUZZ)
  set(RIDGELINE_UNITY OFF)
endif()

set(RIDGELINE_GNU_CXX $<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>)

# A local name cannot be mistaken for a neighbour's global one.
if(RIDGELINE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ridgeline_options INTERFACE -Wshadow=local)
else()
  target_compile_options(ridgeline_options INTERFACE -Wshadow)
endif()

# About as much as a programmer waits for when one file was edited; JSON takes longer.
set(RIDGELINE_UNITY_SIZE 12)
set(RIDGELINE_UNITY_JSON_SIZE 6)

# Folders that are large enough to be grouped by themselves; the others join those of their room.
set(RIDGELINE_UNITY_APART "^(tests/)?(kernels|analyzer/onnx)")

# GCC inlines less in large units; with the first limit the program is as fast as one by one (`modes
# --all --csv` took a quarter longer without). With the second it collects garbage once a unit has a
# gigabyte and not at 128 MB: 7 to 10 % less time, where memory is at hand for a unit per core.
cmake_host_system_information(RESULT RIDGELINE_MEMORY_MB QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT RIDGELINE_CORES QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR RIDGELINE_MB_PER_CORE "${RIDGELINE_MEMORY_MB} / (${RIDGELINE_CORES} + 1)")
function(ridgeline_large_units target)
  target_compile_options(${target} PRIVATE $<${RIDGELINE_GNU_CXX}:--param=large-unit-insns=100000>)
  if(RIDGELINE_MB_PER_CORE GREATER 3000)
    target_compile_options(${target} PRIVATE
                           $<${RIDGELINE_GNU_CXX}:--param=ggc-min-heapsize=1048576>)
  endif()
endfunction()

# ridgeline_unity(TARGET FILE...): groups these files of the target, within a room, in the order of
# names; those that include the JSON library apart, since parsing it takes longer than most files do.
function(ridgeline_unity target)
  if(NOT RIDGELINE_UNITY)
    return()
  endif()
  set(kinds "")
  foreach(source IN LISTS ARGN)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    get_filename_component(folder ${path} DIRECTORY)
    if(NOT folder MATCHES "${RIDGELINE_UNITY_APART}")
      string(REGEX REPLACE "^((tests/)?[^/]+).*" "\\1" folder "${folder}")
    endif()
    string(MAKE_C_IDENTIFIER "${folder}" kind)
    file(STRINGS ${source} json REGEX "#include \"base/json.h\"" LIMIT_COUNT 1)
    if(json)
      string(APPEND kind _json)
    endif()
    list(APPEND kinds ${kind})
    list(APPEND files_${kind} ${source})
  endforeach()
  list(REMOVE_DUPLICATES kinds)
  foreach(kind IN LISTS kinds)
    set(size ${RIDGELINE_UNITY_SIZE})
    if(kind MATCHES "_json$")
      set(size ${RIDGELINE_UNITY_JSON_SIZE})
    endif()
    list(LENGTH files_${kind} count)
    math(EXPR groups "(${count} + ${size} - 1) / ${size}")
    set(number 0)
    foreach(source IN LISTS files_${kind})
      math(EXPR group "${number} * ${groups} / ${count}")  # as large as each other
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${kind}_${group})
      math(EXPR number "${number} + 1")
    endforeach()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  ridgeline_large_units(${target})
endfunction()

# ridgeline_batches(TARGET SIZE): groups all files of the target, up to SIZE in a unit.
function(ridgeline_batches target size)
  if(NOT RIDGELINE_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  math(EXPR groups "(${count} + ${size} - 1) / ${size}")
  math(EXPR size "(${count} + ${groups} - 1) / ${groups}")  # as large as each other
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH
                        UNITY_BUILD_BATCH_SIZE ${size})
  ridgeline_large_units(${target})
endfunction()

# Parsed once and not once per group. <nlohmann/json.hpp> is not worth it: loading it takes longer
# than the files without JSON would save.
set(RIDGELINE_COMMON_HEADERS <algorithm> <cmath> <functional> <map> <optional> <span> <string>
                             <variant> <vector> <fmt/format.h>)

# ridgeline_precompile(TARGET HEADER... [SHARED NAME]): targets that name the same NAME are compiled
# with the same options and share what the first of them precompiles.
function(ridgeline_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 precompile "" "SHARED" "")
  if(NOT RIDGELINE_UNITY)
    return()
  endif()
  get_property(first GLOBAL PROPERTY RIDGELINE_PRECOMPILED_${precompile_SHARED})
  if(precompile_SHARED AND first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${precompile_UNPARSED_ARGUMENTS})
    set_property(GLOBAL PROPERTY RIDGELINE_PRECOMPILED_${precompile_SHARED} ${target})
  endif()
  # What ccache needs to cache such files.
  target_compile_options(${target} PRIVATE $<${RIDGELINE_GNU_CXX}:-fpch-preprocess>)
endfunction()
