// SPDX-License-Identifier: BSD-3-Clause
#include "krylov/Ainvil_RowWeights.hpp"

#include "Ainvil_Error.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "backend/Ainvil_FiniteNumbers.hpp"
#include "product/Ainvil_VectorKernels.hpp"

#include <limits>

namespace ainvil {
namespace detail {
namespace {

/// The first row whose weight is not a positive finite number.
template <class Scalar, class Device>
struct FirstBadWeight {
  Vector<const Scalar, Device> weights;

  KOKKOS_FUNCTION void operator()(const Offset i, Offset& first) const {
    if (!(weights(i) > Scalar(0) && isFinite(weights(i))) && i < first)
      first = i;
  }
};

/// y_i = w_i y_i
template <class Scalar>
struct WeighRowsBody {
  const Scalar* w;
  KernelColumn<Scalar> y;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    y.moveTo(column);
    return true;
  }
  KOKKOS_INLINE_FUNCTION void row(Offset i) const { y[i] *= w[i]; }
};

/// y_i = alpha x_i / w_i + beta y_i
template <class Scalar>
struct DivideRowsBody {
  const Scalar* w;
  KernelColumn<const Scalar> x;
  KernelColumn<Scalar> y;
  double alpha, beta;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    x.moveTo(column);
    y.moveTo(column);
    return true;
  }
  KOKKOS_INLINE_FUNCTION void row(Offset i) const {
    double value = alpha * (double(x[i]) / w[i]);
    if (beta != 0) // else y may hold anything
      value += beta * y[i];
    y[i] = static_cast<Scalar>(value);
  }
};

} // namespace

template <class Scalar, class Device>
void checkWeights(const typename Device::execution_space& exec,
                  const Vector<const Scalar, Device>& weights, Offset n) {
  if (weights.extent(0) == 0)
    return;
  if (Offset(weights.extent(0)) != n)
    throw InvalidArgument(message("the norm of the residuals needs a weight a row, ", n,
                                  ", but there are ", weights.extent(0)));
  Offset bad = std::numeric_limits<Offset>::max();
  Kokkos::parallel_reduce("Ainvil::checkWeights",
                          Range<typename Device::execution_space>(exec, 0, n),
                          FirstBadWeight<Scalar, Device>{weights}, Kokkos::Min<Offset>(bad));
  if (bad < n)
    throw InvalidArgument(message("weights of residuals must be positive and finite, but that of ",
                                  counted("row", bad), " is ", readBack(exec, weights, bad)));
}

template <class Scalar, class Device>
void weighRows(const typename Device::execution_space& exec, const ColumnSet& columns,
               const Vector<const Scalar, Device>& weights, MultiVectorArg<Scalar, Device> y) {
  forRows<Device>(exec, "Ainvil::weighRows", y.extent(0), WeighRowsBody<Scalar>{weights.data(), y},
                  columns);
}

template <class Scalar, class Device>
void WeightedPreconditioner<Scalar, Device>::reserve(const execution_space& exec, Offset n,
                                                     int columns) {
  if (Offset(scaled_.extent(0)) == n && int(scaled_.extent(1)) >= columns)
    return;
  scaled_ = {}; // frees memory first
  scaled_ = allocateView<MultiVector<Scalar, Device>>(exec, "Ainvil::weighted", size_t(n),
                                                      size_t(columns));
}

template <class Scalar, class Device>
void WeightedPreconditioner<Scalar, Device>::set(const Operator* m,
                                                 const Vector<const Scalar, Device>& weights) {
  m_ = m;
  weights_ = weights;
}

template <class Scalar, class Device>
void WeightedPreconditioner<Scalar, Device>::apply(const execution_space& exec,
                                                   MultiVectorArg<const Scalar, Device> x,
                                                   MultiVectorArg<Scalar, Device> y, Trans,
                                                   Scalar alpha, Scalar beta) const {
  const int columns = static_cast<int>(x.extent(1));
  const auto divide = [&](MultiVectorArg<Scalar, Device> to, double a, double b) {
    forRows<Device>(exec, "Ainvil::divideRows", x.extent(0),
                    DivideRowsBody<Scalar>{weights_.data(), x, to, a, b},
                    ColumnSet::first(columns));
  };
  if (m_ == nullptr)
    return divide(y, alpha, beta);
  const MultiVectorArg<Scalar, Device> scaled =
      Kokkos::subview(scaled_, Kokkos::ALL(), std::make_pair(0, columns));
  divide(scaled, 1, 0);
  m_->apply(exec, scaled, y, Trans::No, alpha, beta);
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template void checkWeights<SCALAR, DEVICE>(const DEVICE::execution_space&,                       \
                                             const Vector<const SCALAR, DEVICE>&, Offset);         \
  template void weighRows<SCALAR, DEVICE>(const DEVICE::execution_space&, const ColumnSet&,        \
                                          const Vector<const SCALAR, DEVICE>&,                     \
                                          MultiVectorArg<SCALAR, DEVICE>);                         \
  template class WeightedPreconditioner<SCALAR, DEVICE>;
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
