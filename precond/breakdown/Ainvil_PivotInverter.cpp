// SPDX-License-Identifier: BSD-3-Clause
#include "breakdown/Ainvil_PivotInverter.hpp"

#include "backend/Ainvil_Counted.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "breakdown/Ainvil_PivotBreakdown.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {
namespace {

/// Alpha is doubled so often at most: what a factorisation survives at all is behind it by then.
constexpr int most_shifts = 64;

/// s_i = max over j of |a_ij| for the point rows i of a block row, BS = 0 for a block size known at
/// run time only. The lanes share the blocks.
template <int BS, class Scalar, class Device>
struct RowSizes {
  KernelMatrix<const Scalar> a;
  KernelArray<Scalar> sizes;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const int bs = BS > 0 ? BS : a.block_size;
    const Offset begin = a.graph.row_map(row), end = a.graph.row_map(row + 1);
    for (int r = 0; r < bs; ++r) {
      Scalar largest = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, static_cast<Ordinal>(end - begin)),
          [&](const Ordinal k, Scalar& partial) {
            const Scalar* block_row = a.values.data() + ((begin + k) * bs + r) * bs;
            for (int c = 0; c < bs; ++c) {
              const Scalar size = compat::math::fabs(block_row[c]);
              partial = size > partial ? size : partial;
            }
          },
          Kokkos::Max<Scalar>(largest));
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        sizes(Offset(row) * bs + r) = largest > Scalar(0) ? largest : Scalar(0); // without entries
      });
    }
  }
};

/// Under the policy `fail`.
Remedies pivotRemedies(bool positive) {
  const Remedy policy = {"choose the breakdown policy 'shift' or 'replace'"};
  if (positive)
    return Remedies{
        {"is the matrix positive definite? Scale or reorder it"}, {"take a higher level"}, policy};
  return Remedies{{"exchange rows (match=product of ilu does it)", "match"},
                  {"scale the matrix", "scale"},
                  {"reorder the matrix", "reorder"},
                  policy};
}

} // namespace

template <class Scalar, class Device>
PivotInverter<Scalar, Device>::PivotInverter(const execution_space& exec, BreakdownPolicy policy,
                                             double shift, double tolerance,
                                             const Kokkos::View<Scalar*, Device>& row_sizes,
                                             bool positive)
    : row_sizes_(row_sizes), breakdowns_(allocate<Ordinal, Device>(exec, "Ainvil::breakdowns", 2)) {
  static_cast<PivotInversion<Scalar>&>(*this) = {
      policy,      static_cast<Scalar>(shift), static_cast<Scalar>(tolerance), positive, row_sizes_,
      breakdowns_, DiagonalChange<Scalar>()};
}

template <class Scalar, class Device>
void PivotInverter<Scalar, Device>::start(const execution_space& exec,
                                          const BsrMatrix<Scalar, Device>& a) const {
  findRowSizes<Scalar, Device>(exec, a, row_sizes_);
  forget(exec);
}

template <class Scalar, class Device>
void PivotInverter<Scalar, Device>::forget(const execution_space& exec) const {
  Kokkos::deep_copy(exec, breakdowns_, 0);
}

template <class Scalar, class Device>
Ordinal PivotInverter<Scalar, Device>::count(const execution_space& exec) const {
  return readBack(exec, breakdowns_, 0);
}

template <class Scalar, class Device>
void PivotInverter<Scalar, Device>::check(const execution_space& exec, Report& report) const {
  const Ordinal count = this->count(exec);
  if (count == 0)
    return;
  const Ordinal first = INT_MAX - readBack(exec, breakdowns_, 1);
  if (this->policy == BreakdownPolicy::Fail)
    throw PivotBreakdown(
        message(count, count == 1 ? " pivot block is" : " pivot blocks are",
                this->positive ? " not positive definite to rounding" : " singular to rounding",
                " or not finite, the first in ", counted("block row", first)),
        pivotRemedies(this->positive));
  report.breakdowns = count;
  report.first_breakdown = first;
}

template <class Scalar, class Device>
double PivotInverter<Scalar, Device>::growShift(const execution_space& exec, double first,
                                                Report& report,
                                                const std::function<void()>& factor) {
  double alpha = first;
  for (int attempts = 2;; ++attempts, alpha *= 2) {
    this->change.alpha = static_cast<Scalar>(alpha);
    factor();
    if (count(exec) == 0) {
      report.note(message("shift=", alpha));
      report.note(message("factorizations=", attempts));
      return alpha;
    }
    if (attempts > most_shifts)
      throw PivotBreakdown(message("no factor of A + alpha diag(A) has pivots that are ",
                                   this->positive ? "positive definite" : "regular",
                                   " up to alpha = ", alpha),
                           Remedies{{"scale the matrix", "scale"}});
  }
}

template <class Scalar, class Device>
void findRowSizes(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                  const Kokkos::View<Scalar*, Device>& sizes) {
  dispatchBlockSize(a.block_size, [&](auto bs) {
    forEachRow(exec, "Ainvil::findRowSizes", a.numRows(), teamsForRowsOf(a.graph),
               RowSizes<decltype(bs)::value, Scalar, Device>{a, sizes});
  });
}

template <class Device>
Ordinal checkDiagonal(const typename Device::execution_space& exec, const Graph<Device>& graph,
                      BreakdownPolicy policy) {
  Ordinal first = -1;
  const Ordinal missing = countMissingDiagonals(exec, graph, first);
  if (missing > 0 && policy == BreakdownPolicy::Fail)
    throw InvalidArgument(
        message("the diagonal block of ", missing, missing == 1 ? " block row" : " block rows",
                " is missing, the first in ", counted("block row", first),
                ": exchange rows (match=product of ilu does it), or choose the breakdown policy "
                "'shift' or 'replace'"));
  return missing;
}

AINVIL_INSTANTIATE_CLASS(PivotInverter)
#define AINVIL_INSTANTIATE_SCALAR(SCALAR, DEVICE)                                                  \
  template void findRowSizes<SCALAR, DEVICE>(const typename DEVICE::execution_space&,              \
                                             const BsrMatrix<SCALAR, DEVICE>&,                     \
                                             const Kokkos::View<SCALAR*, DEVICE>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE_SCALAR)
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template Ordinal checkDiagonal<DEVICE>(const typename DEVICE::execution_space&,                  \
                                         const Graph<DEVICE>&, BreakdownPolicy);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
