// Everything that reads and writes files of other programs by their libraries.
#pragma once
#include "compiler/interchange/hdf5.h"
#include "compiler/interchange/mesh_files.h"
