// LDLT by Eigen for symmetric matrices, since it also handles semi-definite ones. Tall matrices
// have three columns here; Eigen's blocked QR would double the compile time of this file.
#include "roofline/model/linear_algebra.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ridgeline {
namespace {

using Eigen::Index;

Eigen::Map<const Eigen::MatrixXd> map(const Matrix& a) {
  return {a.values().data(), static_cast<Index>(a.rows()), static_cast<Index>(a.columns())};
}

Eigen::Map<const Eigen::VectorXd> map(std::span<const double> x) {
  return {x.data(), static_cast<Index>(x.size())};
}

Vector plain(const Eigen::VectorXd& x) { return {x.data(), x.data() + x.size()}; }

// A = Q R by the modified Gram-Schmidt process.
struct Factors {
  Matrix q, r;
  bool full_rank = true;
};

Factors factorize(const Matrix& a) {
  Factors factors{a, Matrix(a.columns(), a.columns())};
  Matrix& q = factors.q;
  double longest = 0;
  for (std::size_t i = 0; i < a.columns(); ++i) {
    const double length = std::sqrt(dot(q.column(i), q.column(i)));
    longest = std::max(longest, length);
    if (!(length > 1e-10 * longest)) {
      factors.full_rank = false;
      return factors;
    }
    factors.r(i, i) = length;
    for (double& value : q.column(i)) value /= length;
    for (std::size_t j = i + 1; j < a.columns(); ++j) {
      const double along = dot(q.column(i), q.column(j));
      factors.r(i, j) = along;
      for (std::size_t row = 0; row < a.rows(); ++row) q(row, j) -= along * q(row, i);
    }
  }
  return factors;
}

// R x = y with an upper triangular R.
Vector solve_triangle(const Matrix& r, Vector y) {
  for (std::size_t i = y.size(); i-- > 0;) {
    for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= r(i, j) * y[j];
    y[i] /= r(i, i);
  }
  return y;
}

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

Vector product(const Matrix& a, const Vector& x) {
  Vector result(a.rows(), 0.0);
  for (std::size_t c = 0; c < a.columns(); ++c)
    for (std::size_t r = 0; r < a.rows(); ++r) result[r] += a(r, c) * x[c];
  return result;
}

Vector transposed_product(const Matrix& a, const Vector& x) {
  Vector result;
  for (std::size_t c = 0; c < a.columns(); ++c) result.push_back(dot(a.column(c), x));
  return result;
}

Matrix weighted_gram(const Matrix& a, const Vector& weights) {
  Matrix result(a.columns(), a.columns());
  Vector weighted(a.rows());
  for (std::size_t i = 0; i < a.columns(); ++i) {
    for (std::size_t r = 0; r < a.rows(); ++r) weighted[r] = weights[r] * a(r, i);
    for (std::size_t j = 0; j <= i; ++j) result(i, j) = result(j, i) = dot(weighted, a.column(j));
  }
  return result;
}

Vector solve_symmetric(const Matrix& a, const Vector& right) {
  return plain(Eigen::VectorXd(Eigen::LDLT<Eigen::MatrixXd>(map(a)).solve(map(right))));
}

Matrix inverse_symmetric(const Matrix& a) {
  const Eigen::LDLT<Eigen::MatrixXd> factors(map(a));
  Matrix result(a.rows(), a.rows());
  // Column by column: Eigen's solver for many right sides takes as long to compile as the rest.
  for (std::size_t i = 0; i < a.rows(); ++i) {
    Vector unit(a.rows(), 0.0);
    unit[i] = 1;
    const Eigen::VectorXd column = factors.solve(map(unit));
    std::copy(column.begin(), column.end(), result.column(i).begin());
  }
  return result;
}

double log_normal_density(const Matrix& covariance, const Vector& x) {
  const Eigen::LDLT<Eigen::MatrixXd> factors(map(covariance));
  const Vector solved = plain(factors.solve(map(x)));
  const Vector pivots = plain(factors.vectorD());
  double sum = dot(x, solved);
  for (const double pivot : pivots) sum += std::log(pivot);
  return -sum / 2;
}

std::optional<Matrix> root(const Matrix& covariance) {
  if (covariance.rows() == 0) return Matrix();
  const Eigen::LDLT<Eigen::MatrixXd> factors(map(covariance));
  const Eigen::VectorXd diagonal = factors.vectorD();
  if (factors.info() != Eigen::Success || diagonal.minCoeff() < -1e-6 * diagonal.maxCoeff())
    return std::nullopt;
  Eigen::MatrixXd lower = factors.matrixL();
  lower = factors.transpositionsP().transpose() * lower;
  Matrix result(covariance.rows(), covariance.rows());
  for (Index c = 0; c < lower.cols(); ++c) {
    const double scale = std::sqrt(std::max(0.0, diagonal[c]));
    for (Index r = 0; r < lower.rows(); ++r)
      result(static_cast<std::size_t>(r), static_cast<std::size_t>(c)) = scale * lower(r, c);
  }
  return result;
}

std::optional<Vector> least_squares(const Matrix& a, const Vector& right) {
  const Factors factors = factorize(a);
  if (!factors.full_rank) return std::nullopt;
  return solve_triangle(factors.r, transposed_product(factors.q, right));
}

std::optional<Matrix> inverse_gram(const Matrix& a) {
  const Factors factors = factorize(a);
  if (!factors.full_rank) return std::nullopt;
  const std::size_t size = a.columns();
  Matrix inverse(size, size);  // of R, transposed
  for (std::size_t i = 0; i < size; ++i) {
    Vector unit(size, 0.0);
    unit[i] = 1;
    const Vector column = solve_triangle(factors.r, std::move(unit));
    for (std::size_t r = 0; r < size; ++r) inverse(i, r) = column[r];
  }
  return weighted_gram(inverse, Vector(size, 1.0));
}

}  // namespace ridgeline
