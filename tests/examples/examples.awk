# Writes the examples in the comments of headers as C++ that runs them (see examples.h):
#     awk -f examples.awk -v group=NAME headers.. > examples_NAME.cpp
# An example is the last paragraph of a `///` comment. What stands in backticks is code; where `is` and more in backticks
# follow, its value is that. Code without a value is run before what comes after it:
#     /// Example: after `Tensor x = zeros({3}); x(1) = 2.0f;` `sum(x)` is `2` and `x` is `{0, 2, 0}`.
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
function finish(    spans, count, k, code) {
    if (text == "") return
    count = split(text, spans, "`")
    if (count < 3 || count % 2 == 0) {
        printf "%s:%d: an example has no code in backticks: %s\n", header, first, text > "/dev/stderr"
        failed = 1
    }
    names[++examples] = header ":" first
    printf "void example_%d(Shows& shows) {\n#line %d \"%s\"\n", examples, first, header
    for (k = 2; k <= count; k += 2) {
        code = spans[k]
        if (spans[k + 1] == " is ") {
            printf "    shows(%s, %s);\n", code, quoted(spans[k + 2])
            k += 2
        } else
            printf "    %s%s\n", code, code ~ /[;}]$/ ? "" : ";"
    }
    print "}"
    text = ""
}
BEGIN { print "#include \"tests/examples/examples.h\"\nnamespace firn {\nnamespace {" }
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
    print "}  // namespace\n"
    printf "const std::vector<Example>& examples_of_%s() {\n    static const std::vector<Example> all{\n", group
    for (k = 1; k <= examples; ++k) printf "        {\"%s\", example_%d},\n", names[k], k
    print "    };\n    return all;\n}\n}  // namespace firn"
    exit failed
}
