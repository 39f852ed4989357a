# Installs Firn to a fresh prefix, moves it, builds a project against it there, and runs that.
# Takes: BUILD_DIR, SOURCE_DIR, WORK_DIR, GENERATOR, CONFIG.
set(ENV{FIRN_EXECUTOR} interpret)   # the package is what is tested, not a driver

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "${ARGN}\nended with ${code}:\n${output}")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --config ${CONFIG} --prefix ${WORK_DIR}/first)
# A package that is used where it was not installed shows absolute paths that slipped in.
file(RENAME ${WORK_DIR}/first ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/consumer -B ${WORK_DIR}/build -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/consumer)
# What a debugger shows of a tensor. Where programs may not be traced gdb gets nowhere.
find_program(gdb gdb)
if(gdb)
    execute_process(COMMAND ${gdb} -batch -ex "source ${WORK_DIR}/prefix/include/firn/compiler/frontend/firn_gdb.py"
                            -ex "tbreak loader_answers_firn_first" -ex run -ex up -ex "print x" ${WORK_DIR}/build/consumer
                    OUTPUT_VARIABLE shown ERROR_VARIABLE shown)
    if(shown MATCHES "Temporary breakpoint 1, " AND NOT shown MATCHES "= i32\\[5\\]")
        message(FATAL_ERROR "gdb shows no tensor:\n${shown}")
    endif()
endif()
set(ENV{FIRN_EXECUTOR} device)      # Firn's Vulkan at work beside the host's
run(${WORK_DIR}/build/consumer_with_volk)

# A saved program, run by a program without the compiler: as it was saved, with a parameter set, and out of its range.
set(file ${WORK_DIR}/scale.firn)
run(${WORK_DIR}/build/consumer_saver ${file})
function(check_runner code says)
    execute_process(COMMAND ${WORK_DIR}/build/consumer_runner ${ARGN} RESULT_VARIABLE got OUTPUT_VARIABLE output
                            ERROR_VARIABLE output)
    string(FIND "${output}" "${says}" found)
    if(NOT got EQUAL code OR found EQUAL -1)
        message(FATAL_ERROR "the runner of ${ARGN} ended with ${got} in place of ${code}, without '${says}':\n${output}")
    endif()
endfunction()
check_runner(0 "result 0: 35 elements, the first is 11" ${file})
check_runner(0 "result 0: 35 elements, the first is 4" ${file} gain=1)
check_runner(2 "gain" ${file} gain=5)
check_runner(2 "it is no saved program" ${CMAKE_CURRENT_LIST_FILE})

# Several processes, where Firn was built with an MPI.
if(HAS_MPI)
    run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/processes -B ${WORK_DIR}/processes -G ${GENERATOR}
        -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
    run(${CMAKE_COMMAND} --build ${WORK_DIR}/processes)
    run(${WORK_DIR}/processes/processes)
endif()

# The tool, where the demos and it were built.
if(EXISTS ${WORK_DIR}/prefix/bin/firn)
    run(${WORK_DIR}/prefix/bin/firn inspect ${file})
endif()

# A plugin: the component `runtime` needs none of the packages of windows, pictures and the compiler, all of which are
# hidden here, and is a shared library that exports its own function alone and is unloaded.
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/plugin -B ${WORK_DIR}/plugin -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCMAKE_IGNORE_PATH=/usr/include)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/plugin)
run(${WORK_DIR}/plugin/host ${WORK_DIR}/plugin/libplugin.so ${file})
find_program(nm nm REQUIRED)
execute_process(COMMAND ${nm} -D --defined-only ${WORK_DIR}/plugin/libplugin.so OUTPUT_VARIABLE exports)
if(NOT exports MATCHES "^[0-9a-f]+ T plugin_first_result\n$")
    message(FATAL_ERROR "the plugin exports more than its function:\n${exports}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/plugin -B ${WORK_DIR}/plugin_window -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DCOMPONENT=window RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0 OR NOT output MATCHES "firn has no component window")
    message(FATAL_ERROR "an unknown component is not named:\n${output}")
endif()

# Programs of one's own: how long they may be, and what they write.
function(check_program name source lines)
    file(STRINGS ${source} text)
    list(LENGTH text count)
    if(count GREATER lines)
        message(FATAL_ERROR "${source} has ${count} lines, and ${lines} are to be enough")
    endif()
    set(out ${WORK_DIR}/${name}.png)
    run(${WORK_DIR}/build/consumer_${name} --headless --frames 3 --size 96x64 --out ${out} --save-preset
        ${WORK_DIR}/${name}.json ${ARGN})
    run(${WORK_DIR}/build/consumer_${name} --headless --frames 3 --size 96x64 --out ${out}.again.png --preset
        ${WORK_DIR}/${name}.json)
    run(${CMAKE_COMMAND} -E compare_files ${out} ${out}.again.png)
endfunction()
check_program(heat ${SOURCE_DIR}/apps/heat.cpp 20 --rate 0.1)
check_program(orbits ${SOURCE_DIR}/tests/package/consumer/orbits.cpp 35 --set apart=1)
check_program(filter ${SOURCE_DIR}/tests/package/consumer/filter.cpp 30
              --picture ${SOURCE_DIR}/assets/fluid.png --set tint=\#ffaa00 --sharpen 3)
