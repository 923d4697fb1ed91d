#pragma once
#include "imports/remarks.h"
#include "tendril/contact/mesh.h"
#include "tendril/lie/types.h"

#include <filesystem>
#include <map>
#include <memory>
#include <tuple>

namespace tendril::imports {

/// A mesh as the scene will have it.
struct StoredMesh {
  std::string file;                         ///< relative to the scene
  double unit = 1;                          ///< metres that the number 1 in it stands for
  std::shared_ptr<const TriangleMesh> mesh; ///< in metres, its triangles turned outwards
  std::string defect;                       ///< why it bounds no solid; empty if it does
  SolidMoments moments;                     ///< of the solid, or of the convex hull of what bounds none
};

/// The meshes of a scene to be written, each copied once to a folder beside it. Those that are inside out, mirrored or scaled unevenly are
/// written anew.
class MeshStore {
 public:
  MeshStore(const std::filesystem::path& scene, Remarks& remarks);

  /// `line` is where the file that is imported refers to it. Throws InputError if it cannot be read, or lies in a plane.
  const StoredMesh& add(const std::filesystem::path& file, const Vector3& scale, int line);
  const std::vector<ImportedMesh>& copies() const { return copies_; }

 private:
  std::string claim(const std::filesystem::path& file, const std::string& extension);
  void noteSize(const TriangleMesh& mesh, const std::string& file, int line);

  std::string folder_;
  Remarks& remarks_;
  Remarks unsaid_; ///< names of copies may change without a word
  Names names_{unsaid_};
  std::map<std::tuple<std::string, double, double, double>, StoredMesh> meshes_;
  std::map<std::string, std::string> copied_;
  std::vector<ImportedMesh> copies_;
};

}
