# Pictures through Matplot++: RIDGELINE_MATPLOT=AUTO takes the library where find_package finds it;
# without it everything else builds and works. No distribution packages it: docs/plots.md.
set(RIDGELINE_MATPLOT AUTO CACHE STRING "Pictures by Matplot++: AUTO, ON or OFF")
set_property(CACHE RIDGELINE_MATPLOT PROPERTY STRINGS AUTO ON OFF)

if(RIDGELINE_MATPLOT STREQUAL "AUTO")
  find_package(Matplot++ QUIET)
elseif(RIDGELINE_MATPLOT)
  find_package(Matplot++ REQUIRED)
endif()

if(RIDGELINE_MATPLOT AND TARGET Matplot++::matplot)
  target_sources(ridgeline_lib PRIVATE plots/renderers/matplot/library.cpp)
  set_source_files_properties(plots/renderers/matplot/library.cpp PROPERTIES
                              SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_link_libraries(ridgeline_lib PUBLIC Matplot++::matplot)
  message(STATUS "Matplot++: ${Matplot++_DIR}")
else()
  message(STATUS "Matplot++: not built (library missing or RIDGELINE_MATPLOT=OFF)")
  target_sources(ridgeline_lib PRIVATE plots/renderers/matplot/none.cpp)
endif()
