#include "tendril/analysis/single_contacts.h"

#include "tendril/model/assembly.h"

#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

namespace tendril {

namespace {

constexpr Request massOnly{.motion = true, .tangent = true, .stiffness = false, .timeRate = false, .damping = 0, .inertia = 1};

/// Whether the matrix couples no two blocks.
bool isBlockDiagonal(const Model& model, const SparseMatrix& M) {
  for (const Block& b : model.blocks()) {
    for (int column = b.v; column < b.v + b.nv; ++column) {
      for (SparseMatrix::InnerIterator entry(M, column); entry; ++entry) {
        if (entry.value() != 0 && (entry.row() < b.v || entry.row() >= b.v + b.nv)) return false;
      }
    }
  }
  return true;
}

}

SingleContacts::SingleContacts(const Model& model, const ContactModel& contacts) : contacts_(contacts) {
  if (model.nc() > 0) return;
  Assembly assembly(model);
  State state = model.initialState();
  state.a.setZero(model.nv());
  state.lambda.setZero(0);
  assembly.begin(massOnly);
  model.evaluate(state, assembly);
  if (!isBlockDiagonal(model, assembly.matrix())) return;
  for (const Block& b : model.blocks()) {
    if (b.kind != Block::Kind::Pose) return;
    const Matrix6 inertia = MatrixX(assembly.matrix().block(b.v, b.v, 6, 6));
    const Eigen::LLT<Matrix6> factor(inertia);
    if (factor.info() != Eigen::Success) return;
    inverse_.push_back(factor.solve(Matrix6::Identity()));
  }
  areBodiesFree_ = true;
}

/// f . M^-1 g for the directions `normal` and `along` of the contact frame, summed over both bodies; `normal` gets f . M^-1 f.
double SingleContacts::answer(const ContactRecord& contact, const Vector3& along, double& normal) const {
  double coupling = 0;
  normal = 0;
  for (const int part : {contact.first, contact.second}) {
    const Marker* marker = contacts_.parts()[std::size_t(part)].marker;
    if (!marker || marker->blocks().empty()) continue;
    const Pose frame = marker->frame(*state_);
    const Vector3 arm = frame.R.transpose() * (contact.position - frame.x);
    const auto generalized = [&](const Vector3& direction) {
      Vector6 wrench;
      wrench.head<3>() = frame.R.transpose() * (contact.frame * direction);
      wrench.tail<3>() = arm.cross(wrench.head<3>());
      MarkerForce f = MarkerForce::Zero();
      marker->force(*state_, wrench, f);
      return Vector6(f.col(0));
    };
    const Vector6 f = generalized(Vector3::UnitX());
    const Vector6 response = inverse_[std::size_t(marker->blocks()[0])] * f;
    normal += f.dot(response);
    coupling += response.dot(generalized(along));
  }
  return coupling;
}

void SingleContacts::look(const State& state, const ContactReport& report) {
  state_ = &state;
  factor_ = std::numeric_limits<double>::infinity();
  bound_ = factor_;
  worst_ = -1, sliding_ = 0;
  for (std::size_t i = 0; i < report.contacts.size(); ++i) {
    const ContactRecord& contact = report.contacts[i];
    const double slip = contact.velocity.tail<2>().norm();
    const ContactLaw* law = contact.status == ContactStatus::Slip && slip > 0 ? contacts_.law(contact.first, contact.second) : nullptr;
    if (!law || law->friction == 0) continue;
    ++sliding_;
    double normal = 0;
    const double coupling = answer(contact, Vector3(0, contact.velocity[1], contact.velocity[2]) / slip, normal);
    const double bound = coupling > 0 ? normal / coupling : std::numeric_limits<double>::infinity();
    if (bound / law->friction < factor_) factor_ = bound / law->friction, bound_ = bound, worst_ = int(i);
  }
}

}
