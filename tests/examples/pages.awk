# Writes the examples of pages as C++ that runs them (see examples.h):
#     awk -v group=NAME -v written=FILE.cpp -f pages.awk pages..
# An example is a block of code in C++: ```cpp.
function write_line(line) { print line > written }
BEGIN {
    if (written == "") written = "/dev/stdout"
    write_line("#include \"tests/examples/examples.h\"\nnamespace firn {\nnamespace {")
}
FNR == 1 { page = substr(FILENAME, match(FILENAME, /(compiler|engine)\/.*$/)) }
/^```cpp$/ {
    names[++examples] = page ":" FNR + 1
    inside = 1
    write_line("void example_" examples "(Shows&) {\n#line " FNR + 1 " \"" page "\"")
    next
}
inside && /^```$/ {
    inside = 0
    write_line("}")
}
inside { write_line($0) }
END {
    write_line("}  // namespace\n")
    write_line("const std::vector<Example>& examples_of_" group "() {")
    write_line("    static const std::vector<Example> all{")
    for (k = 1; k <= examples; ++k) write_line("        {\"" names[k] "\", example_" k "},")
    write_line("    };\n    return all;\n}\n}  // namespace firn")
}
