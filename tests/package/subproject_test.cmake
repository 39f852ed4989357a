# Configures a project that has Firn's sources inside its own: nothing of it may be changed or demanded.
# Takes: SOURCE_DIR, WORK_DIR, GENERATOR.
file(REMOVE_RECURSE ${WORK_DIR})
execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR}/tests/package/subproject -B ${WORK_DIR} -G ${GENERATOR}
            -DFIRN_SOURCE_DIR=${SOURCE_DIR}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "a project around Firn does not configure:\n${output}")
endif()
