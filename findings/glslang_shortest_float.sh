#!/usr/bin/env bash
# A float's shortest decimal text, read by a GLSL compiler.
#
# Guess: the shortest text that C++'s to_chars gives for a float (9 significant digits at most) is
# read back by glslang as that float, as it is by every reader that rounds once.
# Seen: of all normal floats one comes back as its neighbour. 7.038531e-26 is the text of
# 0x15ae43fd; glslang reads a double, which is the middle of two floats, and rounds that to the even
# one, 0x15ae43fe.
set -euo pipefail
packages=(glslang-tools=12.0.0-2)

work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 777 packages
mkdir root
(cd packages && apt-get -qq download "${packages[@]}")
for package in packages/*.deb; do dpkg -x "$package" root; done

cat > text.cpp <<'CPP'
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
int main() {
    char text[32];
    *std::to_chars(text, text + 31, std::bit_cast<float>(uint32_t{0x15ae43fd})).ptr = 0;
    std::puts(text);
}
CPP
g++ -std=c++20 text.cpp -o text
text=$(./text)
cat > literal.comp <<GLSL
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer Out { float x; };
void main() { x = $text; }
GLSL
root/usr/bin/glslangValidator --version | head -1 >&2
root/usr/bin/glslangValidator -V --quiet literal.comp -o literal.spv
seen="0x15ae43fd is written $text and read $(od -An -v -tx4 -w4 literal.spv | grep -o '15ae43f.' | sed 's/^/0x/')"
echo "$seen"
if [[ $seen != '0x15ae43fd is written 7.038531e-26 and read 0x15ae43fe' ]]; then
    echo 'changed: expected it to be written 7.038531e-26 and read 0x15ae43fe' >&2
    exit 1
fi
