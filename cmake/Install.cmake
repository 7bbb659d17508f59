# What `cmake --install` puts in place: the binary, its man page and its bash completion, and the
# library that `ridgeline counters` puts into other programs, where CUPTI is part of the build.
# The same for the module of LibTorch. Page and completion are printed by the binary itself, so they
# cannot differ from its options.
include(GNUInstallDirs)
install(TARGETS ridgeline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET ridgeline_injection)  # found from the binary: ../lib/ridgeline
  install(TARGETS ridgeline_injection LIBRARY DESTINATION lib/ridgeline)
endif()
if(TARGET ridgeline_torch)
  install(TARGETS ridgeline_torch LIBRARY DESTINATION lib/ridgeline)
endif()

# A cross build without an emulator cannot run the binary; it installs the binary alone.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "cross build without emulator: no man page and no completion")
  return()
endif()

set(RIDGELINE_MAN_PAGE ${PROJECT_BINARY_DIR}/ridgeline.1)
set(RIDGELINE_COMPLETION ${PROJECT_BINARY_DIR}/ridgeline.bash)
add_custom_command(OUTPUT ${RIDGELINE_MAN_PAGE}
                   COMMAND ridgeline help --man > ${RIDGELINE_MAN_PAGE}
                   DEPENDS ridgeline COMMENT "Generating ridgeline.1" VERBATIM)
add_custom_command(OUTPUT ${RIDGELINE_COMPLETION}
                   COMMAND ridgeline help --bash-completion > ${RIDGELINE_COMPLETION}
                   DEPENDS ridgeline COMMENT "Generating bash completion" VERBATIM)
add_custom_target(ridgeline_documents ALL DEPENDS ${RIDGELINE_MAN_PAGE} ${RIDGELINE_COMPLETION})

install(FILES ${RIDGELINE_MAN_PAGE} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${RIDGELINE_COMPLETION}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ridgeline)
