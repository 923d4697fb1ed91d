#include "dynamics/impulse_memory.h"

#include "dynamics/wedging.h"

#include <fmt/format.h>

#include <algorithm>

namespace tendril {

namespace {

/// Slip of a contact that sticks, relative to its velocity without the impulse.
constexpr double negligibleSlip = 1e-8;

/// Where several contacts share a force, one that does not slip may have all the friction it can: `slips` tells by the velocities.
ContactStatus statusOf(const ContactBlock& block, const Eigen::Ref<const VectorX>& impulse, bool slips) {
  if (!(impulse[0] > 0)) return ContactStatus::Open;
  if (!slips && block.law.discCount > 0) return ContactStatus::Stick;
  if (block.law.discCount == 0) return ContactStatus::Slip;
  const FrictionDisc& disc = block.law.discs[0];
  const double bound = disc.coefficient * impulse[0];
  return impulse.segment(disc.first, disc.size).norm() < bound * (1 - 1e-6) ? ContactStatus::Stick : ContactStatus::Slip;
}

}

ImpulseMemory::Entry* ImpulseMemory::find(std::uint64_t key) {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), key, [](const Entry& e, std::uint64_t k) { return e.key < k; });
  return found != entries_.end() && found->key == key ? &*found : nullptr;
}

void ImpulseMemory::turnOver() {
  std::sort(next_.begin(), next_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
  entries_.swap(next_);
  next_.clear();
}

void ImpulseMemory::warmStart(std::span<const ContactBlock> contacts, const FrictionProblem& problem, VectorX& r) {
  r.setZero(problem.rows());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactBlock& block = contacts[i];
    const Entry* last = find(block.contact.key);
    if (!last) continue;
    Vector6 components;
    components << block.contact.frame.transpose() * last->impulse, block.contact.frame.transpose() * last->moment;
    for (int row = 0; row < block.law.size; ++row) r[problem.firstRow[i] + row] = components[block.component[std::size_t(row)]];
  }
}

std::vector<double> ImpulseMemory::save() const {
  std::vector<double> numbers;
  for (const Entry& e : entries_) {
    numbers.push_back(double(e.key >> 32));
    numbers.push_back(double(e.key & 0xffffffffU));
    numbers.insert(numbers.end(), e.impulse.data(), e.impulse.data() + 3);
    numbers.insert(numbers.end(), e.moment.data(), e.moment.data() + 3);
    numbers.push_back(e.curvature);
    numbers.insert(numbers.end(), e.held.data(), e.held.data() + 3);
  }
  return numbers;
}

void ImpulseMemory::restore(const std::vector<double>& numbers) {
  clear();
  for (std::size_t i = 0; i + 12 <= numbers.size(); i += 12) {
    const std::uint64_t key = (std::uint64_t(numbers[i]) << 32) | std::uint64_t(numbers[i + 1]);
    entries_.push_back({key, Vector3(numbers[i + 2], numbers[i + 3], numbers[i + 4]),
                        Vector3(numbers[i + 5], numbers[i + 6], numbers[i + 7]), 0, numbers[i + 8],
                        Vector3(numbers[i + 9], numbers[i + 10], numbers[i + 11])});
  }
}

Vector6 impulseOf(const ContactBlock& contact, const Eigen::Ref<const VectorX>& r) {
  Vector6 impulse = Vector6::Zero();
  for (int row = 0; row < contact.law.size; ++row) impulse[contact.component[std::size_t(row)]] = r[row];
  return impulse;
}

void recordContact(const ContactBlock& contact, const ContactSlip& slip, const Eigen::Ref<const VectorX>& r, const Vector6& impulse,
                   ContactReport& report) {
  const Contact& c = contact.contact;
  const Vector3 way = slip.after.head<3>() + c.law->tangentialRestitution * slip.before.head<3>() - slip.yielding;
  const bool slips = way.tail<2>().norm() > negligibleSlip * slip.free.head<3>().norm();
  report.contacts.push_back({c.first, c.second, c.point.position, c.frame, c.point.gap, impulse.head<3>(), impulse.tail<3>(),
                             slip.before.head<3>(), slip.after.head<3>(), statusOf(contact, r, slips)});
  report.dissipation -= 0.5 * impulse.dot(slip.before + slip.after);
  report.work -= impulse.dot(slip.drift); // the drift is that of the first part against the second
}

void recordSolution(const FrictionReport& solution, std::span<const ContactBlock> contacts, const ContactDetection& detection,
                    ContactReport& report) {
  report.sweeps += solution.sweeps;
  report.newtonSteps += solution.newtonSteps;
  if (!solution.converged) return;
  report.residual = std::max(report.residual, solution.residual.scaled);
  report.ambiguous += long(solution.ambiguous.size());
  if (solution.ambiguous.empty()) return;
  const ContactBlock& block = contacts[std::size_t(solution.ambiguous.front())];
  report.note =
      fmt::format("friction allows several solutions or none at the contact of {}{}: one was chosen", detection.names(block.contact),
                  solution.ambiguous.size() > 1 ? fmt::format(" and {} more", solution.ambiguous.size() - 1) : "");
}

std::string describeUnsolved(long step, double t, const FrictionResidual& residual, double tolerance, const std::string& why,
                             std::span<const ContactBlock> contacts, const ContactDetection& detection) {
  const std::string wedge = describeWedge(contacts, detection);
  return fmt::format("step {}, t = {:.9g}: the contacts were not solved: residual {:.3g} where {:.3g} was asked, largest at {}; {}{}", step,
                     t, residual.scaled, tolerance,
                     residual.worst >= 0 ? "the contact of " + detection.names(contacts[std::size_t(residual.worst)].contact)
                                         : "no contact",
                     why, wedge.empty() ? "" : "; " + wedge);
}

}
