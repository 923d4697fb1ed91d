#include "tendril/contact/mesh.h"

#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numbers>
#include <random>

namespace tendril {

namespace {

namespace fs = std::filesystem;

class MeshFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tendril-mesh-" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  void expectRefused(const std::string& name, const std::string& text, const std::vector<std::string>& words) const {
    try {
      readMesh(write(name, text));
      ADD_FAILURE() << name << " was accepted";
    } catch (const InputError& error) {
      for (const std::string& word : words) EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  }

  fs::path folder_;
};

const std::string cubeObj = R"(# a unit cube of quadrilaterals
o cube
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v +0 1.0e0 1
vn 0 0 1
f 4 3 2 1
f 5//1 6//1 7//1 8//1
f 1/1 2/2 6/3 5/4
f 2 3 7 6
f 3 4 8 7
f -5 -8 -4 -1
)";

std::string stlText(const TriangleMesh& mesh) {
  std::string text = "solid part\n";
  for (const auto& t : mesh.triangles) {
    text += "  facet normal 0 0 0\n    outer loop\n";
    for (const int v : t) {
      const Vector3& x = mesh.vertices[std::size_t(v)];
      text += "      vertex " + std::to_string(x[0]) + " " + std::to_string(x[1]) + " " + std::to_string(x[2]) + "\n";
    }
    text += "    endloop\n  endfacet\n";
  }
  return text + "endsolid part\n";
}

std::string stlBinary(const TriangleMesh& mesh, const char* header) {
  std::string bytes(84, '\0');
  std::memcpy(bytes.data(), header, std::strlen(header));
  const auto count = std::uint32_t(mesh.triangles.size());
  std::memcpy(bytes.data() + 80, &count, 4);
  for (const auto& t : mesh.triangles) {
    std::string facet(50, '\0');
    for (std::size_t k = 0; k < 3; ++k) {
      const Eigen::Vector3f x = mesh.vertices[std::size_t(t[k])].cast<float>();
      std::memcpy(facet.data() + 12 + 12 * k, x.data(), 12);
    }
    bytes += facet;
  }
  return bytes;
}

TEST_F(MeshFile, ReadsObj) {
  const auto mesh = readMesh(write("cube.obj", cubeObj));
  EXPECT_EQ(mesh->vertices.size(), 8u);
  EXPECT_EQ(mesh->triangles.size(), 12u);
  EXPECT_EQ(findMeshDefect(*mesh), "");
  EXPECT_NEAR(solidMoments(*mesh).volume, 1, 1e-15);
}

TEST_F(MeshFile, ReadsObjWithForeignLineEnds) {
  std::string text;
  for (const char c : cubeObj) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(readMesh(write("cube.OBJ", text))->triangles.size(), 12u);
}

TEST_F(MeshFile, ReadsStlAndMergesVertices) {
  const auto cube = readMesh(write("cube.obj", cubeObj));
  for (const auto& mesh :
       {readMesh(write("text.stl", stlText(*cube))), readMesh(write("binary.stl", stlBinary(*cube, "exported by a tool"))),
        readMesh(write("misleading.stl", stlBinary(*cube, "solid binary")))}) {
    EXPECT_EQ(mesh->vertices.size(), 8u);
    EXPECT_EQ(mesh->triangles.size(), 12u);
    EXPECT_EQ(findMeshDefect(*mesh), "");
  }
}

TEST_F(MeshFile, ErrorsNameFileAndLine) {
  expectRefused("a.obj", "v 0 0 0\nv 1 0\n", {"a.obj:2", "three coordinates"});
  expectRefused("b.obj", "v 0 0 zero\n", {"b.obj:1", "'zero'"});
  expectRefused("c.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n\nf 1 2 4\n", {"c.obj:5", "vertex 4", "3 vertices"});
  expectRefused("d.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n", {"d.obj:3", "at least three"});
  expectRefused("e.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 0 2\n", {"e.obj:4", "count from 1"});
  expectRefused("f.obj", "v 0 0 nan\n", {"f.obj:1", "nan"});
  expectRefused("g.obj", "", {"g.obj", "no faces"});
  expectRefused("h.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\nendfacet\n",
                {"h.stl:7", "three vertices"});
  expectRefused("i.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", {"i.stl", "cut off"});
  expectRefused("j.stl", "solid x\nhello\n", {"j.stl:2", "'hello'"});
  expectRefused("k.stl", "tiny", {"k.stl", "too short"});
  expectRefused("m.ply", "ply", {"m.ply", ".obj"});
  const auto cube = readMesh(write("cube.obj", cubeObj));
  const std::string binary = stlBinary(*cube, "");
  expectRefused("l.stl", binary.substr(0, binary.size() - 7), {"l.stl", "cut off"});
  EXPECT_THROW(readMesh(folder_ / "missing.obj"), InputError);
  EXPECT_THROW(readMesh(folder_), InputError);
}

TriangleMesh tetrahedron() { return {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}}; }

void expectDefect(const TriangleMesh& mesh, const std::string& word) {
  EXPECT_NE(findMeshDefect(mesh).find(word), std::string::npos) << findMeshDefect(mesh);
}

TEST(Mesh, DefectsAreFound) {
  EXPECT_EQ(findMeshDefect(tetrahedron()), "");
  TriangleMesh open = tetrahedron();
  open.triangles.pop_back();
  expectDefect(open, "open");
  TriangleMesh inverted = tetrahedron();
  for (auto& t : inverted.triangles) std::swap(t[1], t[2]);
  expectDefect(inverted, "inside out");
  TriangleMesh mixed = tetrahedron();
  std::swap(mixed.triangles[2][1], mixed.triangles[2][2]);
  expectDefect(mixed, "turns against");
  TriangleMesh fin = tetrahedron();
  fin.vertices.push_back({1, 1, 1});
  fin.triangles.push_back({0, 1, 4});
  expectDefect(fin, "third one at an edge");
  TriangleMesh degenerate = tetrahedron();
  degenerate.triangles[1] = {0, 1, 1};
  expectDefect(degenerate, "triangle 2 has no area");
  TriangleMesh wild = tetrahedron();
  wild.triangles[3] = {2, 0, 9};
  expectDefect(wild, "triangle 4 names a vertex");
  expectDefect({}, "no triangles");
}

TEST(Mesh, MomentsOfABoxAndATetrahedron) {
  const double a = 0.3, b = 0.5, c = 0.7;
  std::vector<Vector3> corners;
  const Vector3 offset(10, -20, 5);
  for (int i = 0; i < 8; ++i) corners.push_back(offset + Vector3(i & 1 ? a : 0, i & 2 ? b : 0, i & 4 ? c : 0));
  const TriangleMesh box = convexHull(corners);
  EXPECT_EQ(box.triangles.size(), 12u);
  const SolidMoments m = solidMoments(box);
  const double volume = a * b * c;
  EXPECT_NEAR(m.volume, volume, 1e-14 * volume);
  EXPECT_NEAR((m.centroid - offset - 0.5 * Vector3(a, b, c)).norm(), 0, 1e-14);
  const Vector3 inertia = volume / 12 * Vector3(b * b + c * c, c * c + a * a, a * a + b * b);
  EXPECT_NEAR((m.inertia - Matrix3(inertia.asDiagonal())).norm(), 0, 1e-14 * inertia.norm());

  const SolidMoments t = solidMoments(tetrahedron()); // corners 0, e1, e2, e3
  EXPECT_NEAR(t.volume, 1. / 6, 1e-16);
  EXPECT_NEAR((t.centroid - Vector3::Constant(0.25)).norm(), 0, 1e-16);
  EXPECT_NEAR(t.inertia(0, 0), 1. / 80, 1e-16); // 2 (1/60 - 1/96)
  EXPECT_NEAR(t.inertia(0, 1), 1. / 480, 1e-16);
}

TEST(Mesh, HullHoldsAllPointsAndIsClosed) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (const int count : {4, 10, 100, 1000}) {
    std::vector<Vector3> points;
    for (int i = 0; i < count; ++i) points.emplace_back(normal(random), normal(random), normal(random));
    const TriangleMesh hull = convexHull(points);
    EXPECT_EQ(findMeshDefect(hull), "");
    EXPECT_EQ(hull.triangles.size(), 2 * hull.vertices.size() - 4); // Euler
    for (const auto& [i, j, k] : hull.triangles) {
      const Vector3& a = hull.vertices[std::size_t(i)];
      const Vector3 n = (hull.vertices[std::size_t(j)] - a).cross(hull.vertices[std::size_t(k)] - a).normalized();
      for (const Vector3& p : points) ASSERT_LE(n.dot(p - a), 1e-11);
    }
  }
}

TEST(Mesh, HullOfAGridHasTheCornersAlone) {
  std::vector<Vector3> grid;
  for (int i = 0; i < 6 * 6 * 6; ++i) grid.emplace_back(0.1 * (i % 6), 0.1 * (i / 6 % 6), 0.1 * (i / 36));
  const Matrix3 turn = Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix();
  for (const bool isTurned : {false, true}) {
    std::vector<Vector3> points = grid;
    if (isTurned)
      for (Vector3& p : points) p = turn * p;
    const TriangleMesh hull = convexHull(points);
    EXPECT_EQ(hull.vertices.size(), 8u) << isTurned;
    EXPECT_EQ(hull.triangles.size(), 12u) << isTurned;
    EXPECT_NEAR(solidMoments(hull).volume, 0.125, 1e-12);
  }
}

/// Rings of points on a sphere, as a program for solids makes them: faces of four corners in one plane, and poles where many meet.
TEST(Mesh, HullOfASphereTakesAllItsPoints) {
  const int rings = 60, sectors = 120;
  std::vector<Vector3> points{{0, 0, 1}, {0, 0, -1}};
  for (int i = 1; i < rings; ++i) {
    for (int k = 0; k < sectors; ++k) {
      const double theta = std::numbers::pi * i / rings, phi = 2 * std::numbers::pi * k / sectors;
      points.emplace_back(std::sin(theta) * std::cos(phi), std::sin(theta) * std::sin(phi), std::cos(theta));
    }
  }
  const TriangleMesh hull = convexHull(points);
  EXPECT_EQ(findMeshDefect(hull), "");
  EXPECT_EQ(hull.vertices.size(), points.size());
  EXPECT_EQ(hull.triangles.size(), 2 * points.size() - 4);
  EXPECT_NEAR(solidMoments(hull).volume, 4 * std::numbers::pi / 3, 0.01);
}

// Faces that are plane up to rounding, or nearly so: what a point sees of them hangs on the last bit.
TEST(Mesh, HullOfPointsThatAreNearlyInPlanes) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto vector = [&] { return Vector3(uniform(random), uniform(random), uniform(random)); };
  for (const double noise : {1e-3, 1e-9, 1e-12, 1e-13, 1e-15, 0.}) {
    std::vector<Vector3> points;
    for (int i = 0; i < 3000; ++i) {
      const Vector3 x = vector();
      points.push_back(x / x.cwiseAbs().maxCoeff() + noise * vector());
    }
    const TriangleMesh hull = convexHull(points);
    EXPECT_EQ(findMeshDefect(hull), "") << noise;
    EXPECT_NEAR(solidMoments(hull).volume, 8, 0.02 + 40 * noise) << noise;
  }
}

// What stands out by a hundred millionth of the size is a corner, what rounding may have moved is none.
TEST(Mesh, HullKeepsWhatStandsOut) {
  for (const auto& [height, corners] : std::vector<std::pair<double, std::size_t>>{{1e-4, 9}, {1e-8, 9}, {1e-14, 8}, {0, 8}, {-1e-8, 8}}) {
    std::vector<Vector3> points{{0, 0, 1 + height}};
    for (int i = 0; i < 8; ++i) points.emplace_back(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
    const TriangleMesh hull = convexHull(points);
    EXPECT_EQ(hull.vertices.size(), corners) << height;
    EXPECT_EQ(hull.triangles.size(), 2 * corners - 4) << height;
  }
}

TEST(Mesh, HullOfAPlaneIsRefused) {
  EXPECT_THROW(convexHull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 3, 0}}), InputError);
  EXPECT_THROW(convexHull({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}), InputError);
  EXPECT_THROW(convexHull({}), InputError);
}

}

}
