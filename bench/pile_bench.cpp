#include "tendril/contact/contact_model.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tendril {
namespace {

/// n^3 bodies on a lattice with jitter, dropped into a box that is open above.
struct Pile {
  Mechanism mechanism;
  ContactModel contacts;

  Pile(int n, Shape::Kind kind) {
    constexpr double radius = 0.05, pitch = 0.112, edge = 0.08;
    MechanismBuilder b;
    b.gravity({0, 0, -9.81});
    std::mt19937 generator(1);
    std::uniform_real_distribution<double> jitter(-0.003, 0.003);
    const bool isBox = kind == Shape::Kind::Box;
    Shape shape;
    shape.kind = kind;
    shape.size = isBox ? Vector3(edge, edge, edge) : Vector3(radius, 0, 0);
    const MassProperties mass = isBox ? MassProperties::box(1000, shape.size) : MassProperties::sphere(1000, radius);
    for (int i = 0; i < n * n * n; ++i) {
      const Vector3 cell(i % n, (i / n) % n, i / (n * n)); // NOLINT: whole numbers
      const Vector3 noise(jitter(generator), jitter(generator), 0.01 + jitter(generator));
      const std::string name = "body " + std::to_string(i);
      const auto body = b.body(name, mass, {Matrix3::Identity(), pitch * (cell + Vector3::Constant(0.5)) + noise});
      contacts.addPart({name, "", &body.at(), {CollisionShape(shape, name)}});
    }
    const double width = pitch * n;
    addWall(b, "floor", Vector3::Zero(), Vector3::UnitZ());
    addWall(b, "left", Vector3::Zero(), Vector3::UnitX());
    addWall(b, "right", {width, 0, 0}, -Vector3::UnitX());
    addWall(b, "front", Vector3::Zero(), Vector3::UnitY());
    addWall(b, "back", {0, width, 0}, -Vector3::UnitY());
    contacts.addLaw({"all", "all", ContactLaw{.friction = 0.5}});
    mechanism = b.build();
  }

  void addWall(MechanismBuilder& b, const std::string& name, const Vector3& x, const Vector3& normal) {
    Shape wall;
    wall.kind = Shape::Kind::HalfSpace;
    const Matrix3 R = so3::shortestRotation(Vector3::UnitZ(), normal);
    contacts.addPart({name, "", &b.ground({R, x}), {CollisionShape(wall, name)}});
  }
};

/// One second of the fall and settling. Counters: worst overlap in percent of the diameter, worst residual, contacts and work at the end.
void runPile(benchmark::State& run, Shape::Kind kind) {
  const Pile pile(int(run.range(0)), kind);
  MoreauOptions options;
  options.step = 5e-3;
  options.friction.tolerance = 1e-6;
  options.friction.measure = FrictionOptions::Measure::Scaled;
  for (auto _ : run) {
    Moreau analysis(*pile.mechanism.model, pile.contacts, options);
    analysis.start();
    double overlap = 0, residual = 0;
    long steps = 0, sweeps = 0, newton = 0;
    try {
      while (!analysis.finished()) {
        analysis.advance();
        const ContactReport& report = *analysis.contacts();
        overlap = std::max(overlap, report.penetration);
        residual = std::max(residual, report.residual);
        sweeps += report.sweeps, newton += report.newtonSteps, ++steps;
      }
    } catch (const NumericalFailure& failure) {
      run.SkipWithError(failure.what());
      return;
    }
    run.counters["overlap_%"] = 100 * overlap / 0.1;
    run.counters["residual"] = residual;
    run.counters["contacts"] = double(analysis.contacts()->contacts.size());
    run.counters["sweeps/step"] = double(sweeps) / double(steps);
    run.counters["newton/step"] = double(newton) / double(steps);
    run.counters["ms/step"] = benchmark::Counter(double(steps) / 1000, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  }
}

void spheres(benchmark::State& run) { runPile(run, Shape::Kind::Sphere); }
void boxes(benchmark::State& run) { runPile(run, Shape::Kind::Box); }

BENCHMARK(spheres)->Name("Pile/spheres")->Arg(5)->Arg(10)->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(boxes)->Name("Pile/boxes")->Arg(5)->Arg(10)->Unit(benchmark::kSecond)->Iterations(1);

}
}
