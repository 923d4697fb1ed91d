// A body that a mesh bounds.
#include "imports/readers.h"
#include "imports/yaml_text.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <cmath>

namespace tendril::imports {

std::string sceneOfMesh(const ImportOptions& options, MeshStore& meshes, Remarks& remarks) {
  const StoredMesh& stored = meshes.add(options.file, Vector3::Constant(options.unit), 0);
  if (!stored.defect.empty())
    throw InputError({options.file.string(), 0, 0}, "", "the mesh bounds no solid, so it has no mass: " + stored.defect,
                     "mend it in the program that made it");
  const double density = options.density.value_or(1000);
  if (!options.density) remarks.lose(0, "the density is not in the file; 1000 kg/m^3 stands for it: give --density");
  const SolidMoments& m = stored.moments;
  remarks.say(0, fmt::format("volume {} m^3, centre of mass {} m", yaml::number(m.volume), yaml::vector(m.centroid, std::cbrt(m.volume))));
  remarks.say(0, fmt::format("with this density mass {} kg, inertia about the centre of mass {} kg m^2", yaml::number(density * m.volume),
                             yaml::inertia(density * m.inertia)));
  const std::string stem = options.file.stem().string();
  const std::string name = Names(remarks, {"ground", "all"}).claim(stem, 0, "body");
  const std::string unit = stored.unit == 1 ? "" : ", unit: " + yaml::number(stored.unit);
  return yaml::head(options.file.filename().string(), stem, remarks) +
         fmt::format(R"(
parameters:
  density: {}  # [kg/m^3]
  h: {}  # time step [s]
  duration: {}  # [s]

bodies:
  - name: {}
    shapes:
      - {{kind: mesh, file: {}{}, density: density}}

gravity: {{acceleration: [0, 0, -9.81]}}

analysis: {{type: dynamic, duration: duration, step: h}}

outputs:
  - {{name: position, measure: position, on: {}}}
  - {{name: energy, measure: energy}}
)",
                     yaml::number(density), yaml::number(options.step.value_or(1e-3)), yaml::number(options.duration), name,
                     yaml::inQuotes(stored.file), unit, name);
}

}
