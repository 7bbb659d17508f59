# Warnings and sanitizers, carried by the interface target ridgeline_options.
# Warnings are errors where CI is set in the environment, and in `./run tests`.
set(RIDGELINE_WERROR_DEFAULT OFF)
if(DEFINED ENV{CI})
  set(RIDGELINE_WERROR_DEFAULT ON)
endif()
option(RIDGELINE_WERROR "Treat warnings as errors" ${RIDGELINE_WERROR_DEFAULT})
set(RIDGELINE_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")

add_library(ridgeline_options INTERFACE)
target_compile_options(ridgeline_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                       $<$<BOOL:${RIDGELINE_WERROR}>:-Werror>)

# With optimisation GCC 12 and 13 see overlapping copies and copies past the end in plain std::string
# code (GCC bug 105651), and frees of what a std::vector has just allocated. Which code they accuse
# depends on what they inline, so on a neighbour in the unit. The sanitizers find the real ones.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(ridgeline_options INTERFACE -Wno-restrict -Wno-free-nonheap-object
                         -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()

# GCC's manual says that sanitizers make it warn of uninitialised values without cause.
if(RIDGELINE_SANITIZE)
  target_compile_options(ridgeline_options INTERFACE -fsanitize=${RIDGELINE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(ridgeline_options INTERFACE -fsanitize=${RIDGELINE_SANITIZE})
endif()
