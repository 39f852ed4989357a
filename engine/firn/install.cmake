# Install rules, by components: `runtime` is the C interface's shared library, `development` headers, static libraries in
# the layout of the source tree, and the packages by which CMake and pkg-config find them; the tool is `tools`, the package of
# Python is `python`, the library for several processes is `mpi`.
include(CMakePackageConfigHelpers)
set(firn_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/firn)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

install(TARGETS firn firn_precompiled firn_interchange firn_compiler firn_engine firn_runtime firn_program
        EXPORT firn_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS firn_c EXPORT firn_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES engine/c/firn.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# `#include <firn/firn.h>` and the headers' own includes from the root both resolve under include/firn.
install(DIRECTORY compiler engine DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/firn
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "firn_gdb.py" PATTERN "engine/c" EXCLUDE PATTERN "engine/python" EXCLUDE
        PATTERN "engine/mpi" EXCLUDE)
install(EXPORT firn_targets NAMESPACE firn:: DESTINATION ${firn_package_dir}
        FILE firn-targets.cmake)

# Apart, so that a program without it needs no MPI.
if(TARGET firn_mpi)
    install(TARGETS firn_mpi EXPORT firn_mpi_targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT mpi)
    install(DIRECTORY engine/mpi/firn DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/firn/engine/mpi COMPONENT mpi)
    install(EXPORT firn_mpi_targets NAMESPACE firn:: DESTINATION ${firn_package_dir}
            FILE firn-mpi-targets.cmake COMPONENT mpi)
    set(CPACK_DEBIAN_MPI_PACKAGE_NAME libfirn-mpi-dev)
    set(CPACK_DEBIAN_MPI_DESCRIPTION "Tensor programs in C++ on several processes, by MPI")
    set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "libfirn-dev (= ${PROJECT_VERSION}), libopenmpi-dev | libmpich-dev")
    set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS OFF)
endif()

configure_package_config_file(engine/firn/firn-config.cmake.in ${PROJECT_BINARY_DIR}/firn-config.cmake
                              INSTALL_DESTINATION ${firn_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/firn-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/firn-config.cmake ${PROJECT_BINARY_DIR}/firn-config-version.cmake
              engine/firn/dependencies.cmake
        DESTINATION ${firn_package_dir})
# Found relative to its own place, so that a prefix may be moved.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/firn-runtime.pc @ONLY CONTENT [[
prefix=${pcfiledir}/../..
libdir=${prefix}/lib
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@

Name: firn-runtime
Description: Runs saved tensor programs on Vulkan devices, from C
Version: @PROJECT_VERSION@
Cflags: -I${includedir}
Libs: -L${pcfiledir}/.. -lfirn_runtime
]])
install(FILES ${PROJECT_BINARY_DIR}/firn-runtime.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/firn)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libfirn-runtime1 COMPONENT runtime)

# `cpack -G DEB` makes a package of each component.
set(CPACK_PACKAGE_NAME firn)
set(CPACK_PACKAGE_CONTACT "The developers of Firn")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libfirn-runtime1)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "Runs saved tensor programs on Vulkan devices, from C")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS libvulkan1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfirn-dev)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Tensor programs in C++, fused into compute kernels: libraries and headers")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfirn-runtime1 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME firn-tools)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "Inspects, runs, measures and exports saved tensor programs")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-firn)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_DESCRIPTION "Tensor programs that become a few compute kernels, from Python")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS python3)
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-numpy, libvulkan1")
include(CPack)
