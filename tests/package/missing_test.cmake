# Hides one header, then the typeface, from the configure step and checks that the message names it and its package.
# Takes: SOURCE_DIR, WORK_DIR, GENERATOR.
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR} -G ${GENERATOR}
            -DFIRN_volk_INCLUDE_DIR=FIRN_volk_INCLUDE_DIR-NOTFOUND
            -DCMAKE_IGNORE_PATH=/usr/include -DFIRN_BUILD_TESTS=OFF
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(code EQUAL 0)
    message(FATAL_ERROR "configured although volk.h was hidden")
endif()
string(REGEX REPLACE "[ \n]+" " " output "${output}")
foreach(text "volk.h" "sudo apt-get install [^\n]*libvulkan-volk-dev")
    if(NOT output MATCHES "${text}")
        message(FATAL_ERROR "the message lacks '${text}':\n${output}")
    endif()
endforeach()

# A typeface that is not there.
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR} -G ${GENERATOR} -DFIRN_TYPEFACE=/nowhere/some.ttf
            -DFIRN_BUILD_TESTS=OFF
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
if(code EQUAL 0 OR NOT output MATCHES "/nowhere/some.ttf.*sudo apt-get install fonts-inter")
    message(FATAL_ERROR "a missing typeface is not named:\n${output}")
endif()
