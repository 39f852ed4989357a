# Suites of a GoogleTest program as tests of ctest: a suite is one process, since making a device with
# validation takes longer than most tests. A long suite is several processes, which cores share.

# What one process runs of a suite: fewer would make more devices, more would leave a core idle at the end. Tests of
# one parameter are in one process: they compile the same programs, which the first of them leaves to the others.
set(firn_tests_of_a_process 20)

# Seconds that a process may take: 30 times what the longest takes on a machine that does nothing else, since
# others may come to use the machine while it runs. What takes longer hangs.
set(firn_seconds_of_a_process 3000)

# Makes `<folder>.<suite>` of each suite of the target test_<folder> whose tests match `filter`, with the
# properties behind it. The program is asked for its suites when ctest starts.
function(firn_add_suites folder which filter)
    set(written ${CMAKE_CURRENT_BINARY_DIR}/test_${folder}_${which})
    file(GENERATE OUTPUT ${written}_ask.cmake CONTENT
"set(program [==[$<TARGET_FILE:test_${folder}>]==])
set(written [==[${written}.cmake]==])
if(NOT EXISTS \${program})
    add_test([==[${folder}.NOT_BUILT]==] NOT_BUILT)
    return()
endif()
include([==[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/suites.cmake]==])
if(NOT EXISTS \${written} OR \${program} IS_NEWER_THAN \${written} OR
   [==[${CMAKE_CURRENT_FUNCTION_LIST_FILE}]==] IS_NEWER_THAN \${written})
    firn_write_suites([==[${folder}]==] \${program} \${written} [==[${filter}]==] [==[${ARGN}]==])
endif()
include(\${written})
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${written}_ask.cmake)
endfunction()

# The file that adds them; ctest calls it.
function(firn_write_suites folder program written filter properties)
    execute_process(COMMAND ${program} --gtest_list_tests --gtest_filter=${filter}
                    OUTPUT_VARIABLE listed RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${program} does not list its tests: ${status}")
    endif()
    # Parameters, as text behind '#', may have what a list of CMake cannot.
    string(REGEX REPLACE "  #[^\n]*" "" listed "${listed}")
    string(REPLACE "\n" ";" lines "${listed}")
    set(text "")
    set(suite "")
    set(tests "")
    foreach(line IN LISTS lines ITEMS "end.")
        if(line MATCHES "^  (.+)$")
            set(test "${suite}.${CMAKE_MATCH_1}")
            if(NOT test MATCHES "DISABLED_")
                list(APPEND tests ${test})
            endif()
        elseif(line MATCHES "^([^ ]+)\\.$")
            set(next "${CMAKE_MATCH_1}")
            firn_add_processes(text "${folder}.${suite}" "${program}" "${properties}" ${tests})
            set(suite "${next}")
            set(tests "")
        endif()
    endforeach()
    file(WRITE ${written} "${text}")
endfunction()

function(firn_add_processes out name program properties)
    set(tests ${ARGN})
    list(LENGTH tests left)
    math(EXPR processes "(${left} + ${firn_tests_of_a_process} - 1) / ${firn_tests_of_a_process}")
    set(added "${${out}}")
    if(left EQUAL 0)
        return()
    endif()
    # The number of each test's parameter, or of the test where there are not many parameters.
    set(groups "")
    set(parameters "")
    foreach(test IN LISTS tests)
        string(REGEX REPLACE "^.*/" "" parameter "${test}")
        list(FIND parameters "${parameter}" group)
        if(group EQUAL -1)
            list(LENGTH parameters group)
            list(APPEND parameters "${parameter}")
        endif()
        list(APPEND groups ${group})
    endforeach()
    list(LENGTH parameters count)
    math(EXPR many "4 * ${processes}")
    if(count LESS many)
        set(groups "")
        foreach(group RANGE 1 ${left})
            list(APPEND groups ${group})
        endforeach()
    endif()
    foreach(process RANGE 1 ${processes})
        # As many for each, one after another among them: neighbours take alike long.
        set(mine "")
        foreach(test group IN ZIP_LISTS tests groups)
            math(EXPR turn "${group} % ${processes} + 1")
            if(turn EQUAL process)
                list(APPEND mine ${test})
            endif()
        endforeach()
        string(REPLACE ";" ":" mine "${mine}")
        set(called "${name}")
        if(processes GREATER 1)
            # Without a space, at which ctest ends the names in its record of what took how long.
            string(APPEND called "-${process}/${processes}")
        endif()
        # Processes that run beside one another, those of other builds too, share no files.
        string(REGEX REPLACE "[^A-Za-z0-9]+" "_" folder "${called}")
        get_filename_component(folder ${written}_files/${folder}/ ABSOLUTE)
        string(APPEND folder "/")
        file(MAKE_DIRECTORY ${folder})
        # All of them skipped and none failed: as a skip is shown, and never in the place of a failure.
        string(APPEND added "add_test([==[${called}]==] [==[${program}]==] [==[--gtest_filter=${mine}]==])
set_tests_properties([==[${called}]==] PROPERTIES ${properties} TIMEOUT ${firn_seconds_of_a_process}
    ENVIRONMENT [==[FIRN_RATES=reference;TEST_TMPDIR=${folder}]==] FAIL_REGULAR_EXPRESSION \"Running 0 tests\"
    SKIP_REGULAR_EXPRESSION [==[\\[  PASSED  \\] 0 tests\\.\n\\[  SKIPPED \\][^[]*(\\[  SKIPPED \\][^[]*)*$]==])
")
    endforeach()
    set(${out} "${added}" PARENT_SCOPE)
endfunction()
