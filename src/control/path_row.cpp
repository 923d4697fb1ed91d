#include "tendril/control/path_row.h"

namespace tendril {

double PathRow::value(const VectorX& y) const {
  double sum = constant;
  for (const Term& term : products) sum += term.value * y[term.i] * y[term.j];
  for (const auto& [i, factor] : linear) sum += factor * y[i];
  return sum;
}

void PathRow::addGradient(const VectorX& y, double scale, VectorX& gradient) const {
  for (const Term& term : products) {
    gradient[term.i] += scale * term.value * y[term.j];
    gradient[term.j] += scale * term.value * y[term.i];
  }
  for (const auto& [i, factor] : linear) gradient[i] += scale * factor;
}

void PathRow::addHessian(double scale, const MatrixX& Y, MatrixX& H) const {
  for (const Term& term : products) {
    H.row(term.i) += scale * term.value * Y.row(term.j);
    H.row(term.j) += scale * term.value * Y.row(term.i);
  }
}

std::vector<PathRow> holdConfiguration(const std::string& name, const VectorX& target, const MatrixX& basis, const VectorX& unit) {
  std::vector<PathRow> rows;
  for (Eigen::Index k = 0; k < basis.cols(); ++k) {
    PathRow row{.name = name + ", freedom " + std::to_string(k + 1), .products = {}, .linear = {}};
    for (Eigen::Index i = 0; i < basis.rows(); ++i) {
      if (basis(i, k) == 0) continue;
      const double factor = basis(i, k) / unit[i];
      row.linear.emplace_back(int(i), factor);
      row.constant -= factor * target[i];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

PathRow markerCoordinate(const std::string& name, const Marker& marker, const Vector3& direction, double offset) {
  const DirectorFrame frame = marker.directors();
  PathRow row{.name = name, .products = {}, .linear = {}, .constant = -offset};
  if (frame.count == 0) row.constant += direction.dot(frame.at({}, 0).col(0));
  for (int k = 0; k < frame.count; ++k)
    for (int column = 0; column < 4; ++column)
      for (int i = 0; i < 3; ++i) {
        const double factor = frame.weights[k] * frame.offset(column, 0) * direction[i];
        if (factor != 0) row.linear.emplace_back(frame.q[k] + 3 * column + i, factor);
      }
  return row;
}

std::vector<PathRow> holdOrientation(const std::string& name, const Marker& marker, const Matrix3& target) {
  const DirectorFrame frame = marker.directors();
  std::vector<PathRow> rows;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    PathRow row{.name = name + ", rotation " + std::to_string(i + 1), .products = {}, .linear = {}};
    // (t_l . d_j - t_j . d_l)/2
    const auto add = [&](int director, const Vector3& t) {
      for (int k = 0; k < frame.count; ++k)
        for (int column = 1; column < 4; ++column)
          for (int c = 0; c < 3; ++c) {
            const double factor = 0.5 * frame.weights[k] * frame.offset(column, director + 1) * t[c];
            if (factor != 0) row.linear.emplace_back(frame.q[k] + 3 * column + c, factor);
          }
    };
    add(j, target.col(l));
    add(l, -target.col(j));
    rows.push_back(std::move(row));
  }
  return rows;
}

PathRow cosineOfTurn(const std::string& name, int firstCoordinate, int n) {
  PathRow row{.name = name, .products = {}, .linear = {}, .constant = -0.5};
  for (int i = 3; i < 12; ++i) row.products.push_back({firstCoordinate + i, n + firstCoordinate + i, 0.5});
  return row;
}

}
