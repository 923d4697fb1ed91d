#include "io/export_source.h"
#include "io/poly_data.h"
#include "tendril/elements/beam_elements.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/se3.h"
#include "tendril/shells/sheet_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace tendril {

namespace {

namespace fs = std::filesystem;
using Outline = std::vector<Eigen::Vector2d>;

void setVector(PolyData& data, bool onPoint, const char* field, const Vector3& value) {
  const std::span<const double> span(value.data(), 3);
  if (onPoint)
    data.setPoint(field, span);
  else
    data.setCell(field, span);
}

void setNumber(PolyData& data, bool onPoint, const char* field, double value) {
  if (onPoint)
    data.setPoint(field, std::span(&value, 1));
  else
    data.setCell(field, std::span(&value, 1));
}

// ---- beams -----------------------------------------------------------------------------------------------------------------------------

Outline circle(double radius, int sides) {
  Outline outline;
  for (int i = 0; i < sides; ++i) {
    const double angle = 2 * std::numbers::pi * i / sides;
    outline.push_back(radius * Eigen::Vector2d(std::cos(angle), std::sin(angle)));
  }
  return outline;
}

/// Closed loops about the centreline, counter-clockwise seen from beyond the section: the outer one and, of a tube, the inner one.
std::vector<Outline> outlinesOf(const BeamPart& beam, int sides) {
  const Section& section = beam.section.outline;
  const double y = section.width / 2, z = section.height / 2;
  switch (section.shape) {
  case Section::Shape::Rectangle:
    return {{{-y, -z}, {y, -z}, {y, z}, {-y, z}}};
  case Section::Shape::Circle:
    return {circle(y, sides)};
  case Section::Shape::Tube:
    return {circle(y, sides), circle(section.innerRadius, sides)};
  default:
    return {circle(y > 0 ? y : beam.length() / 100, sides)};
  }
}

/// What is constant in an element, for the colours of its cells.
struct ElementValues {
  double beam = 0, arclength = 0;
  Vector3 force, moment, strain, curvature;

  void setOn(PolyData& data) const {
    setNumber(data, false, "beam", beam);
    setNumber(data, false, "arclength", arclength);
    setVector(data, false, "force", force);
    setVector(data, false, "moment", moment);
    setVector(data, false, "strain", strain);
    setVector(data, false, "curvature", curvature);
  }
};

/// The frames of a beam at a state, `subdivisions` an element and one at the end, and the values of its elements.
struct BeamShape {
  std::vector<Pose> frames;
  std::vector<double> arclengths;
  std::vector<ElementValues> elements;

  BeamShape(const Mechanism& mechanism, std::size_t number, const State& state, int subdivisions) {
    const Model& model = *mechanism.model;
    const BeamPart& part = mechanism.beams[number];
    const BeamElements elementsOf(model, part);
    const auto node = [&](int i) { return loadPose(state.q.data() + model.blocks()[std::size_t(part.nodes[std::size_t(i)])].q); };
    for (int e = 0; e < part.elements(); ++e) {
      const Pose start = node(e);
      const Vector6 d = elementsOf.relativeVector(state, e);
      const double from = part.arclength[std::size_t(e)], to = part.arclength[std::size_t(e) + 1];
      for (int k = 0; k < subdivisions; ++k) {
        const double xi = double(k) / subdivisions;
        frames.push_back(start * se3::exp(xi * d));
        arclengths.push_back(from + xi * (to - from));
      }
      const Vector6 force = elementsOf.sectionForce(state, e), strain = elementsOf.strain(state, e);
      elements.push_back({double(number), (from + to) / 2, force.head<3>(), force.tail<3>(), strain.head<3>(), strain.tail<3>()});
    }
    frames.push_back(node(part.elements()));
    arclengths.push_back(part.length());
  }
};

/// One loop swept along the frames; returns the number of its first point. Inner loops face inwards.
std::int64_t sweep(PolyData& surface, const BeamShape& shape, const Outline& outline, int subdivisions, bool facesInwards) {
  const std::int64_t first = surface.points(), sides = std::int64_t(outline.size());
  for (std::size_t k = 0; k < shape.frames.size(); ++k) {
    for (const Eigen::Vector2d& corner : outline) {
      surface.addPoint(shape.frames[k] * Vector3(0, corner[0], corner[1]));
      setNumber(surface, true, "arclength", shape.arclengths[k]);
    }
  }
  for (std::size_t k = 0; k + 1 < shape.frames.size(); ++k) {
    for (std::int64_t i = 0; i < sides; ++i) {
      const std::int64_t ring = first + std::int64_t(k) * sides, a = ring + i, b = ring + (i + 1) % sides;
      if (facesInwards)
        surface.addCell({a, a + sides, b + sides, b});
      else
        surface.addCell({a, b, b + sides, a + sides});
      shape.elements[k / std::size_t(subdivisions)].setOn(surface);
    }
  }
  return first;
}

/// Closes the ends: a polygon each, or the ring between the loops of a tube.
void addEnds(PolyData& surface, const BeamShape& shape, const std::vector<std::int64_t>& loops, std::int64_t sides) {
  const std::int64_t last = std::int64_t(shape.frames.size() - 1) * sides;
  for (const bool isEnd : {false, true}) {
    const std::int64_t ring = loops[0] + (isEnd ? last : 0);
    const ElementValues& values = isEnd ? shape.elements.back() : shape.elements.front();
    if (loops.size() == 1) {
      std::vector<std::int64_t> cap;
      for (std::int64_t i = 0; i < sides; ++i) cap.push_back(ring + (isEnd ? i : sides - 1 - i));
      surface.addCell(cap);
      values.setOn(surface);
      continue;
    }
    const std::int64_t inner = loops[1] + (isEnd ? last : 0);
    for (std::int64_t i = 0; i < sides; ++i) {
      const std::int64_t next = (i + 1) % sides;
      if (isEnd)
        surface.addCell({ring + i, ring + next, inner + next, inner + i});
      else
        surface.addCell({ring + i, inner + i, inner + next, ring + next});
      values.setOn(surface);
    }
  }
}

PolyData beamSurfaces(const Mechanism& mechanism, const State& state, const ExportOptions& options) {
  PolyData surface(PolyData::Cells::Polygons);
  for (std::size_t b = 0; b < mechanism.beams.size(); ++b) {
    const BeamShape shape(mechanism, b, state, options.subdivisions);
    std::vector<std::int64_t> loops;
    const std::vector<Outline> outlines = outlinesOf(mechanism.beams[b], options.sides);
    for (const Outline& outline : outlines) loops.push_back(sweep(surface, shape, outline, options.subdivisions, !loops.empty()));
    addEnds(surface, shape, loops, std::int64_t(outlines[0].size()));
  }
  return surface;
}

PolyData centrelines(const Mechanism& mechanism, const State& state, const ExportOptions& options) {
  PolyData lines(PolyData::Cells::Lines);
  for (std::size_t b = 0; b < mechanism.beams.size(); ++b) {
    const BeamShape shape(mechanism, b, state, options.subdivisions);
    const std::int64_t first = lines.points();
    for (std::size_t k = 0; k < shape.frames.size(); ++k) {
      lines.addPoint(shape.frames[k].x);
      constexpr std::array directors{"d1", "d2", "d3"};
      for (int i = 0; i < 3; ++i) setVector(lines, true, directors[std::size_t(i)], shape.frames[k].R.col(i));
      setNumber(lines, true, "arclength", shape.arclengths[k]);
    }
    for (std::size_t e = 0; e < shape.elements.size(); ++e) {
      std::vector<std::int64_t> cell;
      for (int k = 0; k <= options.subdivisions; ++k) cell.push_back(first + std::int64_t(e) * options.subdivisions + k);
      lines.addCell(cell);
      shape.elements[e].setOn(lines);
    }
  }
  return lines;
}

// ---- shells ----------------------------------------------------------------------------------------------------------------------------

/// The middle surface of each shell, with its normal and the number of the shell.
PolyData shellSurfaces(const Scene& scene, const State& state) {
  PolyData surface(PolyData::Cells::Polygons);
  for (std::size_t i = 0; i < scene.shells().size(); ++i) {
    const ShellPart& shell = scene.shells()[i];
    const std::int64_t first = surface.points(), across = shell.columns + 1;
    for (int row = 0; row <= shell.rows; ++row) {
      for (int column = 0; column <= shell.columns; ++column) {
        const Pose frame = shell.vertex(*scene.mechanism().model, state, row, column);
        surface.addPoint(frame.x);
        setVector(surface, true, "normal", frame.R.col(2));
      }
    }
    for (int row = 0; row < shell.rows; ++row) {
      for (int column = 0; column < shell.columns; ++column) {
        const std::int64_t corner = first + row * across + column;
        surface.addCell({corner, corner + 1, corner + across + 1, corner + across});
        setNumber(surface, false, "shell", double(i));
      }
    }
  }
  return surface;
}

// ---- bodies ----------------------------------------------------------------------------------------------------------------------------

/// A profile of points (radius, height) turned about the third axis of a frame; points on the axis become one. `isClosed` joins the last
/// point to the first.
void addRevolution(PolyData& surface, const Pose& frame, const Outline& profile, int sides, bool isClosed) {
  std::vector<std::int64_t> rings;
  const auto isOnAxis = [&](std::size_t i) { return profile[i][0] == 0; };
  for (std::size_t p = 0; p < profile.size(); ++p) {
    rings.push_back(surface.points());
    for (int i = 0; i < (isOnAxis(p) ? 1 : sides); ++i) {
      const double angle = 2 * std::numbers::pi * i / sides;
      surface.addPoint(frame * Vector3(profile[p][0] * std::cos(angle), profile[p][0] * std::sin(angle), profile[p][1]));
    }
  }
  for (std::size_t p = 0; p + (isClosed ? 0 : 1) < profile.size(); ++p) {
    const std::size_t q = (p + 1) % profile.size();
    for (std::int64_t i = 0; i < sides; ++i) {
      const std::int64_t next = (i + 1) % sides;
      if (isOnAxis(p))
        surface.addCell({rings[p], rings[q] + next, rings[q] + i});
      else if (isOnAxis(q))
        surface.addCell({rings[p] + i, rings[p] + next, rings[q]});
      else
        surface.addCell({rings[p] + i, rings[p] + next, rings[q] + next, rings[q] + i});
    }
  }
}

/// Points of a half circle about (0, height), from the angle `from` to `to` measured from the equator.
void appendArc(Outline& profile, double radius, double height, double from, double to, int count) {
  for (int i = 0; i <= count; ++i) {
    const double angle = from + (to - from) * i / count;
    const bool isPole = std::abs(std::abs(angle) - std::numbers::pi / 2) < 1e-9;
    profile.emplace_back(isPole ? 0 : radius * std::cos(angle), height + radius * std::sin(angle));
  }
}

Outline profileOf(const Shape& shape, int sides) {
  constexpr double quarter = std::numbers::pi / 2;
  const double radius = shape.size[0], half = shape.size[1] / 2;
  Outline profile;
  switch (shape.kind) {
  case Shape::Kind::Cylinder:
    return {{0, -half}, {radius, -half}, {radius, half}, {0, half}};
  case Shape::Kind::Tube:
    return {
        {radius, -shape.size[2] / 2}, {radius, shape.size[2] / 2}, {shape.size[1], shape.size[2] / 2}, {shape.size[1], -shape.size[2] / 2}};
  case Shape::Kind::Cone:
    return {{0, -half / 2}, {radius, -half / 2}, {0, 1.5 * half}};
  case Shape::Kind::Capsule:
    appendArc(profile, radius, -half, -quarter, 0, sides / 4);
    appendArc(profile, radius, half, 0, quarter, sides / 4);
    return profile;
  default: // a sphere of radius 1 for an ellipsoid
    appendArc(profile, shape.kind == Shape::Kind::Ellipsoid ? 1 : radius, 0, -quarter, quarter, sides / 2);
    return profile;
  }
}

void addBox(PolyData& surface, const Pose& frame, const Vector3& edges) {
  const std::int64_t first = surface.points();
  for (int i = 0; i < 8; ++i) {
    surface.addPoint(frame * Vector3((i & 1 ? 0.5 : -0.5) * edges[0], (i & 2 ? 0.5 : -0.5) * edges[1], (i & 4 ? 0.5 : -0.5) * edges[2]));
  }
  constexpr std::array<std::array<int, 4>, 6> faces{{{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}};
  for (const auto& f : faces) surface.addCell({first + f[0], first + f[1], first + f[2], first + f[3]});
}

/// Half the edge of the plate that stands for a half-space, relative to the size of the model.
constexpr double plate = 2;

void addPolygon(PolyData& surface, const Pose& frame, const std::vector<Vector3>& corners) {
  std::vector<std::int64_t> cell;
  for (const Vector3& corner : corners) cell.push_back(surface.addPoint(frame * corner));
  surface.addCell(cell);
}

/// A hollow disc is a ring around its hole.
void addDisc(PolyData& surface, const Pose& frame, const Shape& shape, int sides) {
  if (shape.hollow) return addRevolution(surface, frame, {{shape.size[0], 0}, {1.1 * shape.size[0], 0}}, sides, false);
  std::vector<Vector3> corners;
  for (const Eigen::Vector2d& corner : circle(shape.size[0], sides)) corners.emplace_back(corner[0], corner[1], 0);
  addPolygon(surface, frame, corners);
}

void addMesh(PolyData& surface, const Pose& frame, const TriangleMesh& mesh) {
  const std::int64_t first = surface.points();
  for (const Vector3& vertex : mesh.vertices) surface.addPoint(frame * vertex);
  for (const auto& triangle : mesh.triangles) surface.addCell({first + triangle[0], first + triangle[1], first + triangle[2]});
}

/// One shape of a part with the given pose; `extent` is the size of the model.
void addShape(PolyData& surface, const Pose& part, const Shape& shape, double extent, int sides) {
  Pose frame = part * shape.pose;
  switch (shape.kind) {
  case Shape::Kind::Box:
    return addBox(surface, frame, shape.size);
  case Shape::Kind::HalfSpace: {
    const double a = plate * extent;
    return addPolygon(surface, frame, {{-a, -a, 0}, {a, -a, 0}, {a, a, 0}, {-a, a, 0}});
  }
  case Shape::Kind::Polygon:
    return addPolygon(surface, frame, shape.mesh->vertices);
  case Shape::Kind::Disc:
    return addDisc(surface, frame, shape, sides);
  case Shape::Kind::ConvexMesh:
  case Shape::Kind::TriangleMesh:
    return addMesh(surface, frame, *shape.mesh);
  case Shape::Kind::Ellipsoid:
    frame.R = frame.R * shape.size.asDiagonal();
    [[fallthrough]];
  default:
    return addRevolution(surface, frame, profileOf(shape, sides), sides, shape.kind == Shape::Kind::Tube);
  }
}

/// The shapes of a part; its number is a field of the cells.
void addPart(PolyData& surface, const Pose& part, const std::vector<Shape>& shapes, double extent, int sides, const char* field,
             std::size_t number) {
  const std::int64_t before = surface.cells();
  for (const Shape& shape : shapes) addShape(surface, part, shape, extent, sides);
  for (std::int64_t cell = before; cell < surface.cells(); ++cell) setNumber(surface, false, field, double(number));
}

PolyData bodySurfaces(const Mechanism& mechanism, const State& state, const ExportOptions& options) {
  PolyData surface(PolyData::Cells::Polygons);
  const double extent = mechanism.model->characteristicLength();
  for (std::size_t b = 0; b < mechanism.bodies.size(); ++b) {
    const Pose body = loadPose(state.q.data() + mechanism.model->blocks()[std::size_t(mechanism.bodies[b].block)].q);
    addPart(surface, body, mechanism.bodies[b].shapes, extent, options.sides, "body", b);
  }
  return surface;
}

PolyData obstacleSurfaces(const Scene& scene, const State& state, const ExportOptions& options) {
  PolyData surface(PolyData::Cells::Polygons);
  const double extent = scene.mechanism().model->characteristicLength();
  for (std::size_t i = 0; i < scene.obstacles().size(); ++i) {
    const Obstacle& obstacle = scene.obstacles()[i];
    addPart(surface, obstacle.marker->frame(state), obstacle.shapes, extent, options.sides, "obstacle", i);
  }
  return surface;
}

// ---- points ----------------------------------------------------------------------------------------------------------------------------

void addVertex(PolyData& data, const Pose& frame) {
  data.addCell({data.addPoint(frame.x)});
  constexpr std::array directors{"d1", "d2", "d3"};
  for (int i = 0; i < 3; ++i) setVector(data, true, directors[std::size_t(i)], frame.R.col(i));
}

PolyData markerPoints(const Mechanism& mechanism, const State& state, const ExportOptions&) {
  PolyData points(PolyData::Cells::Vertices);
  for (const auto& marker : mechanism.model->markers()) {
    if (!marker->name().empty()) addVertex(points, marker->frame(state));
  }
  return points;
}

PolyData jointPoints(const Mechanism& mechanism, const State& state, const ExportOptions&) {
  PolyData points(PolyData::Cells::Vertices);
  const Joints* joints = mechanism.model->term<Joints>();
  for (int i = 0; joints && i < joints->size(); ++i) {
    addVertex(points, joints->marker(i).frame(state));
    const JointReaction reaction = joints->reaction(state, i);
    setVector(points, true, "force", reaction.force);
    setVector(points, true, "moment", reaction.moment);
  }
  return points;
}

PolyData contactPoints(const ResultReader& reader, std::size_t row) {
  PolyData points(PolyData::Cells::Vertices);
  if (!reader.hasList("contacts")) return points;
  const auto position = reader.list("contacts", "position", row);
  for (Eigen::Index i = 0; i < position.rows(); ++i) points.addCell({points.addPoint(position.row(i).transpose())});
  for (const char* field : {"normal", "impulse", "gap", "status", "parts"}) {
    const auto values = reader.list("contacts", field, row);
    for (Eigen::Index i = 0; i < values.rows(); ++i) points.setPoint(field, {values.row(i).data(), std::size_t(values.cols())});
  }
  return points;
}

// ---- collections -----------------------------------------------------------------------------------------------------------------------

/// The files of one kind over the rows.
struct Collection {
  const char* name;
  std::function<PolyData(const State&, std::size_t row)> build;
  std::string entries{};
};

fs::path writeCollection(const fs::path& folder, const Collection& collection) {
  const fs::path path = folder / fmt::format("{}.pvd", collection.name);
  ExportFile file(path);
  file.stream() << "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n"
                << collection.entries << "</Collection>\n</VTKFile>\n";
  file.close();
  return path;
}

}

std::vector<fs::path> exportVtk(const ExportSource& source, const ExportOptions& options) {
  const Scene& scene = source.scene();
  const auto of = [&](PolyData (*build)(const Mechanism&, const State&, const ExportOptions&)) {
    return [&scene, &options, build](const State& state, std::size_t) { return build(scene.mechanism(), state, options); };
  };
  std::array<Collection, 8> collections{
      {{"beams", of(beamSurfaces)},
       {"centrelines", of(centrelines)},
       {"shells", [&](const State& state, std::size_t) { return shellSurfaces(scene, state); }},
       {"bodies", of(bodySurfaces)},
       {"obstacles", [&](const State& state, std::size_t) { return obstacleSurfaces(scene, state, options); }},
       {"markers", of(markerPoints)},
       {"joints", of(jointPoints)},
       {"contacts", [&](const State&, std::size_t row) { return contactPoints(source.reader(), row); }}}};
  for (const std::size_t row : source.rows()) {
    const State state = source.state(row);
    for (Collection& collection : collections) {
      const PolyData data = collection.build(state, row);
      if (data.empty()) continue;
      const std::string name = fmt::format("{}_{:06}.vtp", collection.name, row);
      data.write(source.folder() / name);
      collection.entries += fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", source.time(row), name);
    }
  }
  std::vector<fs::path> files;
  for (const Collection& collection : collections) {
    if (!collection.entries.empty()) files.push_back(writeCollection(source.folder(), collection));
  }
  return files;
}

}
