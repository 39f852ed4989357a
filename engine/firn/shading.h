// Noise, cameras, rays, rotations and colours; not part of firn/firn.h.
#pragma once
#include "compiler/shading.h"
