#!/usr/bin/env bash
# Where LLVM puts registers of 64 bytes that do not fit the processor's, on the stack.
#
# Guess: a slot for such a register is aligned to 64 bytes, as an `alloca` of the same vector is, for
# which the function aligns its stack; so each store and each load touches one line of the cache.
# Seen: a function whose only need of the stack is such slots does not align it. The stack is a
# multiple of 16 then, so that for three of four callers every slot crosses two lines. With
# `alignstack=64` the function aligns the stack, and uses aligned moves.
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

# many ATTRIBUTES: keeps 40 vectors of 64 bytes at once, in 32 registers.
many() {
    echo 'define void @many(ptr %p, ptr %q, <16 x float> %w) #0 {'
    for k in {0..39}; do
        echo "  %a$k = getelementptr <16 x float>, ptr %p, i64 $k"
        echo "  %x$k = load volatile <16 x float>, ptr %a$k, align 64"
    done
    product=%w
    for k in {39..0}; do
        echo "  %m$k = fmul <16 x float> $product, %x$k"
        product=%m$k
    done
    for k in {0..39}; do
        echo "  %b$k = getelementptr <16 x float>, ptr %q, i64 $k"
        echo "  %y$k = fadd <16 x float> %x$k, $product"
        echo "  store volatile <16 x float> %y$k, ptr %b$k, align 64"
    done
    echo '  ret void'
    echo '}'
    echo "attributes #0 = { nounwind \"min-legal-vector-width\"=\"512\" $1 }"
}
# slot: an alloca of one such vector, which is stored to.
slot() {
    cat <<'LLVM'
declare void @use(ptr)
define void @slot(<16 x float> %w) nounwind {
  %a = alloca <16 x float>
  store <16 x float> %w, ptr %a
  call void @use(ptr %a)
  ret void
}
LLVM
}
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/llvm-19/lib
llc=root/usr/lib/llvm-19/bin/llc
compiled() { "$llc" -O2 -mcpu=skylake-avx512 -o -; }
counted() { grep -cE "$1" || true; }

"$llc" --version | grep version >&2
plain=$(many '' | compiled)
aligned=$(many 'alignstack=64' | compiled)
seen="alloca: $(slot | compiled | counted 'andq\s+\$-64, %rsp') function that aligns its stack
spills: $(counted 'andq\s+\$-64, %rsp' <<< "$plain") such functions, $(counted 'vmovups.*64-byte Spill' <<< "$plain") unaligned stores, $(counted 'vmovaps.*64-byte Spill' <<< "$plain") aligned ones
alignstack=64: $(counted 'andq\s+\$-64, %rsp' <<< "$aligned") such function, $(counted 'vmovups.*64-byte Spill' <<< "$aligned") unaligned stores"
echo "$seen"
if [[ $seen != "alloca: 1 function that aligns its stack
spills: 0 such functions, "*" unaligned stores, 0 aligned ones
alignstack=64: 1 such function, 0 unaligned stores" || $seen == *", 0 unaligned stores, 0 aligned"* ]]; then
    echo 'changed: expected an alignment for the alloca and for alignstack=64, and none for spills' >&2
    exit 1
fi
