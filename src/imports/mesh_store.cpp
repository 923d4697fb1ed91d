#include "imports/mesh_store.h"

#include "imports/yaml_text.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tendril::imports {

namespace {

TriangleMesh turned(TriangleMesh mesh) {
  for (auto& triangle : mesh.triangles) std::swap(triangle[1], triangle[2]);
  return mesh;
}

SolidMoments momentsOfHull(const TriangleMesh& mesh, const std::filesystem::path& file) {
  try {
    return solidMoments(convexHull(mesh.vertices));
  } catch (const InputError& error) {
    throw InputError({file.string(), 0, 0}, "", error.what());
  }
}

std::string objText(const TriangleMesh& mesh) {
  std::string text;
  for (const Vector3& v : mesh.vertices) text += fmt::format("v {} {} {}\n", v[0], v[1], v[2]);
  for (const auto& [a, b, c] : mesh.triangles) text += fmt::format("f {} {} {}\n", a + 1, b + 1, c + 1);
  return text;
}

}

MeshStore::MeshStore(const std::filesystem::path& scene, Remarks& remarks)
    : folder_(scene.stem().string() + "-meshes"), remarks_(remarks) {}

std::string MeshStore::claim(const std::filesystem::path& file, const std::string& extension) {
  return folder_ + "/" + names_.claim(file.stem().string(), 0, "mesh") + extension;
}

const StoredMesh& MeshStore::add(const std::filesystem::path& file, const Vector3& scale, int line) {
  const std::tuple key{file.string(), scale[0], scale[1], scale[2]};
  if (const auto found = meshes_.find(key); found != meshes_.end()) return found->second;
  TriangleMesh mesh = *readMesh(file);
  for (Vector3& v : mesh.vertices) v = v.cwiseProduct(scale);
  const bool isMirrored = scale.prod() < 0;
  if (isMirrored) mesh = turned(std::move(mesh));

  std::string defect = findMeshDefect(mesh);
  bool isInverted = false;
  if (!defect.empty()) {
    TriangleMesh other = turned(mesh);
    isInverted = findMeshDefect(other).empty();
    if (isInverted) mesh = std::move(other), defect.clear();
  }
  const std::string name = file.filename().string();
  if (isInverted) remarks_.say(line, "the mesh " + yaml::plain(name) + " is inside out; its triangles are turned round in the copy");
  noteSize(mesh, name, line);

  StoredMesh stored{.defect = defect};
  stored.moments = defect.empty() ? solidMoments(mesh) : momentsOfHull(mesh, file);
  stored.mesh = std::make_shared<const TriangleMesh>(std::move(mesh));
  const bool isEven = scale[0] == scale[1] && scale[1] == scale[2] && scale[0] > 0;
  if (isInverted || !isEven) {
    stored.file = claim(file, ".obj");
    copies_.push_back({.text = objText(*stored.mesh), .target = stored.file});
  } else {
    stored.unit = scale[0];
    const auto [known, isNew] = copied_.try_emplace(file.string());
    if (isNew) {
      known->second = claim(file, file.extension().string());
      copies_.push_back({.source = file, .target = known->second});
    }
    stored.file = known->second;
  }
  return meshes_.emplace(key, std::move(stored)).first->second;
}

void MeshStore::noteSize(const TriangleMesh& mesh, const std::string& file, int line) {
  Vector3 low = mesh.vertices[0], high = low;
  for (const Vector3& v : mesh.vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
  const double size = (high - low).maxCoeff();
  constexpr double large = 100, small = 1e-3; // between a building and a grain of sand
  if (size >= large || size < small)
    remarks_.say(line,
                 fmt::format("the mesh {} is {:.6g} m long; if its numbers are in another unit, say so (--unit mm, or `scale` in the file)",
                             yaml::plain(file), size));
}

}
