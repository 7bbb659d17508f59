// Small dense matrices for fits and draws. Eigen does the work; only linear_algebra.cpp includes
// it, since its headers and templates take seconds to compile.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ridgeline {

using Vector = std::vector<double>;

class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns)
      : rows_(rows), columns_(columns), values_(rows * columns, 0.0) {}

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  double& operator()(std::size_t row, std::size_t column) { return values_[column * rows_ + row]; }
  double operator()(std::size_t row, std::size_t column) const {
    return values_[column * rows_ + row];
  }
  std::span<double> column(std::size_t i) { return {values_.data() + i * rows_, rows_}; }
  std::span<const double> column(std::size_t i) const {
    return {values_.data() + i * rows_, rows_};
  }
  const Vector& values() const { return values_; }  // column by column

 private:
  std::size_t rows_ = 0, columns_ = 0;
  Vector values_;
};

double dot(std::span<const double> a, std::span<const double> b);
Vector product(const Matrix& a, const Vector& x);              // A x
Vector transposed_product(const Matrix& a, const Vector& x);   // Aᵀ x
Matrix weighted_gram(const Matrix& a, const Vector& weights);  // Aᵀ diag(weights) A

// Symmetric matrices.
Vector solve_symmetric(const Matrix& a, const Vector& right);  // A⁻¹ right
Matrix inverse_symmetric(const Matrix& a);
// Of a normal distribution around zero, but for a constant.
double log_normal_density(const Matrix& covariance, const Vector& x);
std::optional<Matrix> root(const Matrix& covariance);  // R Rᵀ; none if it is not semi-definite

// Tall matrices: the x of least |A x − right|, and (AᵀA)⁻¹; none if columns are linearly dependent.
std::optional<Vector> least_squares(const Matrix& a, const Vector& right);
std::optional<Matrix> inverse_gram(const Matrix& a);

}  // namespace ridgeline
