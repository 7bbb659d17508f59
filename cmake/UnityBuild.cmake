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
set(RIDGELINE_UNITY_SIZE 10)
set(RIDGELINE_UNITY_JSON_SIZE 6)

# Folders that are large enough to be grouped by themselves; the others join those of their room.
set(RIDGELINE_UNITY_APART "^(tests/)?(kernels|analyzer/onnx)")

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
  # GCC inlines less in large units; with this limit the program is as fast as one by one
  # (`modes --all --csv` took a quarter longer without).
  target_compile_options(${target} PRIVATE $<${RIDGELINE_GNU_CXX}:--param=large-unit-insns=100000>)
endfunction()

# Parsed once and not once per group. <nlohmann/json.hpp> is not worth it: loading it takes longer
# than the files without JSON would save.
set(RIDGELINE_COMMON_HEADERS <algorithm> <cmath> <functional> <map> <optional> <span> <string>
                             <variant> <vector> <fmt/format.h>)

# ridgeline_precompile(TARGET HEADER...)
function(ridgeline_precompile target)
  if(NOT RIDGELINE_UNITY)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
  # What ccache needs to cache such files.
  target_compile_options(${target} PRIVATE $<${RIDGELINE_GNU_CXX}:-fpch-preprocess>)
endfunction()
