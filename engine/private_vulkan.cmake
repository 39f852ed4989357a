# Gives volk's symbols in an archive names of Firn's own. volk defines `vkCreateInstance` and all others as
# data; a program that links volk statically beside code compiled with Vulkan's prototypes (a host engine, another
# library) would silently call into it and crash.
function(firn_make_vulkan_private target)
    file(STRINGS "${FIRN_volk_INCLUDE_DIR}/volk.h" declarations REGEX "^extern PFN_vk[A-Za-z0-9]+ vk")
    set(names)
    foreach(declaration IN LISTS declarations)
        string(REGEX REPLACE "^extern PFN_(vk[A-Za-z0-9]+) .*" "\\1" name "${declaration}")
        string(APPEND names "${name} firn_${name}\n")
    endforeach()
    file(STRINGS "${FIRN_volk_INCLUDE_DIR}/volk.h" declarations REGEX "^[A-Za-z0-9_]+ volk[A-Za-z]+\\(.*\\);")
    foreach(declaration IN LISTS declarations)
        string(REGEX REPLACE "^[A-Za-z0-9_]+ (volk[A-Za-z]+).*" "\\1" name "${declaration}")
        string(APPEND names "${name} firn_${name}\n")
    endforeach()
    set(list ${CMAKE_CURRENT_BINARY_DIR}/private_vulkan.txt)
    file(CONFIGURE OUTPUT ${list} CONTENT "${names}")
    add_custom_command(TARGET ${target} POST_BUILD
        COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${list} $<TARGET_FILE:${target}>
        VERBATIM)
endfunction()
