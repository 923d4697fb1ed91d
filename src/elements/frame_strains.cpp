#include "frame_strains.h"

#include "tendril/lie/so3.h"

#include <limits>

namespace tendril {

Columns columnsOf(const DirectorFrames& Y) {
  Columns columns;
  columns << Y[0], Y[1];
  return columns;
}

void addProduct(const DotProduct& product, double factor, Matrix8& W) {
  const auto unit = [](int index) -> Eigen::Matrix<double, 8, 1> {
    Eigen::Matrix<double, 8, 1> u = Eigen::Matrix<double, 8, 1>::Zero();
    if (index == originsApart)
      u[0] = -1, u[4] = 1;
    else
      u[index] = 1;
    return u;
  };
  const auto a = unit(product.a), b = unit(product.b);
  W += (factor * product.c) * (a * b.transpose() + b * a.transpose());
}

void addHessian(const Matrix8& W, double factor, Matrix24& H) {
  for (int column = 0; column < 8; ++column) {
    for (int row = 0; row < 8; ++row) H.block<3, 3>(3 * row, 3 * column).diagonal().array() += factor * W(row, column);
  }
}

std::vector<DotProduct> FrameStrains::products(int strain) {
  const int i = strain % 3, j = (i + 1) % 3, k = (i + 2) % 3;
  if (strain < 3) return {{1 + i, originsApart, 0.5}, {5 + i, originsApart, 0.5}};
  return {{1 + k, 5 + j, 0.5}, {1 + j, 5 + k, -0.5}};
}

std::vector<DotProduct> OriginStrains::products(int strain) { return {{1 + strain, originsApart}}; }

template <class Strains> StrainTable<Strains>::StrainTable() {
  for (int i = 0; i < size; ++i) {
    W[i].setZero();
    for (const DotProduct& product : Strains::products(i)) addProduct(product, 1, W[i]);
  }
}

template <class Strains> auto StrainTable<Strains>::gradient(const DirectorFrames& Y) const -> Gradient {
  const Columns columns = columnsOf(Y);
  Gradient B;
  for (int i = 0; i < size; ++i) {
    const Columns row = columns.lazyProduct(W[i]);
    B.row(i) = Eigen::Map<const Vector24>(row.data()).transpose();
  }
  return B;
}

template <class Strains> auto StrainTable<Strains>::values(const Gradient& B, const DirectorFrames& Y) const -> Values {
  const Columns columns = columnsOf(Y);
  return 0.5 * B * Eigen::Map<const Vector24>(columns.data());
}

template <class Strains> Matrix8 StrainTable<Strains>::weights(const Values& n) const {
  Matrix8 sum = n[0] * W[0];
  for (int i = 1; i < size; ++i) sum += n[i] * W[i];
  return sum;
}

namespace {

/// tr(D1^T D2) = (1 + 2 cos phi) times the sizes of the directors, which are shorter than 1 halfway between two configurations.
bool isFolded(const DirectorFrames& Y) {
  const auto D1 = Y[0].rightCols<3>(), D2 = Y[1].rightCols<3>();
  return !(D1.cwiseProduct(D2).sum() > D1.norm() * D2.norm() / 3);
}

}

double ElasticFrames::evaluate(int member, const DirectorFrames& Y, double, Vector24* gradient, Matrix24* hessian) const {
  const Member& m = members_[member];
  const auto B = strains_.gradient(Y);
  Vector6 e = strains_.values(B, Y) - m.unstrained;
  if (isFolded(Y)) e.setConstant(std::numeric_limits<double>::quiet_NaN());
  const Vector6 n = m.stiffness * e;
  if (gradient) gradient->noalias() = B.transpose() * n;
  if (hessian) {
    hessian->noalias() = B.transpose() * (m.stiffness * B).eval();
    addHessian(strains_.weights(n), 1, *hessian);
  }
  return 0.5 * e.dot(n);
}

void ElasticFrames::discreteGradient(int member, const DirectorFrames& Y0, const DirectorFrames& Y1, double, double, Vector24& gradient,
                                     Matrix24* byEnd) const {
  const Member& m = members_[member];
  const auto B0 = strains_.gradient(Y0), B1 = strains_.gradient(Y1);
  const StrainTable<FrameStrains>::Gradient B = 0.5 * (B0 + B1);
  const Vector6 n = m.stiffness * (0.5 * (strains_.values(B0, Y0) + strains_.values(B1, Y1)) - m.unstrained);
  gradient.noalias() = B.transpose() * n;
  if (!byEnd) return;
  byEnd->noalias() = 0.5 * B.transpose() * (m.stiffness * B1).eval();
  addHessian(strains_.weights(n), 0.5, *byEnd);
}

template <class Strains>
void ViscousFrames<Strains>::evaluate(int member, const DirectorFrames& Y, const DirectorFrames& rate, double, Vector24& force,
                                      Matrix24* stiffness, Matrix24* damping) const {
  const Member& m = members_[member];
  const auto B = strains_.gradient(Y), Bdot = strains_.gradient(rate);
  const Columns ydot = columnsOf(rate);
  const typename Table::Values n = m.damping * (B * Eigen::Map<const Vector24>(ydot.data())).eval();
  force.noalias() = -B.transpose() * n;
  if (damping) damping->noalias() = -B.transpose() * (m.damping * B).eval();
  if (!stiffness) return;
  stiffness->noalias() = -B.transpose() * (m.damping * Bdot).eval();
  addHessian(strains_.weights(n), -1, *stiffness);
}

template struct StrainTable<FrameStrains>;
template struct StrainTable<OriginStrains>;
template class ViscousFrames<FrameStrains>;
template class ViscousFrames<OriginStrains>;

namespace {

const StrainTable<FrameStrains>& frameStrainTable() {
  static const StrainTable<FrameStrains> strains;
  return strains;
}

Matrix34 directorsOf(const Pose& H) {
  Matrix34 columns;
  columns << H.x, H.R;
  return columns;
}

/// Of the frame at H: x' = R v, d_I' = R (omega x e_I).
Matrix34 rateOfDirectors(const Pose& H, const Vector6& twist) {
  Matrix34 rate;
  rate << H.R * twist.head<3>(), H.R * so3::hat(twist.tail<3>());
  return rate;
}

}

Vector6 frameStrains(const Pose& relative) {
  const DirectorFrames Y{directorsOf(Pose{}), directorsOf(relative)};
  return frameStrainTable().values(frameStrainTable().gradient(Y), Y);
}

Vector6 frameStrainRates(const Pose& relative, const Vector6& twist1, const Vector6& twist2) {
  const DirectorFrames Y{directorsOf(Pose{}), directorsOf(relative)};
  const Columns rates = columnsOf(DirectorFrames{rateOfDirectors(Pose{}, twist1), rateOfDirectors(relative, twist2)});
  return frameStrainTable().gradient(Y) * Eigen::Map<const Vector24>(rates.data());
}

}
