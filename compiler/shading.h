// Functions known from shaders: noise, hashes, cameras, rays, rotations, colours, pictures.
#pragma once
#include "compiler/algorithms/camera.h"
#include "compiler/algorithms/colour.h"
#include "compiler/algorithms/grid_sample.h"
#include "compiler/algorithms/hash.h"
#include "compiler/algorithms/images.h"
#include "compiler/algorithms/noise.h"
#include "compiler/algorithms/quaternion.h"
#include "compiler/algorithms/rays.h"
