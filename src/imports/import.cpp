#include "tendril/imports/import.h"

#include "imports/readers.h"
#include "imports/yaml_text.h"
#include "tendril/documents/atomic_file.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace tendril {

namespace {

namespace fs = std::filesystem;
using namespace imports;

enum Format { Urdf = 1, Mjcf = 2, Mesh = 4, Centreline = 8 };

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return text;
}

void checkOption(const char* option, const std::optional<double>& value, double least, double most, bool isFor, const char* whom) {
  if (!value) return;
  if (!isFor) throw InputError(fmt::format("{} says nothing to this file: it is for {}; leave it out", option, whom));
  if (!(*value > least && *value <= most))
    throw InputError(fmt::format("{} is {}; give a number above {} and up to {}", option, *value, least, most));
}

void checkOptions(const ImportOptions& o, Format format) {
  constexpr double largest = 1e30, smallest = 1e-30;
  checkOption("--duration", o.duration, smallest, largest, true, "");
  checkOption("--step", o.step, smallest, largest, true, "");
  checkOption("--unit", o.unit, smallest, largest, true, "");
  checkOption("--unit", o.unit == 1 ? std::nullopt : std::optional(o.unit), smallest, largest, (format & (Mesh | Centreline)) != 0,
              "meshes and centrelines");
  checkOption("--density", o.density, smallest, largest, (format & (Mesh | Centreline)) != 0, "meshes and centrelines");
  checkOption("--radius", o.radius, smallest, largest, format == Centreline, "centrelines");
  checkOption("--young", o.young, smallest, largest, format == Centreline, "centrelines");
  checkOption("--poisson", o.poisson, -1, 0.5, format == Centreline, "centrelines");
  checkOption("--friction", o.friction, -smallest, largest, format == Urdf, "URDF");
  if (o.isSmooth && format != Centreline) throw InputError("--spline says nothing to this file: it is for centrelines; leave it out");
  if (o.base != ImportedBase::Automatic && format != Urdf)
    throw InputError("--base says nothing to this file: it is for URDF; leave it out");
}

std::string sceneOfXml(const ImportOptions& options, MeshStore& meshes, Remarks& remarks) {
  const std::unique_ptr<const XmlElement> root = XmlElement::fromFile(options.file);
  const bool isUrdf = root->tag() == "robot";
  if (!isUrdf && root->tag() != "mujoco") root->refuse("its root is neither <robot> (URDF) nor <mujoco> (MJCF)", "give such a file");
  checkOptions(options, isUrdf ? Urdf : Mjcf);
  root->read();
  const SolidTree tree = (isUrdf ? readUrdf : readMjcf)(*root, options, meshes, remarks);
  root->listUnread(remarks);
  return sceneOf(tree, options.file, remarks);
}

std::string sceneOf(const ImportOptions& options, MeshStore& meshes, Remarks& remarks) {
  const std::string extension = lower(options.file.extension().string());
  if (extension == ".urdf" || extension == ".xml" || extension == ".mjcf") return sceneOfXml(options, meshes, remarks);
  if (extension == ".stl" || extension == ".obj") {
    checkOptions(options, Mesh);
    return sceneOfMesh(options, meshes, remarks);
  }
  if (extension == ".csv" || extension == ".txt") {
    checkOptions(options, Centreline);
    return sceneOfCentreline(options, remarks);
  }
  throw InputError({options.file.string(), 0, 0}, "", "a file of this kind is not read",
                   "give .urdf, .xml or .mjcf (mechanisms), .stl or .obj (meshes), or .csv (centrelines)");
}

bool isSameFile(const fs::path& a, const fs::path& b) {
  std::error_code status;
  return fs::equivalent(a, b, status) && !status;
}

}

Import importFile(const ImportOptions& options) {
  std::error_code status;
  if (!fs::is_regular_file(options.file, status))
    throw InputError({options.file.string(), 0, 0}, "", "there is no such file", "check its path");
  Remarks remarks;
  MeshStore meshes(options.scene, remarks);
  Import result;
  result.scene = sceneOf(options, meshes, remarks);
  result.losses = std::move(remarks.losses);
  result.remarks = std::move(remarks.remarks);
  result.meshes = meshes.copies();
  return result;
}

void writeImport(const Import& import, const fs::path& scene, bool replaces) {
  if (!replaces && fs::exists(scene))
    throw InputError({scene.string(), 0, 0}, "", "there is a file of this name already",
                     "choose another name by -o, or --force to replace it");
  for (const ImportedMesh& mesh : import.meshes) {
    const fs::path target = scene.parent_path() / mesh.target;
    fs::create_directories(target.parent_path());
    if (mesh.source.empty())
      replaceFile(target, mesh.text);
    else if (!isSameFile(mesh.source, target))
      fs::copy_file(mesh.source, target, fs::copy_options::overwrite_existing);
  }
  replaceFile(scene, import.scene);
}

}
