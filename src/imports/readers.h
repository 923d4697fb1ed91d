#pragma once
#include "imports/mesh_store.h"
#include "imports/remarks.h"
#include "imports/solid_tree.h"
#include "imports/xml_element.h"
#include "tendril/imports/import.h"

#include <string>

/// One function a format.
namespace tendril::imports {

SolidTree readUrdf(const XmlElement& robot, const ImportOptions& options, MeshStore& meshes, Remarks& remarks);
SolidTree readMjcf(const XmlElement& mujoco, const ImportOptions& options, MeshStore& meshes, Remarks& remarks);
/// The scene of a body that a mesh bounds.
std::string sceneOfMesh(const ImportOptions& options, MeshStore& meshes, Remarks& remarks);
/// The scene of a beam along points.
std::string sceneOfCentreline(const ImportOptions& options, Remarks& remarks);

/// Adds the shape of a mesh to a solid. What bounds no solid touches by its convex hull, as all do if `isHull`.
const StoredMesh& giveMesh(Solid& solid, const std::filesystem::path& file, const Vector3& scale, bool isHull, const XmlElement& where,
                           MeshStore& meshes, Remarks& remarks);

}
