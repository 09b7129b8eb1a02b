// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the solver tests share: small matrices in host memory, systems on the device, and tools
/// callbacks.

#include "Ainvil_BiCgStab.hpp"
#include "Ainvil_Cg.hpp"
#include "Ainvil_Gmres.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace ainvil {
namespace test {

using Device = DefaultDevice;
using Exec = Device::execution_space;
using Doubles = std::vector<double>;

/// A square sparse matrix in host memory.
struct HostCsr {
  std::vector<Offset> row_map{0};
  std::vector<Ordinal> columns;
  Doubles values;

  int size() const { return static_cast<int>(row_map.size()) - 1; }
  void add(Ordinal column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void endRow() { row_map.push_back(static_cast<Offset>(columns.size())); }

  Doubles times(const Doubles& x) const {
    Doubles y(size(), 0.0);
    for (int i = 0; i < size(); ++i)
      for (Offset e = row_map[i]; e < row_map[i + 1]; ++e)
        y[i] += values[e] * x[columns[e]];
    return y;
  }
};

/// A matrix from a function of (row, column); zeros are not stored.
inline HostCsr matrixOf(int n, const std::function<double(int, int)>& entry) {
  HostCsr a;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      if (entry(i, j) != 0)
        a.add(j, entry(i, j));
    a.endRow();
  }
  return a;
}

/// A matrix from its rows; zeros are not stored.
inline HostCsr matrixOf(const std::vector<Doubles>& rows) {
  return matrixOf(static_cast<int>(rows.size()), [&](int i, int j) { return rows[i][j]; });
}

inline HostCsr diagonalOf(const Doubles& d) {
  return matrixOf(static_cast<int>(d.size()), [&](int i, int j) { return i == j ? d[i] : 0.0; });
}

inline HostCsr inverseDiagonal(const HostCsr& a) {
  Doubles d;
  for (int i = 0; i < a.size(); ++i)
    for (Offset e = a.row_map[i]; e < a.row_map[i + 1]; ++e)
      if (a.columns[e] == i)
        d.push_back(1 / a.values[e]);
  return diagonalOf(d);
}

/// Five-point -Laplace u + (wind_x, wind_y) . grad u, central differences, on nx x ny points.
inline HostCsr convectionDiffusion(int nx, int ny, double wind_x = 0, double wind_y = 0) {
  HostCsr a;
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x) {
      const int i = y * nx + x;
      if (y > 0)
        a.add(i - nx, -1 - wind_y);
      if (x > 0)
        a.add(i - 1, -1 - wind_x);
      a.add(i, 4);
      if (x + 1 < nx)
        a.add(i + 1, -1 + wind_x);
      if (y + 1 < ny)
        a.add(i + nx, -1 + wind_y);
      a.endRow();
    }
  return a;
}

inline Doubles randomVector(int n, unsigned seed) {
  std::mt19937 generator(seed);
  Doubles x(n);
  for (double& value : x) // the same numbers with every standard library
    value = 2.0 * (generator() / 4294967296.0) - 1;
  return x;
}

inline double dot(const Doubles& x, const Doubles& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}
inline double norm(const Doubles& x) {
  return std::sqrt(dot(x, x));
}
inline Doubles minus(Doubles x, const Doubles& y) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] -= y[i];
  return x;
}

template <class Scalar>
Vector<Scalar, Device> toDevice(const Doubles& x) {
  const Vector<Scalar, Device> y("x", x.size());
  const auto host = Kokkos::create_mirror_view(y);
  for (size_t i = 0; i < x.size(); ++i)
    host(i) = static_cast<Scalar>(x[i]);
  Kokkos::deep_copy(y, host);
  return y;
}

template <class Scalar>
Doubles toHost(const Vector<Scalar, Device>& x) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  Doubles y(x.extent(0));
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = host(i);
  return y;
}

template <class Scalar>
MatrixOperator<Scalar, Device> toDevice(const HostCsr& a) {
  const Kokkos::View<Offset*, Device> row_map("row_map", a.row_map.size());
  const Kokkos::View<Ordinal*, Device> entries("entries", a.columns.size());
  const Kokkos::View<Scalar*, Device> values("values", a.values.size());
  const auto fill = [](const auto& view, const auto& source) {
    const auto host = Kokkos::create_mirror_view(view);
    for (size_t i = 0; i < source.size(); ++i)
      host(i) = static_cast<typename std::decay_t<decltype(view)>::value_type>(source[i]);
    Kokkos::deep_copy(view, host);
  };
  fill(row_map, a.row_map);
  fill(entries, a.columns);
  fill(values, a.values);
  return MatrixOperator<Scalar, Device>(
      BsrMatrix<Scalar, Device>(Graph<Device>(a.size(), a.size(), row_map, entries), values, 1));
}

/// Applies its matrices in turn, and counts. With more than one it is not fixed.
template <class Scalar = double>
class Sequence final : public LinearOperator<Scalar, Device> {
public:
  explicit Sequence(const std::vector<HostCsr>& matrices) {
    for (const HostCsr& matrix : matrices)
      operators_.emplace_back(new Operator(toDevice<Scalar>(matrix)));
  }
  explicit Sequence(const HostCsr& matrix) : Sequence(std::vector<HostCsr>{matrix}) {}

  Offset numPointRows() const override { return operators_[0]->numPointRows(); }
  Offset numPointCols() const override { return operators_[0]->numPointCols(); }
  void apply(const Exec& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans, Scalar alpha,
             Scalar beta) const override {
    operators_[count++ % operators_.size()]->apply(exec, x, y, trans, alpha, beta);
  }
  bool isFixed() const override { return operators_.size() == 1; }
  std::string objection() const override { return complaint; }

  mutable size_t count = 0;
  std::string complaint;

private:
  using Operator = MatrixOperator<Scalar, Device>;
  std::vector<std::unique_ptr<const Operator>> operators_;
};

/// A hundred diagonal matrices with random entries from 1 / factor to factor, no two alike.
inline std::vector<HostCsr> randomScalings(int n, double factor = 2) {
  std::vector<HostCsr> scalings;
  for (int k = 0; k < 100; ++k) {
    Doubles d = randomVector(n, 100 + k);
    for (double& value : d)
      value = std::pow(factor, value);
    scalings.push_back(diagonalOf(d));
  }
  return scalings;
}

/// Result and solution of one solve of A x = b.
struct Solved {
  SolveResult result;
  Doubles x;

  bool isFinite() const {
    for (const double value : x)
      if (!std::isfinite(value))
        return false;
    return true;
  }
};

/// FGMRES as a class of its own, as the other methods are.
template <class Scalar, class Device>
class Fgmres final : public Gmres<Scalar, Device> {
public:
  explicit Fgmres(SolverOptions options = {})
      : Gmres<Scalar, Device>(std::move(options), Flexible::Yes) {}
};

/// `Solver` is Gmres, Cg, ...; without x0 the initial guess is 0.
template <template <class, class> class Solver, class Scalar = double>
Solved solveWithOperator(const SolverOptions& options, const HostCsr& a, const Doubles& b,
                         const LinearOperator<Scalar, Device>* m, Doubles x0 = {}) {
  x0.resize(b.size(), 0.0);
  const auto x = toDevice<Scalar>(x0);
  Solver<Scalar, Device> solver(options);
  Solved solved;
  solved.result = solver.solve(Exec(), toDevice<Scalar>(a), m, toDevice<Scalar>(b), x);
  solved.x = toHost<Scalar>(x);
  return solved;
}

template <template <class, class> class Solver, class Scalar = double>
Solved solveWith(const SolverOptions& options, const HostCsr& a, const Doubles& b,
                 const HostCsr* m = nullptr, const Doubles& x0 = {}) {
  const auto m_device = toDevice<Scalar>(m ? *m : a);
  return solveWithOperator<Solver, Scalar>(options, a, b, m ? &m_device : nullptr, x0);
}

/// ||b - A x|| / ||b|| in host arithmetic.
inline double relativeResidual(const HostCsr& a, const Doubles& b, const Doubles& x) {
  return norm(minus(b, a.times(x))) / norm(b);
}

inline SolverOptions options(double tolerance, int max_iterations, int restart = 30,
                             int check_interval = 0) {
  SolverOptions o;
  o.tolerance = tolerance;
  o.max_iterations = max_iterations;
  o.restart = restart;
  o.check_interval = check_interval;
  return o;
}

inline void expectSameHistory(const Doubles& a, const Doubles& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], tolerance) << "at iteration " << i;
}

/// Records what Kokkos tells its tools while it lives.
class ToolsRecorder {
public:
  ToolsRecorder() {
    allocations = 0;
    bytes = 0;
    labels.clear();
    using namespace Kokkos::Tools::Experimental;
    set_allocate_data_callback(
        [](const Kokkos::Tools::SpaceHandle, const char*, const void*, const uint64_t size) {
          allocations += size > 0; // Kokkos for CUDA asks for team scratch of no bytes
          bytes += size;
        });
    const auto record = [](const char* label, const uint32_t, uint64_t*) {
      labels.push_back(label);
    };
    set_begin_parallel_for_callback(record);
    set_begin_parallel_reduce_callback(record);
  }
  ~ToolsRecorder() {
    using namespace Kokkos::Tools::Experimental;
    set_allocate_data_callback(nullptr);
    set_begin_parallel_for_callback(nullptr);
    set_begin_parallel_reduce_callback(nullptr);
  }
  static int count(const std::string& label) {
    int n = 0;
    for (const std::string& l : labels)
      n += l == label;
    return n;
  }
  static inline int allocations = 0;
  static inline uint64_t bytes = 0;
  static inline std::vector<std::string> labels;
};

} // namespace test
} // namespace ainvil
