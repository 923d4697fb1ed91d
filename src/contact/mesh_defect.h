#pragma once
#include "tendril/contact/mesh.h"

namespace tendril {

/// As findMeshDefect(), for a surface that may be open.
std::string findSurfaceDefect(const TriangleMesh& mesh);

}
