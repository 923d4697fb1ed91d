#include "tendril/rods/packed_ring.h"

#include "rods/ring_program.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace tendril {

namespace {

/// kappa at a place i + offset of the ring, linear in between.
double at(const std::vector<double>& kappa, int i, double offset) {
  const int n = int(kappa.size());
  const auto element = [&](int k) { return kappa[std::size_t(((k % n) + n) % n)]; };
  return (1 - offset) * element(i) + offset * element(i + 1);
}

/// Mirrored about a place a/2, element i falls on a - i.
double asymmetryOf(const std::vector<double>& kappa) {
  constexpr int parts = 10; // of an element
  const int n = int(kappa.size());
  double best = std::numeric_limits<double>::infinity(), most = 0;
  for (const double k : kappa) most = std::max(most, std::abs(k));
  for (int a = 0; a < n * parts; ++a) {
    double worst = 0;
    for (int i = 0; i < n && worst < best; ++i)
      worst = std::max(worst, std::abs(kappa[std::size_t(i)] - at(kappa, a / parts - i, double(a % parts) / parts)));
    best = std::min(best, worst);
  }
  return best / most;
}

}

void checkRing(const PackedRingOptions& o) {
  if (o.elements < 8) throw InputError(fmt::format("packed ring: it needs at least 8 elements, not {}", o.elements));
  if (!(o.radius > 0)) throw InputError("packed ring: the radius of the container must be positive");
  // An element is an arc between two nodes of the disc: it must not be longer than the way across.
  if (2 * o.radius < 2.0 / o.elements)
    throw InputError(
        fmt::format("packed ring: in a container of radius {:.4g} (over the length of the ring) {} elements do not fit; take a "
                    "larger one, or more elements",
                    o.radius, o.elements));
  if (std::abs(o.index) > o.elements / 8) throw InputError("packed ring: so many turns need more elements");
}

PackedRing packRing(const PackedRingOptions& o) {
  checkRing(o);
  RingProgram program(o);
  InteriorPoint solver({.tolerance = o.tolerance, .maxIterations = o.maxIterations});
  if (o.stops) solver.watch([&o](const InteriorPointReport::Iterate&) { return !o.stops(); });
  const InteriorPointReport& report = solver.solve(program);
  if (report.status == InteriorPointReport::Status::Interrupted) throw Interrupted("packed ring: stopped on its way to an equilibrium");
  PackedRing ring;
  ring.isSolved = report.converged() || report.status == InteriorPointReport::Status::Acceptable;
  ring.isMinimum = report.strictMinimum;
  ring.iterations = report.iterations, ring.message = report.message, ring.energy = report.objective;
  for (double p : report.multipliers.inequality) ring.pressure.push_back(p);
  program.read(ring);
  std::vector<double> kappa;
  for (int k = 0; k < o.elements; ++k) kappa.push_back(program.curvature(k));
  ring.asymmetry = asymmetryOf(kappa);
  for (std::size_t k = 0; k < ring.pressure.size(); ++k)
    ring.complementarity =
        std::max(ring.complementarity, std::abs(ring.pressure[k] * (o.radius * o.radius - ring.nodes[k].head<2>().squaredNorm())));
  return ring;
}

}
