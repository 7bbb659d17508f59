# Writes cli/build_info.h, which `ridgeline --version` prints.
# No paths, dates or host names: the same sources and options give the same binary.
set(RIDGELINE_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
configure_file(${CMAKE_CURRENT_LIST_DIR}/build_info.h.in
               ${RIDGELINE_GENERATED_DIR}/cli/build_info.h @ONLY)
