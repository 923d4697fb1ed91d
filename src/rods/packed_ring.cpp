#include "tendril/rods/packed_ring.h"

#include "rods/ring_program.h"
#include "tendril/model/error.h"

#include <cmath>
#include <fmt/format.h>

namespace tendril {

PackedRing packRing(const PackedRingOptions& o) {
  if (o.elements < 8) throw InputError(fmt::format("packed ring: it needs at least 8 elements, not {}", o.elements));
  if (!(o.radius > 0)) throw InputError("packed ring: the radius of the container must be positive");
  // An element is an arc between two nodes of the disc: it must not be longer than the way across.
  if (2 * o.radius < 2.0 / o.elements)
    throw InputError(
        fmt::format("packed ring: in a container of radius {:.4g} (over the length of the ring) {} elements do not fit; take a "
                    "larger one, or more elements",
                    o.radius, o.elements));
  if (std::abs(o.index) > o.elements / 8) throw InputError("packed ring: so many turns need more elements");
  RingProgram program(o);
  InteriorPoint solver({.tolerance = o.tolerance, .maxIterations = o.maxIterations});
  const InteriorPointReport& report = solver.solve(program);
  PackedRing ring;
  ring.isSolved = report.converged() || report.status == InteriorPointReport::Status::Acceptable;
  ring.isMinimum = report.strictMinimum;
  ring.iterations = report.iterations, ring.message = report.message, ring.energy = report.objective;
  for (double p : report.multipliers.inequality) ring.pressure.push_back(p);
  program.read(ring);
  return ring;
}

}
