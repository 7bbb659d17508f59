# The files of the library: all of the folders in cmake/source_folders.txt. A new file in one of
# them, or in a folder below, is part of the build: no list to edit.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/source_folders.txt RIDGELINE_FOLDERS REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/source_folders.txt)

# ridgeline_files(VARIABLE ENDING): those of all folders with that ending, but for the parts that
# are chosen elsewhere: one processor's kernels, and code for libraries that may be absent.
function(ridgeline_files variable ending)
  set(patterns ${RIDGELINE_FOLDERS})
  list(TRANSFORM patterns PREPEND ${PROJECT_SOURCE_DIR}/)
  list(TRANSFORM patterns APPEND /*${ending})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${patterns})
  list(FILTER files EXCLUDE REGEX
       "/kernels/(cpu/(x86|aarch64)|cuda/(runtime|device|cupti)|input/jpeg)/|/tensorrt/nvinfer/|/renderers/matplot/|/execution/(torch|tensorrt)/|/cli/main\\.cpp$")
  set(${variable} ${files} PARENT_SCOPE)
endfunction()

ridgeline_files(RIDGELINE_SOURCES .cpp)
# Compiled one by one and as they stand: the tests disassemble them.
file(GLOB RIDGELINE_KERNEL_BODIES CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/kernels/cpu/${RIDGELINE_ARCH}/*.cpp)
set_source_files_properties(${RIDGELINE_KERNEL_BODIES} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
