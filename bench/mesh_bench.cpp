// Meshes of many triangles, as scans and programs for solids make them: a sphere, each number of triangles in turn.
#include "tendril/contact/mesh.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numbers>

namespace tendril {
namespace {

/// A spiral of points at equal distances, and its hull.
TriangleMesh sphere(int triangles) {
  std::vector<Vector3> points;
  const int count = triangles / 2 + 2;
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2 * i + 1.0) / count, r = std::sqrt(1 - z * z), turn = std::numbers::pi * (3 - std::sqrt(5.0)) * i;
    points.emplace_back(r * std::cos(turn), r * std::sin(turn), z);
  }
  return convexHull(points);
}

std::filesystem::path binaryStl(const TriangleMesh& mesh) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "tendril_mesh_bench.stl";
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](const auto& value) { file.write(reinterpret_cast<const char*>(&value), sizeof value); };
  file << std::string(80, ' ');
  write(std::uint32_t(mesh.triangles.size()));
  for (const auto& triangle : mesh.triangles) {
    for (int i = 0; i < 3; ++i) write(0.F);
    for (const int v : triangle) {
      for (int i = 0; i < 3; ++i) write(float(mesh.vertices[std::size_t(v)][i]));
    }
    write(std::uint16_t(0));
  }
  return path;
}

void MeshHull(benchmark::State& state) {
  const TriangleMesh mesh = sphere(int(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(convexHull(mesh.vertices));
  state.SetComplexityN(state.range(0));
}

void MeshRead(benchmark::State& state) {
  const std::filesystem::path file = binaryStl(sphere(int(state.range(0))));
  for (auto _ : state) {
    const auto mesh = readMesh(file);
    benchmark::DoNotOptimize(findMeshDefect(*mesh));
    benchmark::DoNotOptimize(solidMoments(*mesh));
  }
  std::filesystem::remove(file);
  state.SetComplexityN(state.range(0));
}

BENCHMARK(MeshHull)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oNLogN);
BENCHMARK(MeshRead)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oNLogN);

}
}
