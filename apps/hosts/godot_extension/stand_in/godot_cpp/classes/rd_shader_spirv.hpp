// Stand-in of the header of godot-cpp of this name.
#pragma once
#include <godot_cpp/stand_in.hpp>
