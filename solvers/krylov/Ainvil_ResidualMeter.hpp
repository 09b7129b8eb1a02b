// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Norms and true residuals.

#include "Ainvil_LinearOperator.hpp"
#include "backend/Ainvil_ColumnSet.hpp"
#include "backend/Ainvil_Reduction.hpp"
#include "backend/Ainvil_SumTeams.hpp"
#include "krylov/Ainvil_RowWeights.hpp"

#include <array>
#include <utility>

namespace ainvil {
namespace detail {

/// y = alpha A x + beta y for some columns: a pass over the operator for each run of neighbours.
/// Where `fill` columns or fewer lie between two runs, which may be written to, they share a pass.
template <class Scalar, class Device>
void applyToColumns(const typename Device::execution_space& exec,
                    const LinearOperator<Scalar, Device>& a, const ColumnSet& columns,
                    MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> y,
                    int fill, Scalar alpha = 1, Scalar beta = 0) {
  for (int k = 0; k < columns.size();) {
    const int first = columns[k];
    int last = first;
    for (++k; k < columns.size() && columns[k] - last <= fill + 1; ++k)
      last = columns[k];
    const auto range = std::make_pair(first, last + 1);
    a.apply(exec, Kokkos::subview(x, Kokkos::ALL(), range),
            Kokkos::subview(y, Kokkos::ALL(), range), Trans::No, alpha, beta);
  }
}

/// A product with up to so many columns more costs less than a pass of its own.
constexpr int cheap_columns = 3;

/// What a residual vector holds.
enum class Residual {
  Plain,   ///< r = b - A x
  Weighted ///< W r
};

/// Measures columns of a fixed length, of one process or, with a reduction, spread over several.
/// Every measurement waits for the instance, once for all columns.
template <class Scalar, class Device>
class ResidualMeter {
public:
  using execution_space = typename Device::execution_space;
  using VectorIn = MultiVectorArg<const Scalar, Device>;
  using VectorOut = MultiVectorArg<Scalar, Device>;
  using Weights = Vector<const Scalar, Device>; ///< w; empty: the norm is the 2-norm

  ResidualMeter() = default;
  ResidualMeter(const execution_space& exec, Offset n, const Reduction<Device>* reduction,
                int columns)
      : reduction_(reduction), shape_(SumTeams::forRows(exec, n)),
        sums_(exec, 2, shape_, reduction, columns),
        result_(allocateZeros<double, Device>(exec, "Ainvil::norm", 2 * columns)),
        host_result_(hostMirror(result_)) {}

  struct Norm {
    double two = 0;      ///< ||W x||_2; 0 also where the squares underflow, Inf where they overflow
    bool is_zero = true; ///< all entries are 0
  };
  /// Of each column; those that were not measured are 0.
  using Norms = std::array<Norm, ColumnSet::capacity>;

  Norms norms(const execution_space& exec, const ColumnSet& columns, VectorIn x,
              const Weights& weights);

  /// r = b - A x, or W (b - A x); returns ||W (b - A x)||, NaN if x is not finite, be it where A
  /// has no entries.
  Norms residuals(const execution_space& exec, const LinearOperator<Scalar, Device>& a,
                  const ColumnSet& columns, VectorIn b, VectorIn x, VectorOut r,
                  const Weights& weights, Residual kept);

private:
  template <class Body>
  Norms measure(const execution_space& exec, const ColumnSet& columns, Offset n, const Body& body);

  const Reduction<Device>* reduction_ = nullptr; ///< the owner's
  SumTeams shape_;
  PartialSums<Device> sums_;
  Kokkos::View<double*, Device> result_;
  typename Kokkos::View<double*, Device>::HostMirror host_result_;
};

} // namespace detail
} // namespace ainvil
