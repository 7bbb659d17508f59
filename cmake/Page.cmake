# Compiles report/page/* (HTML, CSS, JavaScript of `ridgeline report`) into the library.
file(GLOB RIDGELINE_PAGE CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/report/page/*)
set(RIDGELINE_PAGE_SOURCE ${RIDGELINE_GENERATED_DIR}/report/page_files.cpp)
add_custom_command(OUTPUT ${RIDGELINE_PAGE_SOURCE}
                   COMMAND ${CMAKE_COMMAND} -D FOLDER=${PROJECT_SOURCE_DIR}/report/page
                           -D OUTPUT=${RIDGELINE_PAGE_SOURCE}
                           -P ${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake
                   DEPENDS ${RIDGELINE_PAGE} ${PROJECT_SOURCE_DIR}/cmake/EmbedPage.cmake
                   COMMENT "Embedding the page of reports" VERBATIM)
target_sources(ridgeline_lib PRIVATE ${RIDGELINE_PAGE_SOURCE})
