#pragma once
#include "tendril/contact/mesh.h"
#include "tendril/documents/schema.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/model/shape.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Shapes of bodies and obstacles as a scene writes them.
namespace tendril::scenes {

/// A mesh, or another file, that a scene refers to.
struct MeshFile {
  std::filesystem::path path; ///< where it was found
  std::string copyName;       ///< of its copy in the folder of a run's results
};

/// The meshes of a scene: each file is read once, however many bodies have its shape.
///
/// A file is looked for relative to the scene and, where it is not there, among the copies that a run leaves beside the scene in its
/// results: results can be exported on their own.
class MeshLibrary {
 public:
  /// Folder of the copies, beside the scene of the results.
  static constexpr const char* copies = "meshes";

  struct Entry {
    std::shared_ptr<const TriangleMesh> mesh;
    std::string defect; ///< why it bounds no solid; empty if it does
    SolidMoments moments;
    bool isConvex = false;
  };
  /// The mesh of a shape of kind `mesh`, in metres.
  const Entry& read(const Record& shape);
  /// Another file that the record refers to by `file`: found and copied likewise.
  const std::filesystem::path& find(const Record& record, const std::string& remedy);
  std::vector<MeshFile> files() const;

 private:
  std::map<std::string, MeshFile> files_; ///< by the text in the scene
  std::map<std::pair<std::string, double>, Entry> entries_;
};

Pose readPose(const Record& record);
Shape readShape(const Record& shape, MeshLibrary& meshes);
std::vector<Shape> readShapes(const Record& owner, MeshLibrary& meshes);
/// By mass and inertia, or from the shapes.
MassProperties readMass(const Record& body, MeshLibrary& meshes);

}
