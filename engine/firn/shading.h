// Noise, cameras, rays, rotations and colours, beside firn/firn.h.
#pragma once
#include "compiler/shading.h"
