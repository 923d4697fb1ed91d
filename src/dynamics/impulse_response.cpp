#include "dynamics/impulse_response.h"

namespace tendril {

namespace {

using LawBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, FrictionLaw::maxSize, FrictionLaw::maxSize>;

enum Component { Normal, Tangent, Tangent2, SpinNormal, SpinTangent, SpinTangent2 };

}

void ContactBlock::chooseLaw() {
  const ContactLaw& l = *contact.law;
  const bool rolls = l.rolling > 0 || l.pivoting > 0;
  if (contact.isPlane()) {
    if (l.rolling > 0) {
      law = {FrictionLaw::Kind::Unilateral, 3, 2, {{{1, 1, l.friction}, {2, 1, l.rolling}}}};
      component = {Normal, Tangent, SpinTangent2};
    } else {
      law = l.friction > 0 ? FrictionLaw::plane(l.friction) : FrictionLaw::frictionless();
      component = {Normal, Tangent};
    }
  } else if (rolls) {
    law = FrictionLaw::rolling(l.friction, l.rolling, l.pivoting);
    component = {Normal, Tangent, Tangent2, SpinTangent, SpinTangent2, SpinNormal};
  } else {
    law = l.friction > 0 ? FrictionLaw::coulomb(l.friction) : FrictionLaw::frictionless();
    component = {Normal, Tangent, Tangent2};
  }
}

void ContactBlock::chooseNormal() {
  law = FrictionLaw::frictionless();
  component = {Normal};
}

Vector6 ContactBlock::velocity(const Model& model, const VectorX& v, bool withDrift) const {
  Vector6 u = Vector6::Zero();
  if (withDrift) u = rows.drift;
  for (int k = 0; k < rows.count; ++k) u.noalias() += rows.H[k] * v.segment<6>(model.blocks()[rows.block[k]].v);
  return u;
}

void fillDelassus(const Model& model, std::span<const ContactBlock> contacts, const MatrixX& columns, FrictionProblem& problem) {
  BlockMatrix& W = problem.W;
  W.start.assign(1, 0);
  W.blocks.clear();
  W.values.clear();
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactBlock& c = contacts[i];
    for (std::size_t j = 0; j < contacts.size(); ++j) {
      LawBlock block = LawBlock::Zero(c.law.size, contacts[j].law.size);
      for (int k = 0; k < c.rows.count; ++k) {
        const auto answer = columns.block(model.blocks()[c.rows.block[k]].v, problem.firstRow[j], 6, contacts[j].law.size);
        for (int row = 0; row < c.law.size; ++row) block.row(row) += c.rows.H[k].row(c.component[row]).lazyProduct(answer);
      }
      if (i != j && block.isZero(0)) continue;
      W.blocks.push_back({int(j), W.values.size()});
      W.values.insert(W.values.end(), block.data(), block.data() + block.size());
    }
    W.start.push_back(int(W.blocks.size()));
  }
}

ImpulseResponse::ImpulseResponse(KktSystem& kkt, const RigidFlight& flight, bool isCoupled)
    : kkt_(kkt), model_(kkt.model()), flight_(flight), isCoupled_(isCoupled) {
  if (!isCoupled) return;
  upper_.resize(model_.nv()), lower_ = VectorX::Zero(model_.nc()), x_.resize(model_.nv()), y_.resize(model_.nc());
}

void ImpulseResponse::gather(std::span<const ContactBlock> contacts, FrictionProblem& problem) {
  problem.laws.clear();
  for (const ContactBlock& c : contacts) problem.laws.push_back(c.law);
  problem.layOut();
  problem.q.setZero(problem.rows());
  if (isCoupled_)
    gatherColumns(contacts, problem);
  else
    gatherBodies(contacts, problem);
}

void ImpulseResponse::gatherBodies(std::span<const ContactBlock> contacts, FrictionProblem& problem) const {
  FrictionBodies& bodies = problem.bodies;
  problem.W.start.clear(), problem.W.blocks.clear(), problem.W.values.clear(); // compliance may have made blocks of the last ones
  if (bodies.inverseInertia.size() != flight_.bodies().size()) {
    bodies.inverseInertia.clear();
    for (const RigidFlight::Body& body : flight_.bodies()) bodies.inverseInertia.push_back(body.inverse);
  }
  bodies.touched.clear();
  bodies.H.resize(problem.rows(), 12);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactBlock& c = contacts[i];
    std::array<int, 2> touched{-1, -1};
    for (int k = 0; k < c.rows.count; ++k) touched[k] = c.rows.block[k];
    bodies.touched.push_back(touched);
    for (int row = 0; row < c.law.size; ++row) {
      for (int k = 0; k < 2; ++k) {
        auto entries = bodies.H.row(problem.firstRow[i] + row).segment<6>(6 * k);
        if (k < c.rows.count)
          entries = c.rows.H[k].row(c.component[row]);
        else
          entries.setZero();
      }
    }
  }
}

void ImpulseResponse::gatherColumns(std::span<const ContactBlock> contacts, FrictionProblem& problem) {
  const int n = problem.rows();
  if (columns_.cols() < n) columns_.resize(model_.nv(), 2 * n), jointColumns_.resize(model_.nc(), 2 * n);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactBlock& c = contacts[i];
    for (int row = 0; row < c.law.size; ++row) {
      upper_.setZero();
      for (int k = 0; k < c.rows.count; ++k) {
        upper_.segment<6>(model_.blocks()[c.rows.block[k]].v) = c.rows.H[k].row(c.component[row]).transpose() / unit_;
      }
      kkt_.solve(upper_, lower_, x_, y_);
      columns_.col(problem.firstRow[i] + row) = x_;
      jointColumns_.col(problem.firstRow[i] + row) = unit_ * y_;
    }
  }
  fillDelassus(model_, contacts, columns_, problem);
}

void ImpulseResponse::apply(std::span<const ContactBlock> contacts, const FrictionProblem& problem, const VectorX& r, VectorX& v,
                            VectorX& lambda) const {
  if (contacts.empty()) return;
  if (isCoupled_) {
    v.noalias() += columns_.leftCols(problem.rows()) * r;
    lambda.noalias() += jointColumns_.leftCols(problem.rows()) * r;
    return;
  }
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const ContactBlock& c = contacts[i];
    for (int k = 0; k < c.rows.count; ++k) {
      Vector6 generalized = Vector6::Zero();
      for (int row = 0; row < c.law.size; ++row) {
        generalized += c.rows.H[k].row(c.component[row]).transpose() * r[problem.firstRow[i] + row];
      }
      const RigidFlight::Body& body = flight_.bodies()[std::size_t(c.rows.block[k])];
      v.segment<6>(body.v).noalias() += body.inverse * generalized;
    }
  }
}

}
