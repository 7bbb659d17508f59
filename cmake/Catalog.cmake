# Compiles devices/catalog/*.json into the library: a new file is a new device, no list to edit.
# What the files mean is read at run time, one file at a time; only ids and aliases are taken out.
file(GLOB RIDGELINE_CATALOG CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/devices/catalog/*.json)
set(RIDGELINE_CATALOG_SOURCE ${RIDGELINE_GENERATED_DIR}/devices/catalog/index.cpp)
add_custom_command(OUTPUT ${RIDGELINE_CATALOG_SOURCE}
                   COMMAND ${CMAKE_COMMAND} -D FOLDER=${PROJECT_SOURCE_DIR}/devices/catalog
                           -D OUTPUT=${RIDGELINE_CATALOG_SOURCE}
                           -P ${PROJECT_SOURCE_DIR}/cmake/EmbedCatalog.cmake
                   DEPENDS ${RIDGELINE_CATALOG} ${PROJECT_SOURCE_DIR}/cmake/EmbedCatalog.cmake
                   COMMENT "Embedding the device catalog" VERBATIM)
target_sources(ridgeline_lib PRIVATE ${RIDGELINE_CATALOG_SOURCE})
