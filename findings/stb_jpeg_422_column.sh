#!/usr/bin/env bash
# The last columns of a JPEG with 4:2:2 subsampling, by two decoders.
#
# Guess: stb_image and libjpeg-turbo give the same colours within rounding, since both say that they
# interpolate chroma with weights 3/4 and 1/4.
# Seen: they do in all columns but the one before the last: there stb_image weighs the chroma sample
# of the pixel itself by 1/4 and its neighbour's by 3/4. A column of strong blue beside a red edge
# comes out more than 50 codes off.
set -euo pipefail
packages=(libstb-dev=0.0~git20220908.8b5f1f3+ds-1 libjpeg-turbo-progs=1:2.1.5-2
          libjpeg62-turbo=1:2.1.5-2)

work=$(mktemp -d)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 777 packages
mkdir root
(cd packages && apt-get -qq download "${packages[@]}")
for package in packages/*.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu

# 16 columns, grey but for the last four: blue, blue, red, red.
{
    printf 'P6\n16 8\n255\n'
    for row in {1..8}; do
        for column in {1..12}; do printf '\200\200\200'; done
        printf '\100\100\300\100\100\300\300\100\100\300\100\100'
    done
} > picture.ppm
root/usr/bin/cjpeg -quality 100 -sample 2x1 picture.ppm > picture.jpg
root/usr/bin/djpeg -ppm picture.jpg > turbo.ppm

cat > decode.c <<'C'
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_JPEG
#include <stb/stb_image.h>
int main(void) {
    int width, height, channels;
    unsigned char *pixels = stbi_load("picture.jpg", &width, &height, &channels, 3);
    if (!pixels) return 2;
    FILE *turbo = fopen("turbo.ppm", "rb");
    int w, h, most;
    if (!turbo || fscanf(turbo, "P6 %d %d %d", &w, &h, &most) != 3 || w != width) return 2;
    fgetc(turbo);
    int worst[16] = {0};
    for (int at = 0; at < width * height * 3; ++at) {
        const int off = abs(fgetc(turbo) - pixels[at]), column = at / 3 % width;
        if (off > worst[column]) worst[column] = off;
    }
    for (int column = 0; column < width; ++column) printf("%s%d", column ? " " : "", worst[column]);
    puts("");
    return 0;
}
C
gcc -I root/usr/include decode.c -o decode -lm
seen=$(./decode)
dpkg-deb -f packages/libstb-dev*.deb Version >&2
root/usr/bin/djpeg -version 2>&1 | head -1 >&2
echo "largest difference by column: $seen"
read -ra columns <<< "$seen"
for column in "${!columns[@]}"; do
    if ((column == 14)); then
        ((columns[column] > 50)) || { echo "column 14 is right now"; exit 1; }
    else
        ((columns[column] <= 4)) || { echo "column $column differs too"; exit 1; }
    fi
done
