#include "tendril/control/actuation.h"

#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <algorithm>

namespace tendril {

namespace {

/// m x d_I / 2 of all directors of a frame.
Matrix34 moment(const Vector3& m, const Matrix34& Y) {
  Matrix34 f = Matrix34::Zero();
  for (int I = 1; I < 4; ++I) f.col(I) = 0.5 * m.cross(Y.col(I));
  return f;
}

/// The part of the force that is linear in Y, or constant: what the directors of Y make of the components.
Matrix34 forceAlong(const Matrix34& Y, const Vector3& F) {
  Matrix34 f = Matrix34::Zero();
  f.col(0) = Y.rightCols<3>() * F;
  return f;
}

Matrix34 evaluate(bool follows, const Vector6& wrench, const Matrix34& Y) {
  const Vector3 F = wrench.head<3>(), m = wrench.tail<3>();
  if (follows) return forceAlong(Y, F) + moment(Y.rightCols<3>() * m, Y);
  Matrix34 f = moment(m, Y);
  f.col(0) = F;
  return f;
}

/// Change of evaluate() at Y along dY.
Matrix34 change(bool follows, const Vector6& wrench, const Matrix34& Y, const Matrix34& dY) {
  const Vector3 F = wrench.head<3>(), m = wrench.tail<3>();
  if (!follows) return moment(m, dY);
  return forceAlong(dY, F) + moment(dY.rightCols<3>() * m, Y) + moment(Y.rightCols<3>() * m, dY);
}

/// d(A . evaluate(Y))/dY.
Matrix34 gradientOfPower(bool follows, const Vector6& wrench, const Matrix34& Y, const Matrix34& A) {
  const Vector3 F = wrench.head<3>(), m = wrench.tail<3>();
  const Vector3 moment = follows ? Vector3(Y.rightCols<3>() * m) : m;
  Matrix34 g = Matrix34::Zero();
  Vector3 turn = Vector3::Zero();
  for (int I = 1; I < 4; ++I) {
    g.col(I) = 0.5 * A.col(I).cross(moment);
    turn += 0.5 * Y.col(I).cross(A.col(I));
  }
  if (!follows) return g;
  for (int J = 0; J < 3; ++J) g.col(J + 1) += F[J] * A.col(0) + m[J] * turn;
  return g;
}

Matrix34 unit(int coordinate) {
  Matrix34 e = Matrix34::Zero();
  e(coordinate % 3, coordinate / 3) = 1;
  return e;
}

using Covector = Eigen::Matrix<double, 12, 1>;

/// The covector of a block that a covector of the frame makes: y = w Q B.
Covector onBlock(const DirectorFrame& frame, int k, const Matrix34& f) {
  const Matrix34 g = frame.weights[k] * f * frame.offset.transpose();
  return Eigen::Map<const Covector>(g.data());
}

Matrix34 onFrame(const DirectorFrame& frame, int k, const Matrix34& dQ) { return frame.weights[k] * dQ * frame.offset; }

/// How a vector of the redundant coordinates moves a frame.
Matrix34 motion(const DirectorFrame& frame, const VectorX& a) {
  Matrix34 A = Matrix34::Zero();
  for (int k = 0; k < frame.count; ++k) A += onFrame(frame, k, Eigen::Map<const Matrix34>(a.data() + frame.q[k]));
  return A;
}

}

Actuation::Actuation(const DirectorSystem& system, std::vector<Actuator> actuators) : system_(system), actuators_(std::move(actuators)) {
  const SparseMatrix pattern = system.matrix();
  for (int control = 0; control < size(); ++control) {
    const std::size_t before = sites_.size() + cables_.size();
    addSites(control, pattern);
    addCables(control, pattern);
    if (sites_.size() + cables_.size() == before && actuators_[std::size_t(control)].muscles.empty())
      throw InputError("actuator '" + actuators_[control].name + "' acts on nothing that moves; put it on a body or a joint");
  }
}

void Actuation::addSites(int control, const SparseMatrix& pattern) {
  for (const ActuatorLoad& load : actuators_[control].loads) {
    Site site{.frame = load.marker->directors(), .follows = load.follows, .wrench = load.wrench, .control = control};
    if (site.frame.count == 0 || load.wrench.isZero()) continue;
    for (int k = 0; k < site.frame.count; ++k) {
      const int* const column = pattern.innerIndexPtr() + pattern.outerIndexPtr()[site.frame.q[k]];
      const int* const next = pattern.innerIndexPtr() + pattern.outerIndexPtr()[site.frame.q[k] + 1];
      site.strides[k] = int(next - column);
      for (int j = 0; j < site.frame.count; ++j)
        site.places[j][k] = int(std::lower_bound(column, next, site.frame.q[j]) - pattern.innerIndexPtr());
    }
    sites_.push_back(site);
  }
}

void Actuation::addCables(int control, const SparseMatrix& pattern) {
  for (const ActuatorCable& entry : actuators_[control].cables) {
    Cable cable{.control = control, .parts = {}, .ends = {entry.from, entry.to}, .places = {}};
    for (int side = 0; side < 2; ++side) {
      const DirectorFrame frame = cable.ends[std::size_t(side)]->directors();
      for (int k = 0; k < frame.count; ++k)
        for (int column = 0; column < 4; ++column) {
          const double factor = frame.weights[k] * frame.offset(column, 0);
          if (factor != 0) cable.parts.emplace_back(frame.q[k] + 3 * column, side == 0 ? -factor : factor);
        }
    }
    if (cable.parts.empty()) continue;
    const DirectorFrame from = entry.from->directors(), to = entry.to->directors();
    if (from.count == 1 && to.count == 1 && from.blocks[0] == to.blocks[0])
      throw InputError("actuator '" + actuators_[control].name + "': both ends of its cable are on one body, which it cannot move");
    for (const auto& [column, first] : cable.parts)
      for (const auto& [row, second] : cable.parts) {
        std::array<int, 3>& places = cable.places.emplace_back();
        for (int c = 0; c < 3; ++c) {
          const int* const begin = pattern.innerIndexPtr() + pattern.outerIndexPtr()[column + c];
          const int* const end = pattern.innerIndexPtr() + pattern.outerIndexPtr()[column + c + 1];
          const int* const found = std::lower_bound(begin, end, row + c);
          if (found == end || *found != row + c) {
            throw InputError("actuator '" + actuators_[control].name +
                             "': a cable joins the ground, or bodies that a joint or a beam joins, too; lead it over these");
          }
          places[std::size_t(c)] = int(found - pattern.innerIndexPtr());
        }
      }
    cables_.push_back(std::move(cable));
  }
}

Vector3 Actuation::Cable::line(const VectorX& q, double t) const {
  return ends[1]->directors().at(q, t).col(0) - ends[0]->directors().at(q, t).col(0);
}

void Actuation::columns(const VectorX& q, double t, MatrixX& Bt) const {
  Bt.setZero(system_.size(), size());
  for (const Site& site : sites_) {
    const Matrix34 f = evaluate(site.follows, site.wrench, site.frame.at(q, t));
    for (int k = 0; k < site.frame.count; ++k) Bt.col(site.control).segment<12>(site.frame.q[k]) += onBlock(site.frame, k, f);
  }
  for (const Cable& cable : cables_) {
    const Vector3 d = cable.line(q, t);
    for (const auto& [i, factor] : cable.parts) Bt.col(cable.control).segment<3>(i) -= factor * d;
  }
}

void Actuation::powerGradient(const VectorX& q, double t, const VectorX& a, MatrixX& gradient) const {
  gradient.setZero(system_.size(), size());
  for (const Site& site : sites_) {
    const Matrix34 A = motion(site.frame, a), g = gradientOfPower(site.follows, site.wrench, site.frame.at(q, t), A);
    for (int k = 0; k < site.frame.count; ++k) gradient.col(site.control).segment<12>(site.frame.q[k]) += onBlock(site.frame, k, g);
  }
  for (const Cable& cable : cables_) {
    Vector3 stretch = Vector3::Zero(); // of the cable by a
    for (const auto& [i, factor] : cable.parts) stretch += factor * a.segment<3>(i);
    for (const auto& [i, factor] : cable.parts) gradient.col(cable.control).segment<3>(i) -= factor * stretch;
  }
}

void Actuation::addForce(const VectorX& q, double t, const Eigen::Ref<const VectorX>& tau, double scale, VectorX& f) const {
  for (const Site& site : sites_) {
    const Matrix34 unit = evaluate(site.follows, site.wrench, site.frame.at(q, t));
    for (int k = 0; k < site.frame.count; ++k) f.segment<12>(site.frame.q[k]) += scale * tau[site.control] * onBlock(site.frame, k, unit);
  }
  for (const Cable& cable : cables_) {
    const Vector3 pull = scale * tau[cable.control] * cable.line(q, t);
    for (const auto& [i, factor] : cable.parts) f.segment<3>(i) -= factor * pull;
  }
}

void Actuation::addGradient(const VectorX& q, double t, const Eigen::Ref<const VectorX>& tau, double scale, SparseMatrix& K) const {
  for (const Site& site : sites_) {
    const Matrix34 Y = site.frame.at(q, t);
    for (int k = 0; k < site.frame.count; ++k) {
      for (int c = 0; c < 12; ++c) {
        const Matrix34 f = change(site.follows, site.wrench, Y, onFrame(site.frame, k, unit(c)));
        for (int j = 0; j < site.frame.count; ++j)
          Eigen::Map<Covector>(K.valuePtr() + site.places[j][k] + c * site.strides[k]) +=
              scale * tau[site.control] * onBlock(site.frame, j, f);
      }
    }
  }
  for (const Cable& cable : cables_) {
    std::size_t pair = 0;
    for (const auto& [column, first] : cable.parts)
      for (const auto& [row, second] : cable.parts) {
        for (const int place : cable.places[pair]) K.valuePtr()[place] -= scale * tau[cable.control] * first * second;
        ++pair;
      }
  }
}

void Actuation::addCurvature(const VectorX& a, const Eigen::Ref<const VectorX>& tau, double scale, SparseMatrix& K) const {
  for (const Site& site : sites_) {
    if (!site.follows) continue; // a power that is linear
    const Matrix34 A = motion(site.frame, a), atZero = gradientOfPower(true, site.wrench, Matrix34::Zero(), A);
    for (int k = 0; k < site.frame.count; ++k) {
      for (int c = 0; c < 12; ++c) {
        // The gradient is affine in Y.
        const Matrix34 g = gradientOfPower(true, site.wrench, onFrame(site.frame, k, unit(c)), A) - atZero;
        for (int j = 0; j < site.frame.count; ++j)
          Eigen::Map<Covector>(K.valuePtr() + site.places[j][k] + c * site.strides[k]) +=
              scale * tau[site.control] * onBlock(site.frame, j, g);
      }
    }
  }
}

}
