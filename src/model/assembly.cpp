#include "tendril/model/assembly.h"

#include "tendril/model/model.h"

#include <limits>

namespace tendril {

Assembly::Assembly(const Model& model)
    : pattern_(model.pattern()), nv_(model.nv()), residual_(model.nv()), constraint_(model.nc()), forceRate_(model.nv()),
      constraintRate_(model.nc()), memory_(VectorX::Zero(model.memory())), matrix_(model.pattern().matrix()) {
  isPose_.assign(pattern_.blocks(), 0);
  for (std::size_t b = 0; b < model.blocks().size(); ++b) isPose_[b] = model.blocks()[b].kind == Block::Kind::Pose;
#ifdef TENDRIL_NAN_FILL
  for (VectorX* v : {&residual_, &constraint_, &forceRate_, &constraintRate_}) v->setConstant(std::numeric_limits<double>::quiet_NaN());
#endif
}

void Assembly::begin(const Request& request) {
  request_ = request;
  scale_ = {};
  refusedBlock_ = -1;
  residual_.setZero();
  constraint_.setZero();
  if (request.tangent) std::fill_n(matrix_.valuePtr(), matrix_.nonZeros(), 0.0);
  if (request.timeRate) forceRate_.setZero(), constraintRate_.setZero();
}

void Assembly::takeConstraints(const Assembly& other, bool rows) {
  constraint_ = other.constraint_;
  if (!rows) return;
  const double scale = multiplierScale / other.multiplierScale;
  for (int c = 0; c < nv_; ++c) {
    const int end = matrix_.outerIndexPtr()[c + 1];
    for (int k = matrix_.outerIndexPtr()[c]; k < end; ++k) {
      if (matrix_.innerIndexPtr()[k] >= nv_) matrix_.valuePtr()[k] = scale * other.matrix_.valuePtr()[k];
    }
  }
}

SparseMatrix Assembly::gradient() const {
  SparseMatrix G = matrix_.bottomLeftCorner(matrix_.rows() - nv_, nv_);
  G *= -1 / multiplierScale;
  return G;
}

}
