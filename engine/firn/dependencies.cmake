# Finds what Firn is built on, for the build and for the installed package alike, and names what is
# missing together with the line that installs it. Macros, because imported targets must land in the caller's scope.

# Notes a missing dependency: firn_missing(what debian_package).
macro(firn_missing what package)
    list(APPEND firn_missing_names "${what}")
    list(APPEND firn_missing_packages "${package}")
endmacro()

# Stops with one message for everything that firn_missing noted.
macro(firn_report_missing_dependencies)
    if(firn_missing_packages)
        list(REMOVE_DUPLICATES firn_missing_packages)
        list(JOIN firn_missing_names ", " firn_missing_names)
        list(JOIN firn_missing_packages " " firn_missing_packages)
        message(FATAL_ERROR "Firn needs these, and they were not found: ${firn_missing_names}.\n"
                            "On Debian and Ubuntu this installs them:\n"
                            "    sudo apt-get install ${firn_missing_packages}\n")
    endif()
endmacro()

# firn_find_config(CMake_package debian_package): a dependency that brings its own CMake config.
macro(firn_find_config name package)
    find_package(${name} CONFIG QUIET)
    if(NOT ${name}_FOUND)
        firn_missing("${name}" ${package})
    endif()
endmacro()

# firn_find_header(target header debian_package [path suffix]): a dependency that is only headers.
macro(firn_find_header target header package)
    string(MAKE_C_IDENTIFIER "FIRN_${target}_INCLUDE_DIR" firn_variable)
    find_path(${firn_variable} ${header} PATH_SUFFIXES ${ARGN})
    mark_as_advanced(${firn_variable})
    if(NOT ${firn_variable})
        firn_missing("${header}" ${package})
    elseif(NOT TARGET firn::${target})
        add_library(firn::${target} INTERFACE IMPORTED)
        target_include_directories(firn::${target} INTERFACE "${${firn_variable}}")
    endif()
endmacro()

# firn_find_library(target library debian_package): adds a library to what firn_find_header found.
macro(firn_find_library target library package)
    string(MAKE_C_IDENTIFIER "FIRN_${library}_LIBRARY" firn_variable)
    find_library(${firn_variable} ${library})
    mark_as_advanced(${firn_variable})
    if(NOT ${firn_variable})
        firn_missing("lib${library}" ${package})
    elseif(TARGET firn::${target})
        target_link_libraries(firn::${target} INTERFACE "${${firn_variable}}")
    endif()
endmacro()

# What programs need that link firn::runtime alone.
macro(firn_find_runtime_dependencies)
    set(firn_missing_names)
    set(firn_missing_packages)
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads QUIET)
    if(NOT Threads_FOUND)
        firn_missing("threads" build-essential)
    endif()
endmacro()

# What the libraries themselves need. Vulkan is headers only: its loader is opened at run time.
macro(firn_find_dependencies)
    firn_find_runtime_dependencies()
    # SPIR-V: Debian's libshaderc.so does not link, the combined archive does once glslang is added.
    firn_find_config(SPIRV-Tools spirv-tools)
    firn_find_config(SPIRV-Tools-opt spirv-tools)
    firn_find_config(glslang glslang-dev)
    firn_find_header(shaderc shaderc/shaderc.hpp libshaderc-dev)
    firn_find_library(shaderc shaderc_combined libshaderc-dev)
    firn_find_header(xxhash xxhash.h libxxhash-dev)
    firn_find_header(vulkan_headers vulkan/vulkan.h libvulkan-dev)
    firn_find_header(volk volk.h libvulkan-volk-dev)
    firn_find_config(glfw3 libglfw3-dev)
    firn_find_header(imgui imgui.h libimgui-dev imgui)
    firn_find_library(imgui imgui libimgui-dev)
    firn_find_header(stb stb_image.h libstb-dev stb)
    firn_find_library(stb stb libstb-dev)
    # Debian's libimgui.a takes its fonts and rectangles from libstb: as a target of its own it says so, and the
    # linker meets libstb behind it in every program.
    if(TARGET firn::imgui AND TARGET firn::stb AND NOT TARGET firn::imgui_archive)
        add_library(firn::imgui_archive STATIC IMPORTED)
        set_target_properties(firn::imgui_archive PROPERTIES IMPORTED_LOCATION "${FIRN_imgui_LIBRARY}"
                                                             INTERFACE_LINK_LIBRARIES firn::stb)
        set_target_properties(firn::imgui PROPERTIES INTERFACE_LINK_LIBRARIES firn::imgui_archive)
    endif()
    firn_find_header(zlib zlib.h zlib1g-dev)
    firn_find_library(zlib z zlib1g-dev)
    firn_find_header(png png.h libpng-dev)
    firn_find_library(png png16 libpng-dev)
    firn_find_header(jpeg jpeglib.h libjpeg-dev)
    firn_find_library(jpeg jpeg libjpeg-dev)
    firn_find_config(nlohmann_json nlohmann-json3-dev)
    firn_find_header(tinyobj tiny_obj_loader.h libtinyobjloader-dev)
    firn_find_library(tinyobj tinyobjloader libtinyobjloader-dev)
    firn_find_header(tinygltf tiny_gltf.h libtinygltf-dev)
    firn_find_library(tinygltf tinygltf libtinygltf-dev)
    if(FIRN_WITH_HDF5)
        firn_find_header(hdf5 hdf5.h libhdf5-dev hdf5/serial)
        firn_find_library(hdf5 hdf5_serial libhdf5-dev)
    endif()
    if(FIRN_zlib_INCLUDE_DIR)
        firn_find_config(OpenEXR libopenexr-dev)
    else()   # its configuration ends this one where zlib is not there
        firn_missing("OpenEXR" libopenexr-dev)
    endif()
endmacro()

# The files of the typefaces that the library will carry: FIRN_TYPEFACE is Inter, or what most systems have;
# FIRN_CODE_TYPEFACE, for code, has letters of one width.
macro(firn_find_typeface)
    find_file(FIRN_TYPEFACE NAMES Inter-Regular.otf Inter-Regular.ttf DejaVuSans.ttf
              PATHS /usr/share/fonts /usr/local/share/fonts
              PATH_SUFFIXES opentype/inter truetype/inter inter TTF OTF truetype/dejavu dejavu-sans-fonts
              DOC "The typeface of panels and drawings, .ttf or .otf")
    mark_as_advanced(FIRN_TYPEFACE)
    if(NOT FIRN_TYPEFACE)
        firn_missing("the typeface Inter-Regular.otf (or another one as FIRN_TYPEFACE)" fonts-inter)
    elseif(NOT EXISTS "${FIRN_TYPEFACE}")
        firn_missing("the typeface that FIRN_TYPEFACE names, ${FIRN_TYPEFACE}" fonts-inter)
    elseif(FIRN_TYPEFACE MATCHES "DejaVu")
        message(STATUS "Firn: no typeface Inter (fonts-inter) was found; text will be in ${FIRN_TYPEFACE}")
    endif()
    find_file(FIRN_CODE_TYPEFACE NAMES DejaVuSansMono.ttf LiberationMono-Regular.ttf
              PATHS /usr/share/fonts /usr/local/share/fonts
              PATH_SUFFIXES truetype/dejavu dejavu TTF dejavu-sans-mono-fonts truetype/liberation
              DOC "The typeface of code, whose letters are equally wide, .ttf or .otf")
    mark_as_advanced(FIRN_CODE_TYPEFACE)
    if(NOT FIRN_CODE_TYPEFACE)
        firn_missing("the typeface DejaVuSansMono.ttf (or another one as FIRN_CODE_TYPEFACE)" fonts-dejavu-core)
    elseif(NOT EXISTS "${FIRN_CODE_TYPEFACE}")
        firn_missing("the typeface that FIRN_CODE_TYPEFACE names, ${FIRN_CODE_TYPEFACE}" fonts-dejavu-core)
    endif()
endmacro()

# Sets FIRN_WITH_HDF5 where HDF5 is there to build with; without it Firn builds all the same. The installed package
# has the value, and then needs the library.
macro(firn_look_for_hdf5)
    find_path(FIRN_hdf5_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
    find_library(FIRN_hdf5_serial_LIBRARY hdf5_serial)
    mark_as_advanced(FIRN_hdf5_INCLUDE_DIR FIRN_hdf5_serial_LIBRARY)
    option(FIRN_HDF5 "Read and write HDF5 files, where the library (libhdf5-dev) is found" ON)
    set(FIRN_WITH_HDF5 OFF)
    if(FIRN_HDF5 AND FIRN_hdf5_INCLUDE_DIR AND FIRN_hdf5_serial_LIBRARY)
        set(FIRN_WITH_HDF5 ON)
    endif()
endmacro()

# What only the build of the libraries needs: the compiler of the engine's own shaders, headers that no
# header of ours includes, and the typefaces.
macro(firn_find_build_dependencies)
    firn_find_typeface()
    firn_find_config(CLI11 libcli11-dev)
    find_program(FIRN_GLSLANG_VALIDATOR glslangValidator)
    mark_as_advanced(FIRN_GLSLANG_VALIDATOR)
    if(NOT FIRN_GLSLANG_VALIDATOR)
        firn_missing("glslangValidator" glslang-tools)
    endif()
endmacro()

macro(firn_find_test_dependencies)
    firn_find_config(GTest libgtest-dev)
endmacro()
