#!/usr/bin/env bash
# Vectors of more than 16 bytes, and masked ones, before LLVM's thread sanitizer.
#
# Guess: `opt -passes=tsan` tells the sanitizer of every load and store, of a large vector by a range
# of bytes as of a memcpy, of a masked one by its lanes.
# Seen: it tells of vectors up to 16 bytes. It skips larger ones and masked ones without a word, so
# that races in code of AVX, AVX-512 or masked loops are never found.
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

export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/llvm-19/lib
opt=root/usr/lib/llvm-19/bin/opt

# told LANES: how often the sanitizer is told of a load of so many floats from one place and a store
# to another.
told() {
    cat <<LLVM | "$opt" -passes=tsan -S -o - | grep -cE 'call void @__tsan_(unaligned_)?(read|write)' || true
define void @copy(ptr %to, ptr %from) sanitize_thread {
  %x = load <$1 x float>, ptr %from, align 4
  store <$1 x float> %x, ptr %to, align 4
  ret void
}
LLVM
}
told_of_masked() {
    cat <<'LLVM' | "$opt" -passes=tsan -S -o - | grep -cE 'call void @__tsan_(unaligned_)?(read|write)' || true
declare <4 x float> @llvm.masked.load.v4f32.p0(ptr, i32, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, i32, <4 x i1>)
define void @copy(ptr %to, ptr %from, <4 x i1> %mask) sanitize_thread {
  %x = call <4 x float> @llvm.masked.load.v4f32.p0(ptr %from, i32 4, <4 x i1> %mask, <4 x float> zeroinitializer)
  call void @llvm.masked.store.v4f32.p0(<4 x float> %x, ptr %to, i32 4, <4 x i1> %mask)
  ret void
}
LLVM
}

"$opt" --version | grep version >&2
seen="told of 2 accesses: $(told 1) of 1 float, $(told 4) of 4, $(told 8) of 8, $(told 16) of 16, $(told_of_masked) of 4 under a mask"
echo "$seen"
expected='told of 2 accesses: 2 of 1 float, 2 of 4, 0 of 8, 0 of 16, 0 of 4 under a mask'
if [[ $seen != "$expected" ]]; then
    echo "changed: expected '$expected'" >&2
    exit 1
fi
