// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Norms and true residuals.

#include "Ainvil_LinearOperator.hpp"
#include "backend/Ainvil_Reduction.hpp"
#include "backend/Ainvil_SumTeams.hpp"

namespace ainvil {
namespace detail {

/// Measures vectors of a fixed length, of one process or, with a reduction, spread over several.
/// Every measurement waits for the instance.
template <class Scalar, class Device>
class ResidualMeter {
public:
  using execution_space = typename Device::execution_space;
  using VectorIn = MultiVectorArg<const Scalar, Device>;
  using VectorOut = MultiVectorArg<Scalar, Device>;

  ResidualMeter() = default;
  ResidualMeter(const execution_space& exec, Offset n, const Reduction<Device>* reduction)
      : reduction_(reduction), shape_(SumTeams::forRows(exec, n)),
        sums_(exec, 2, shape_, reduction != nullptr),
        result_(allocateZeros<double, Device>(exec, "Ainvil::norm", 2)),
        host_result_(hostMirror(result_)) {}

  struct Norm {
    double two;   ///< 2-norm; 0 also where the squares underflow, Inf where they overflow
    bool is_zero; ///< all entries are 0
  };

  Norm norm(const execution_space& exec, VectorIn x);

  /// r = b - A x; returns ||r||, NaN if x is not finite, be it where A has no entries.
  double residual(const execution_space& exec, const LinearOperator<Scalar, Device>& a, VectorIn b,
                  VectorIn x, VectorOut r);

private:
  template <class Body>
  Norm measure(const execution_space& exec, Offset n, const Body& body);

  const Reduction<Device>* reduction_ = nullptr; ///< the owner's
  SumTeams shape_;
  PartialSums<Device> sums_;
  Kokkos::View<double*, Device> result_;
  typename Kokkos::View<double*, Device>::HostMirror host_result_;
};

} // namespace detail
} // namespace ainvil
