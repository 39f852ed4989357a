#!/usr/bin/env bash
# A vector that a scalar condition chooses, in LLVM's code for AVX-512.
#
# Guess: `select i1 %c` of two vectors becomes a masked instruction or a blend, as the same choice by
# a vector of sixteen equal conditions does: the operands are ready, and neither has an effect.
# Seen: it becomes a jump around the multiplication and its load, which then wait for the jump; the
# vector of conditions needs no jump.
set -euo pipefail
packages=(llvm-19=1:19.1.7-3~deb12u1 libllvm19=1:19.1.7-3~deb12u1 libedit2=3.1-20221030-2
          libz3-4=4.8.12-3.1 libbsd0=0.11.7-2)

work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 777 packages
mkdir root
(cd packages && apt-get -qq download "${packages[@]}")
for package in packages/*.deb; do dpkg -x "$package" root; done

# term CONDITION: a product that is added to %sum if %c is true.
term() {
    cat <<LLVM
define <16 x float> @term(ptr dereferenceable(64) align 64 %p, i1 %c, <16 x float> %sum, <16 x float> %w) {
  %x = load <16 x float>, ptr %p, align 64
  %product = fmul <16 x float> %x, %w
  %one = insertelement <16 x i1> poison, i1 %c, i64 0
  %all = shufflevector <16 x i1> %one, <16 x i1> poison, <16 x i32> zeroinitializer
  %chosen = select $1, <16 x float> %product, <16 x float> zeroinitializer
  %new = fadd <16 x float> %sum, %chosen
  ret <16 x float> %new
}
LLVM
}
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/llvm-19/lib
llc=root/usr/lib/llvm-19/bin/llc
jumps() { term "$1" | "$llc" -O2 -mcpu=skylake-avx512 -o - | grep -cE '^\s+j[a-z]+\s' || true; }

"$llc" --version | grep version >&2
seen="jumps: $(jumps 'i1 %c') by a scalar condition, $(jumps '<16 x i1> %all') by a vector of conditions"
echo "$seen"
if [[ $seen != 'jumps: 1 by a scalar condition, 0 by a vector of conditions' ]]; then
    echo 'changed: expected 1 jump by a scalar condition and 0 by a vector of conditions' >&2
    exit 1
fi
