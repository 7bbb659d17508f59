# Writes cli/build_info.h, which `ridgeline --version` prints.
# No paths, dates or host names: the same sources and options give the same binary.
set(RIDGELINE_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(RIDGELINE_BUILD_INFO ${CMAKE_CURRENT_LIST_DIR}/build_info.h.in)

# write_build_info(FOLDER SANITIZERS)
function(write_build_info folder RIDGELINE_SANITIZERS)
  configure_file(${RIDGELINE_BUILD_INFO} ${folder}/cli/build_info.h @ONLY)
endfunction()
write_build_info(${RIDGELINE_GENERATED_DIR} "${RIDGELINE_SANITIZE}")
