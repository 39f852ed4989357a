// Everything that reads tensors from files and writes them.
#pragma once
#include "compiler/files/csv.h"
#include "compiler/files/cube.h"
#include "compiler/files/mesh.h"
#include "compiler/files/ply.h"
#include "compiler/files/tensor_files.h"
#include "compiler/files/vtk.h"
