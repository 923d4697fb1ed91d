// Meshes and centrelines as scenes: mass and inertia against closed forms, meshes that bound nothing, numbers that look like slips.
#include "imports/support.h"
#include "tendril/contact/mesh.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <numbers>

using namespace tendril;
using namespace tendril::testing;

namespace {

using std::numbers::pi;

const char* const boxFaces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

/// Corners low + (i, j, k) size; faces outwards.
std::string boxObj(const Vector3& low, const Vector3& size, const std::string& faces = boxFaces) {
  std::string text;
  for (int k = 0; k < 8; ++k) {
    const Vector3 v = low + size.cwiseProduct(Vector3(k & 1, (k >> 1) & 1, (k >> 2) & 1));
    text += "v " + std::to_string(v[0]) + " " + std::to_string(v[1]) + " " + std::to_string(v[2]) + "\n";
  }
  return text + faces;
}

TriangleMesh prism(int n, double r, double height) {
  TriangleMesh mesh;
  for (const double z : {-height / 2, height / 2}) {
    for (int i = 0; i < n; ++i) mesh.vertices.emplace_back(r * std::cos(2 * pi * i / n), r * std::sin(2 * pi * i / n), z);
  }
  for (int i = 0; i < n; ++i) {
    const int next = (i + 1) % n;
    mesh.triangles.push_back({i, next, n + next});
    mesh.triangles.push_back({i, n + next, n + i});
    if (i > 0 && next > 0) mesh.triangles.push_back({0, next, i}), mesh.triangles.push_back({n, n + i, n + next});
  }
  return mesh;
}

TriangleMesh ball(int n, double r) {
  TriangleMesh mesh;
  const int around = 2 * n;
  for (int i = 1; i < n; ++i) {
    for (int k = 0; k < around; ++k) {
      const double a = pi * i / n, b = pi * k / n;
      mesh.vertices.emplace_back(r * std::sin(a) * std::cos(b), r * std::sin(a) * std::sin(b), r * std::cos(a));
    }
  }
  const int top = int(mesh.vertices.size()), bottom = top + 1;
  mesh.vertices.emplace_back(0, 0, r), mesh.vertices.emplace_back(0, 0, -r);
  const auto at = [&](int i, int k) { return (i - 1) * around + k % around; };
  for (int k = 0; k < around; ++k) {
    mesh.triangles.push_back({top, at(1, k), at(1, k + 1)});
    mesh.triangles.push_back({bottom, at(n - 1, k + 1), at(n - 1, k)});
    for (int i = 1; i + 1 < n; ++i) {
      mesh.triangles.push_back({at(i, k), at(i + 1, k), at(i + 1, k + 1)});
      mesh.triangles.push_back({at(i, k), at(i + 1, k + 1), at(i, k + 1)});
    }
  }
  return mesh;
}

std::string textStl(const TriangleMesh& mesh) {
  std::ostringstream out;
  out.precision(17);
  out << "solid s\n";
  for (const auto& t : mesh.triangles) {
    out << "facet normal 0 0 0\nouter loop\n";
    for (const int v : t) out << "vertex " << mesh.vertices[std::size_t(v)].transpose() << "\n";
    out << "endloop\nendfacet\n";
  }
  out << "endsolid s\n";
  return out.str();
}

std::string binaryStl(const TriangleMesh& mesh) {
  std::string out(80, ' ');
  const auto put = [&](const auto& value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
  };
  put(std::uint32_t(mesh.triangles.size()));
  for (const auto& t : mesh.triangles) {
    for (int i = 0; i < 3; ++i) put(0.f);
    for (const int v : t) {
      for (int i = 0; i < 3; ++i) put(float(mesh.vertices[std::size_t(v)][i]));
    }
    put(std::uint16_t(0));
  }
  return out;
}

MassProperties massIn(const Scene& scene) { return scene.mechanism().bodies.at(0).mass; }

}

using MeshImport = ImportTest;
using CentrelineImport = ImportTest;

TEST_F(MeshImport, ABoxHasItsMassCentreAndInertia) {
  const MassProperties p = massIn(sceneOf(read("crate.obj", boxObj({1, 2, 3}, {2, 3, 4}), {.density = 500})));
  EXPECT_NEAR(p.mass, 12000, 1e-8);
  EXPECT_LT((p.centre - Vector3(2, 3.5, 5)).norm(), 1e-13);
  const Vector3 expected = 1000. * Vector3(9 + 16, 4 + 16, 4 + 9);
  EXPECT_LT((p.inertia - Matrix3(expected.asDiagonal())).norm(), 1e-11 * expected.norm());
}

TEST_F(MeshImport, APrismHasTheMomentsOfAPolygonWhateverTheFormOfTheFile) {
  const int n = 12;
  const double r = 0.5, height = 2, density = 100;
  const double area = n * r * r * std::sin(2 * pi / n) / 2, mass = density * area * height;
  const double about = mass * r * r / 6 * (2 + std::cos(2 * pi / n)), across = about / 2 + mass * height * height / 12;
  for (const bool isBinary : {false, true}) {
    const TriangleMesh mesh = prism(n, r, height);
    const MassProperties p = massIn(sceneOf(read("prism.stl", isBinary ? binaryStl(mesh) : textStl(mesh), {.density = density})));
    const double tolerance = isBinary ? 1e-6 : 1e-13; // a binary file has seven digits
    EXPECT_NEAR(p.mass, mass, tolerance * mass);
    EXPECT_NEAR(p.inertia(2, 2), about, tolerance * about);
    EXPECT_NEAR(p.inertia(0, 0), across, tolerance * across);
    EXPECT_NEAR(p.inertia(1, 1), across, tolerance * across);
  }
}

TEST_F(MeshImport, ABallConvergesToTheSphereWithTheSquareOfTheFacets) {
  const double mass = 4 * pi / 3, inertia = 0.4 * mass;
  double before = 0;
  for (const int n : {8, 16, 32}) {
    const MassProperties p = massIn(sceneOf(read("ball.stl", textStl(ball(n, 1)), {.density = 1})));
    const double error = inertia - p.inertia(0, 0);
    EXPECT_GT(error, 0);
    if (before > 0) {
      EXPECT_NEAR(before / error, 4, 0.25);
    }
    before = error;
  }
  EXPECT_LT(before, 0.02 * inertia);
}

TEST_F(MeshImport, AnOpenMeshIsRefusedWithTheNumberOfItsOpenEdges) {
  expectRefused("open.obj", boxObj({0, 0, 0}, {1, 1, 1}, "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\n"),
                {"4 open edges", "no mass"});
}

TEST_F(MeshImport, AMeshThatIsInsideOutIsTurnedRoundAndThatIsSaid) {
  TriangleMesh inverted = prism(6, 1, 1);
  for (auto& t : inverted.triangles) std::swap(t[0], t[1]);
  const Import import = read("inverted.stl", textStl(inverted), {.density = 1});
  EXPECT_TRUE(says(import.remarks, 0, "inside out")) << all(import.remarks);
  EXPECT_TRUE(import.losses.empty()) << all(import.losses);
  EXPECT_NEAR(massIn(sceneOf(import)).mass, 3 * std::sin(pi / 3), 1e-14);
}

TEST_F(MeshImport, ASizeThatLooksLikeASlipIsTold) {
  const std::string large = boxObj({0, 0, 0}, {1000, 20, 30});
  EXPECT_TRUE(says(read("part.obj", large).remarks, 0, "1000 m long"));
  const Import scaled = read("part.obj", large, {.unit = 1e-3, .density = 7800});
  EXPECT_FALSE(says(scaled.remarks, 0, "m long")) << all(scaled.remarks);
  EXPECT_NEAR(massIn(sceneOf(scaled)).mass, 7800 * 1 * 0.02 * 0.03, 1e-12);
}

TEST_F(MeshImport, WhatHasToBeAssumedIsNamed) {
  const Import import = read("1 part.obj", boxObj({0, 0, 0}, {1, 1, 1}));
  EXPECT_TRUE(says(import.losses, 0, "density")) << all(import.losses);
  EXPECT_TRUE(says(import.remarks, 0, "named body_1_part")) << all(import.remarks);
  EXPECT_EQ(sceneOf(import).mechanism().bodies.at(0).name, "body_1_part");
}

TEST_F(MeshImport, BadFilesAndOptionsAreRefused) {
  expectRefused("a.obj", "v 0 0 nan\nf 1 1 1\n", {"a.obj", "nan"});
  expectRefused("a.stl", "", {"a.stl", "too short"});
  expectRefused("a.obj", boxObj({0, 0, 0}, {1, 1, 0}), {"a.obj"});
  expectRefused("a.dae", "", {"not read", ".stl"});
  expectRefused("a.obj", boxObj({0, 0, 0}, {1, 1, 1}), {"--radius", "centrelines"}, {.radius = 1});
  expectRefused("a.obj", boxObj({0, 0, 0}, {1, 1, 1}), {"--density", "-1"}, {.density = -1});
  expectRefused("a.obj", boxObj({0, 0, 0}, {1, 1, 1}), {"--density", "nan"}, {.density = std::nan("")});
  expectRefused("a.obj", boxObj({0, 0, 0}, {1, 1, 1}), {"--duration", "inf"}, {.duration = INFINITY});
}

TEST_F(CentrelineImport, PointsBecomeNodesOfABeamThatRuns) {
  const Import import = read("hose.csv", "x,y,z\n0,0,0\n300,400,0\n600,800,0\n",
                             {.duration = 0.01, .unit = 1e-3, .density = 1200, .radius = 0.01, .young = 1e7, .poisson = 0.4});
  EXPECT_TRUE(import.losses.empty()) << all(import.losses);
  const Results results = runText(import.scene, {"gravity.acceleration=[0,0,0]"});
  EXPECT_NEAR(results.at("length")[0], 1, 1e-12);
  expectNear(results.at("tip"), {0.6, 0.8, 0}, 1e-12);
}

TEST_F(CentrelineImport, SectionAndMaterialThatNobodyGaveAreNamed) {
  const Import import = read("hose.csv", "0 0 0\n1 0 0\n1 0 0\n2 0.1 0\n", {.isSmooth = true});
  for (const char* name : {"radius", "E ", "nu", "density"}) EXPECT_TRUE(says(import.losses, 0, name)) << name;
  EXPECT_TRUE(says(import.remarks, 0, "1 points that repeat")) << all(import.remarks);
  EXPECT_EQ(sceneOf(import).mechanism().beams.at(0).elements(), 10);
}

// An arc over a leg of length 1 that turns by pi/4 measures (pi/8) / sin(pi/8).
TEST_F(CentrelineImport, CornersThatElementsRoundAreTold) {
  const Import import =
      read("l.csv", "0 0 0\n1 0 0\n1 1 0\n", {.duration = 0.01, .density = 1000, .radius = 0.01, .young = 1e7, .poisson = 0.4});
  EXPECT_TRUE(says(import.remarks, 0, "2.05234 m together, 2.6 % more")) << all(import.remarks);
  const Results results = runText(import.scene, {"gravity.acceleration=[0,0,0]"});
  EXPECT_NEAR(results.at("length")[0], std::numbers::pi / 4 / std::sin(std::numbers::pi / 8), 1e-9);
  EXPECT_FALSE(says(read("l.csv", "0 0 0\n1 0 0\n1 1 0\n", {.isSmooth = true}).remarks, 0, "corners"));
}

TEST_F(CentrelineImport, BadPointsAreRefusedWithTheirLine) {
  expectRefused("a.csv", "0,0,0\n1,0,x\n", {"a.csv:2", "'x'"});
  expectRefused("a.csv", "0,0,0\n1,0\n", {"a.csv:2", "2 columns"});
  expectRefused("a.csv", "0,0,0\n0,0,0\n", {"at least two different points"});
  expectRefused("a.csv", "", {"at least two different points"});
  expectRefused("a.csv", "0,0,0\n1,0,0\n0,0,0\n", {"a.csv", "must not turn back", "--spline"});
}
