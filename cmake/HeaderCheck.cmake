# Compiles every header alone, so that each includes what it uses. With the precompiled header that
# holds for headers of ours; those of the standard library are checked by name (tests/rules), and by
# `./run prove`, which does without.

ridgeline_files(RIDGELINE_HEADERS .h)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cpu/${RIDGELINE_ARCH}/*.h)
list(APPEND RIDGELINE_HEADERS ${headers})

set(RIDGELINE_HEADER_UNITS "")
foreach(header ${RIDGELINE_HEADERS})
  file(RELATIVE_PATH header ${PROJECT_SOURCE_DIR} ${header})
  string(REPLACE "/" "_" unit ${header})
  set(unit ${PROJECT_BINARY_DIR}/header_check/${unit}.cpp)
  set(RIDGELINE_HEADER ${header})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/header_check.cpp.in ${unit} @ONLY)
  list(APPEND RIDGELINE_HEADER_UNITS ${unit})
endforeach()

add_library(ridgeline_header_check OBJECT ${RIDGELINE_HEADER_UNITS})
target_link_libraries(ridgeline_header_check PRIVATE ridgeline_lib)
target_compile_options(ridgeline_header_check PRIVATE -O0)
ridgeline_precompile(ridgeline_header_check ${RIDGELINE_COMMON_HEADERS})
