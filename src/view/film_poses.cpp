#include "tendril/analysis/model_contacts.h"
#include "tendril/contact/contact_model.h"
#include "tendril/control/optimal_control.h"
#include "tendril/shells/sheet_shape.h"
#include "view/film_channel.h"

#include <algorithm>
#include <map>

namespace tendril {

namespace {

/// Half the edges of a box about a shape in the shape's frame, and its middle; empty if the shape is unbounded.
Eigen::AlignedBox3d boxOf(const Shape& shape) {
  const Vector3& s = shape.size;
  const auto about = [](double x, double y, double z) { return Eigen::AlignedBox3d(Vector3(-x, -y, -z), Vector3(x, y, z)); };
  switch (shape.kind) {
  case Shape::Kind::Sphere:
    return about(s[0], s[0], s[0]);
  case Shape::Kind::Box:
    return about(s[0] / 2, s[1] / 2, s[2] / 2);
  case Shape::Kind::Cylinder:
    return about(s[0], s[0], s[1] / 2);
  case Shape::Kind::Capsule:
    return about(s[0], s[0], s[1] / 2 + s[0]);
  case Shape::Kind::Tube:
    return about(s[0], s[0], s[2] / 2);
  case Shape::Kind::Cone:
    return {Vector3(-s[0], -s[0], -s[1] / 4), Vector3(s[0], s[0], 3 * s[1] / 4)};
  case Shape::Kind::Ellipsoid:
    return about(s[0], s[1], s[2]);
  case Shape::Kind::Disc:
    return about(s[0], s[0], 0);
  case Shape::Kind::HalfSpace:
    return {};
  default: // polygon and meshes
    Eigen::AlignedBox3d box;
    for (const Vector3& vertex : shape.mesh->vertices) box.extend(vertex);
    return box;
  }
}

Pose blockPose(const Model& model, const State& state, int block) {
  return loadPose(state.q.data() + model.blocks()[std::size_t(block)].q);
}

/// A channel of poses: `poseOf(state, i)` for i < items.
template <class PoseOf> FilmChannel poseChannel(std::string name, std::size_t items, const Vector3& origin, PoseOf poseOf) {
  FilmChannel channel{std::move(name), FilmChannel::Layout::Pose, items, {}, {}};
  channel.fill = [=](const FilmFrame& frame, ChunkBuffer& buffer) {
    for (std::size_t i = 0; i < items; ++i) {
      const Pose pose = poseOf(frame.state, i);
      buffer.addPose(pose.x - origin, pose.R);
    }
  };
  channel.extend = [=](const FilmFrame& frame, Eigen::AlignedBox3d& box) {
    for (std::size_t i = 0; i < items; ++i) box.extend(Vector3(poseOf(frame.state, i).x - origin));
  };
  return channel;
}

/// The same for parts with shapes.
template <class PoseOf, class ShapesOf>
FilmChannel partChannel(std::string name, std::size_t items, const Vector3& origin, PoseOf poseOf, ShapesOf shapesOf) {
  FilmChannel channel = poseChannel(std::move(name), items, origin, poseOf);
  channel.extend = [=](const FilmFrame& frame, Eigen::AlignedBox3d& box) {
    for (std::size_t i = 0; i < items; ++i) {
      Pose pose = poseOf(frame.state, i);
      pose.x -= origin;
      extendBox(shapesOf(i), pose, box);
    }
  };
  return channel;
}

FilmChannel nodeChannel(const Mechanism& mechanism, const Vector3& origin) {
  std::vector<int> blocks;
  std::vector<double> radii;
  for (const BeamPart& beam : mechanism.beams) {
    blocks.insert(blocks.end(), beam.nodes.begin(), beam.nodes.end());
    radii.resize(blocks.size(), std::max(beam.section.outline.width, beam.section.outline.height) / 2);
  }
  const Model* model = mechanism.model.get();
  FilmChannel channel =
      poseChannel("nodes", blocks.size(), origin, [=](const State& state, std::size_t i) { return blockPose(*model, state, blocks[i]); });
  channel.extend = [=](const FilmFrame& frame, Eigen::AlignedBox3d& box) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const Vector3 x = blockPose(*model, frame.state, blocks[i]).x - origin, r = Vector3::Constant(radii[i]);
      box.extend(Eigen::AlignedBox3d(x - r, x + r));
    }
  };
  return channel;
}

/// Positions of the vertices of all shells, each row by row.
FilmChannel shellChannel(const Scene& scene, const Vector3& origin) {
  FilmChannel channel{"shells", FilmChannel::Layout::Dense, 0, {"x", "y", "z"}, {}};
  const std::vector<ShellPart>& shells = scene.shells();
  for (const ShellPart& shell : shells) channel.items += shell.vertices();
  const Model* model = scene.mechanism().model.get();
  const auto visit = [=, &shells](const State& state, const auto& see) {
    for (const ShellPart& shell : shells)
      for (int row = 0; row <= shell.rows; ++row)
        for (int column = 0; column <= shell.columns; ++column) see(Vector3(shell.vertex(*model, state, row, column).x - origin));
  };
  channel.fill = [=](const FilmFrame& frame, ChunkBuffer& buffer) { visit(frame.state, [&](const Vector3& x) { buffer.add(x); }); };
  channel.extend = [=](const FilmFrame& frame, Eigen::AlignedBox3d& box) { visit(frame.state, [&](const Vector3& x) { box.extend(x); }); };
  return channel;
}

}

void extendBox(const std::vector<Shape>& shapes, const Pose& part, Eigen::AlignedBox3d& box) {
  for (const Shape& shape : shapes) {
    const Eigen::AlignedBox3d own = boxOf(shape);
    if (own.isEmpty()) continue;
    const Pose frame = part * shape.pose;
    const Vector3 middle = frame * own.center(), half = frame.R.cwiseAbs() * (own.sizes() / 2);
    box.extend(Eigen::AlignedBox3d(middle - half, middle + half));
  }
  // A body without a bounded shape is shown as a point.
  if (shapes.empty()) box.extend(part.x);
}

std::vector<const Marker*> namedMarkers(const Model& model) {
  std::vector<const Marker*> named;
  for (const auto& marker : model.markers()) {
    if (!marker->name().empty()) named.push_back(marker.get());
  }
  return named;
}

std::vector<FilmLink> filmLinks(const Scene& scene) {
  const Model& model = *scene.mechanism().model;
  std::vector<FilmLink> links;
  const LinearSprings* springs = model.term<LinearSprings>();
  for (int i = 0; springs && i < springs->size(); ++i)
    links.push_back({springs->name(i), "spring", springs->markers(i).first(), &springs->markers(i).second()});
  const Joints* joints = model.term<Joints>();
  for (int i = 0; joints && i < joints->size(); ++i) {
    if (joints->kind(i) == JointKind::Distance) links.push_back({joints->name(i), "distance", &joints->firstMarker(i), &joints->marker(i)});
  }
  if (const OptimalControlOptions* manoeuvre = scene.manoeuvre()) {
    for (const Actuator& actuator : manoeuvre->actuators) {
      for (const ActuatorCable& cable : actuator.cables) links.push_back({actuator.name, "cable", cable.from, cable.to});
      for (const ActuatorMuscle& muscle : actuator.muscles) links.push_back({actuator.name, "muscle", muscle.from, muscle.to});
    }
  }
  // The line of a guide has no ends: as much of it as the model is large.
  const double reach = model.characteristicLength();
  for (const Guide& guide : scene.guides())
    links.push_back({guide.name, "guide", guide.frame, guide.frame, -reach * guide.tangent, reach * guide.tangent});
  return links;
}

std::vector<FilmPart> filmParts(const Scene& scene) {
  std::map<std::string, FilmPart> known;
  for (std::size_t i = 0; i < scene.mechanism().bodies.size(); ++i) known[scene.mechanism().bodies[i].name].body = int(i);
  for (std::size_t i = 0; i < scene.obstacles().size(); ++i) known[scene.obstacles()[i].name].obstacle = int(i);
  std::vector<FilmPart> parts;
  for (const ContactModel::Part& part : scene.contacts().parts()) {
    parts.push_back(known[part.name]);
    parts.back().name = part.name;
  }
  return parts;
}

void addPoseChannels(const RunResults& results, const Vector3& origin, std::vector<FilmChannel>& channels) {
  const Scene& scene = results.scene();
  const Mechanism& mechanism = scene.mechanism();
  const Model* model = mechanism.model.get();
  const std::vector<BodyPart>& bodies = mechanism.bodies;
  const std::vector<Obstacle>& obstacles = scene.obstacles();
  if (!bodies.empty()) {
    channels.push_back(partChannel(
        "bodies", bodies.size(), origin,
        [=, &bodies](const State& state, std::size_t i) { return blockPose(*model, state, bodies[i].block); },
        [&bodies](std::size_t i) -> const std::vector<Shape>& { return bodies[i].shapes; }));
  }
  if (!obstacles.empty()) {
    channels.push_back(partChannel(
        "obstacles", obstacles.size(), origin,
        [&obstacles](const State& state, std::size_t i) { return obstacles[i].marker->frame(state); },
        [&obstacles](std::size_t i) -> const std::vector<Shape>& { return obstacles[i].shapes; }));
  }
  if (!mechanism.beams.empty()) channels.push_back(nodeChannel(mechanism, origin));
  if (!scene.shells().empty()) channels.push_back(shellChannel(scene, origin));
  const std::vector<const Marker*> markers = namedMarkers(*model);
  if (!markers.empty())
    channels.push_back(
        poseChannel("markers", markers.size(), origin, [=](const State& state, std::size_t i) { return markers[i]->frame(state); }));
  const Joints* joints = model->term<Joints>();
  if (joints && joints->size() > 0) {
    channels.push_back(poseChannel("joints", std::size_t(joints->size()), origin,
                                   [=](const State& state, std::size_t i) { return joints->marker(int(i)).frame(state); }));
  }
  const std::vector<FilmLink> links = filmLinks(scene);
  if (!links.empty()) {
    channels.push_back(poseChannel("links", 2 * links.size(), origin, [=](const State& state, std::size_t i) {
      const FilmLink& link = links[i / 2];
      Pose end = (i % 2 == 0 ? link.first : link.second)->frame(state);
      end.x += end.R * (i % 2 == 0 ? link.firstOffset : link.secondOffset);
      return end;
    }));
  }
}

}
