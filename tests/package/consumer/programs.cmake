# Programs with a window of one's own, in few lines.
set(consumer_dir ${CMAKE_CURRENT_LIST_DIR})
foreach(program ${consumer_dir}/../../../apps/heat.cpp ${consumer_dir}/filter.cpp ${consumer_dir}/orbits.cpp)
    get_filename_component(name ${program} NAME_WE)
    add_executable(consumer_${name} ${program})
    target_link_libraries(consumer_${name} PRIVATE firn::firn)
endforeach()
target_link_libraries(consumer_orbits PRIVATE firn::precompiled)
# Programs that use Vulkan on their own beside Firn: through the loader's prototypes, and through a volk of their own.
find_package(Vulkan REQUIRED)
add_executable(consumer ${consumer_dir}/main.cpp ${consumer_dir}/firn_first.cpp ${consumer_dir}/vulkan_first.cpp)
target_link_libraries(consumer PRIVATE firn::firn Vulkan::Vulkan)
target_compile_options(consumer PRIVATE -g)  # a debugger looks at it
add_executable(consumer_with_volk ${consumer_dir}/own_volk.cpp)
target_link_libraries(consumer_with_volk PRIVATE firn::firn Vulkan::Headers ${CMAKE_DL_LIBS})
# One saves a program, the other runs it with the runtime alone: what it needs of the compiler, or of windows, would
# not link.
add_executable(consumer_saver ${consumer_dir}/saver.cpp)
target_link_libraries(consumer_saver PRIVATE firn::firn)
add_executable(consumer_runner ${consumer_dir}/runner.cpp)
target_link_libraries(consumer_runner PRIVATE firn::runtime)
