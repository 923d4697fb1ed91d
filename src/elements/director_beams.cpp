#include "director_loads.h"
#include "frame_strains.h"
#include "tendril/elements/beams.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <array>
#include <cmath>
#include <memory>
#include <numbers>

namespace tendril {

namespace {

DirectorFrame frameOfNode(const Model& model, int block) {
  DirectorFrame frame;
  frame.count = 1;
  frame.blocks[0] = block, frame.q[0] = model.blocks()[block].q, frame.weights[0] = 1;
  return frame;
}

/// [m I, -m S(c); m S(c), J] is the inertia of a distribution of mass; a general section may have one that is none.
bool isDistribution(const Matrix6& M) {
  const double m = M(0, 0), size = M.cwiseAbs().maxCoeff();
  const Matrix3 moment = M.bottomLeftCorner<3, 3>();
  constexpr double roundoff = 1e-9;
  return (M.topLeftCorner<3, 3>() - m * Matrix3::Identity()).cwiseAbs().maxCoeff() <= roundoff * size &&
         (moment + moment.transpose()).cwiseAbs().maxCoeff() <= roundoff * size;
}

}

/// Two-node elements that interpolate directors. With S the second moments of a slice, the consistent mass is L [S/3 S/6; S/6 S/3].
void Beams::embed(DirectorSystem& system) const {
  auto elastics = std::make_unique<ElasticFrames>();
  auto dampers = std::make_unique<ViscousFrames<FrameStrains>>();
  for (const Element& e : elements_) {
    const SectionProperties& section = sections_[e.section].properties;
    if (!isDistribution(section.mass)) {
      throw InputError(names_[e.name] +
                       ": the mass matrix of its section is not that of a distribution of mass, [m I, -m S(c); m S(c), J], " +
                       "so it has no form in director coordinates; run the scene in pose coordinates");
    }
    if (e.d0.tail<3>().norm() >= std::numbers::pi / 2) {
      throw InputError(names_[e.name] + ": the reference shape turns by 90 degrees or more within one element, which directors cannot tell "
                                        "from less; use more elements");
    }
    const Matrix4 S = e.length * pseudoInertia(section.mass);
    system.addMass(e.a, e.a, S / 3);
    system.addMass(e.a, e.b, S / 6);
    system.addMass(e.b, e.b, S / 3);

    const std::array frames{frameOfNode(system.model(), e.a), frameOfNode(system.model(), e.b)};
    const Vector6 unstrained = frameStrains(se3::exp(e.d0));
    elastics->add(frames, unstrained, elastic(e) / e.length);
    if (section.dampingTime > 0) dampers->add(frames, (section.dampingTime / e.length) * elastic(e));
    for (int i = 0; i < e.suppressed; ++i) {
      const int strain = e.firstSuppressed + i;
      DirectorRow row;
      row.frames = frames, row.products = FrameStrains::products(strain), row.constant = -unstrained[strain];
      system.addRow(e.row + i, std::move(row));
    }
  }
  if (dampers->size() > 0) system.add(std::move(dampers));
  system.add(std::move(elastics));
}

void DistributedLoads::embed(DirectorSystem& system) const {
  auto loads = std::make_unique<DirectorLoads>();
  for (const Segment& s : segments_) {
    const Load& load = loads_[s.load];
    for (const double xi : {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)}) {
      DirectorFrame frame;
      frame.count = 2;
      frame.blocks = {s.a, s.b}, frame.q = {s.qa, s.qb}, frame.weights = {1 - xi, xi};
      loads->add(frame, load.follower ? LoadDirection::Follower : LoadDirection::Dead, 0.5 * s.length * load.perLength, load.factor);
    }
  }
  system.add(std::move(loads));
}

}
