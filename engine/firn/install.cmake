# Install rules: static libraries, headers in the layout of the source tree, and the CMake package firn.
include(CMakePackageConfigHelpers)
set(firn_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/firn)

install(TARGETS firn firn_precompiled firn_interchange firn_compiler firn_engine firn_runtime firn_program
        EXPORT firn_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# `#include <firn/firn.h>` and the headers' own includes from the root both resolve under include/firn.
install(DIRECTORY compiler engine DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/firn
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "firn_gdb.py")
install(EXPORT firn_targets NAMESPACE firn:: DESTINATION ${firn_package_dir}
        FILE firn-targets.cmake)

configure_package_config_file(engine/firn/firn-config.cmake.in ${PROJECT_BINARY_DIR}/firn-config.cmake
                              INSTALL_DESTINATION ${firn_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/firn-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/firn-config.cmake ${PROJECT_BINARY_DIR}/firn-config-version.cmake
              engine/firn/dependencies.cmake
        DESTINATION ${firn_package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/firn)
