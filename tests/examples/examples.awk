# Writes the examples in the comments of headers as C++ that runs them (see examples.h):
#     awk -v group=NAME -v written=FILE.cpp -f examples.awk headers..
# An example is the last paragraph of a `///` comment. What stands in backticks is code; where `is` and more in backticks
# follow, its value is that. Code without a value is run before what comes after it:
#     /// Example: after `Tensor x = zeros({3}); x(1) = 2.0f;` `sum(x)` is `2` and `x` is `{0, 2, 0}`.
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
function write_line(line) { print line > written }
function finish(    spans, count, k, code) {
    if (text == "") return
    count = split(text, spans, "`")
    if (count < 3 || count % 2 == 0) {
        printf "%s:%d: an example has no code in backticks: %s\n", header, first, text > "/dev/stderr"
        failed = 1
    }
    names[++examples] = header ":" first
    write_line("void example_" examples "(Shows& shows) {")
    write_line("#line " first " \"" header "\"")
    for (k = 2; k <= count; k += 2) {
        code = spans[k]
        if (spans[k + 1] == " is ") {
            write_line("    shows(" code ", " quoted(spans[k + 2]) ");")
            k += 2
        } else
            write_line("    " code (code ~ /[;}]$/ ? "" : ";"))
    }
    write_line("}")
    text = ""
}
BEGIN {
    if (written == "") written = "/dev/stdout"
    write_line("#include \"tests/examples/examples.h\"\nnamespace firn {\nnamespace {")
}
FNR == 1 {
    finish()
    header = substr(FILENAME, match(FILENAME, /(compiler|engine)\/[^\/]*\/[^\/]*$/))
}
/^ *\/\/\/ Examples?:/ {
    finish()
    first = FNR
    text = $0
    sub(/^ *\/\/\/ Examples?: */, "", text)
    next
}
text != "" && /^ *\/\/\/ ./ {
    line = $0
    sub(/^ *\/\/\/ */, "", line)
    text = text " " line
    next
}
text != "" { finish() }
END {
    finish()
    write_line("}  // namespace\n")
    write_line("const std::vector<Example>& examples_of_" group "() {")
    write_line("    static const std::vector<Example> all{")
    for (k = 1; k <= examples; ++k) write_line("        {" quoted(names[k]) ", example_" k "},")
    write_line("    };\n    return all;\n}\n}  // namespace firn")
    exit failed
}
