# Warnings and sanitizers, carried by the interface target ridgeline_options.
# Warnings are errors where CI is set in the environment, and in `./run tests`.
set(RIDGELINE_WERROR_DEFAULT OFF)
if(DEFINED ENV{CI})
  set(RIDGELINE_WERROR_DEFAULT ON)
endif()
option(RIDGELINE_WERROR "Treat warnings as errors" ${RIDGELINE_WERROR_DEFAULT})
set(RIDGELINE_SANITIZE "" CACHE STRING "Sanitizers to build with, for example address,undefined")

add_library(ridgeline_options INTERFACE)
target_compile_options(ridgeline_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                       $<$<BOOL:${RIDGELINE_WERROR}>:-Werror>)

if(RIDGELINE_SANITIZE)
  target_compile_options(ridgeline_options INTERFACE -fsanitize=${RIDGELINE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ridgeline_options INTERFACE -fsanitize=${RIDGELINE_SANITIZE})
endif()
