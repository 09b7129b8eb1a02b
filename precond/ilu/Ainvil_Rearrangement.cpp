// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_Rearrangement.hpp"

#include "Ainvil_Ordering.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

namespace ainvil {

std::string RearrangementParameters::description() const {
  std::string text;
  if (match == RowMatching::Product)
    text += ", match: product";
  if (scale == MatrixScaling::Ruiz)
    text += ", scale: ruiz";
  if (order != Ordering::Natural)
    text += message(", reorder: ", nameOf(order));
  return text;
}

namespace detail {
namespace {

/// The power of 2 at or below a positive number: its exponent without its fraction. So far from the
/// ends of the range that the product of two of them is a number.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar powerOfTwo(Scalar factor) {
  using Bits = std::conditional_t<sizeof(Scalar) == 8, std::uint64_t, std::uint32_t>;
  constexpr Bits exponent = sizeof(Scalar) == 8 ? Bits(0x7ff0000000000000u) : Bits(0x7f800000u);
  constexpr Scalar largest = sizeof(Scalar) == 8 ? Scalar(0x1p500) : Scalar(0x1p60f);
  constexpr Scalar smallest = 1 / largest;
  factor = factor > largest ? largest : factor > smallest ? factor : smallest;
  Bits bits;
  memcpy(&bits, &factor, sizeof bits);
  bits &= exponent;
  memcpy(&factor, &bits, sizeof bits);
  return factor;
}

template <class Scalar>
struct RoundToPowers {
  KernelArray<Scalar> rows, columns;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    rows(i) = powerOfTwo(rows(i));
    columns(i) = powerOfTwo(columns(i));
  }
};

/// Block row k of B: r_i a_ij c_j with i = P(k) and j = Q(l) for its columns l, a lane an entry of
/// a block.
template <class Scalar>
struct ScaledRow {
  KernelMatrix<Scalar> b;
  KernelArray<const Ordinal> row_of, column_of;
  KernelArray<const Offset> source;
  KernelArray<const Scalar> values, rows, columns;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal k, void*) const {
    const int bs = b.block_size;
    const Offset bs2 = Offset(bs) * bs, begin = b.graph.row_map(k);
    const Offset first_row = Offset(row_of(k)) * bs;
    forLanes(member, (b.graph.row_map(k + 1) - begin) * bs2, [&](const Offset item) {
      const Offset e = begin + item / bs2, within = item % bs2;
      const Offset j = Offset(column_of(b.graph.entries(e))) * bs + within % bs;
      b.values(e * bs2 + within) =
          values(source(e) * bs2 + within) * (rows(first_row + within / bs) * columns(j));
    });
  }
};

/// y_i = f_s x_s or f_i x_s with s = source(i) in blocks, f = 1 where there are no factors.
template <class Scalar>
struct MoveRows {
  KernelArray<const Ordinal> source;
  KernelArray<const Scalar> factors;
  KernelColumns<const Scalar> x;
  KernelColumns<Scalar> y;
  int block_size, num_columns;
  bool factor_of_source;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    const Offset row = i / block_size;
    const Offset from = Offset(source(row)) * block_size + (i - row * block_size);
    const Scalar factor =
        factors.data() == nullptr ? Scalar(1) : factors(factor_of_source ? from : i);
    for (int c = 0; c < num_columns; ++c)
      y(i, c) = factor * x(from, c);
  }
};

template <class Scalar, class Device>
void moveRows(const typename Device::execution_space& exec, const char* label,
              const Kokkos::View<const Ordinal*, Device>& source,
              const Vector<Scalar, Device>& factors, bool factor_of_source,
              const MultiVectorArg<const Scalar, Device>& x,
              const MultiVectorArg<Scalar, Device>& y) {
  const Offset rows = y.extent(0), blocks = source.extent(0);
  if (rows == 0)
    return;
  Kokkos::parallel_for(
      label, Range<typename Device::execution_space>(exec, 0, rows),
      withinArguments(MoveRows<Scalar>{source, factors, x, y, static_cast<int>(rows / blocks),
                                       static_cast<int>(y.extent(1)), factor_of_source}));
}

/// One factor a block row as one a point row, on the device.
template <class Scalar, class Device>
void copyFactors(const typename Device::execution_space& exec,
                 const Kokkos::View<const double*, HostDevice>& blocks, int block_size,
                 const Vector<Scalar, Device>& to) {
  const auto points = hostMirror(to);
  for (size_t i = 0; i < points.extent(0); ++i)
    points(i) = powerOfTwo(static_cast<Scalar>(blocks(i / block_size)));
  Kokkos::deep_copy(exec, to, points);
  compat::fence(exec, "Ainvil::Rearrangement[factors]"); // before the array of the host goes
}

} // namespace

template <class Scalar, class Device>
void Rearrangement<Scalar, Device>::initialize(const execution_space& exec, const Matrix& a,
                                               Report& report) {
  rows_ = columns_ = {};
  pattern_ = {};
  scaling_ = norms_ = {};
  matrix_ = {};
  const auto vector = [&] {
    return allocateView<Vector<Scalar, Device>>(exec, "Ainvil::scaling", a.numPointRows());
  };
  if (scales())
    scaling_ = {vector(), vector()};
  if (parameters_.scale == MatrixScaling::Ruiz)
    norms_ = {vector(), vector()};
  matrix_.values = allocate<Scalar, Device>(exec, "Ainvil::values", a.values.extent(0));
  if (followsValues())
    return;
  report.phases.time(exec, "Ilu", "ilu_reorder", [&] {
    const Graph<HostDevice> graph =
        parameters_.order == Ordering::Natural ? Graph<HostDevice>() : copyTo<HostDevice>(a.graph);
    if (parameters_.order == Ordering::Natural)
      rows_ = columns_ = identityPermutation<Device>(exec, a.numRows());
    else
      rows_ = columns_ = copyTo<Device>(ordering(parameters_.order, graph));
    pattern_ = permuted(exec, rows_, columns_, a.graph);
    matrix_ = Matrix(pattern_.graph, matrix_.values, a.block_size);
  });
}

template <class Scalar, class Device>
void Rearrangement<Scalar, Device>::find(const execution_space& exec, const Matrix& a,
                                         Report& report,
                                         const std::function<void(Offset)>& progress) {
  using HostExec = HostDevice::execution_space;
  Graph<HostDevice> graph;
  Permutation<HostDevice> matched;
  report.phases.time(exec, "Ilu", "ilu_match", [&] {
    const BsrMatrix<Scalar, HostDevice> on_host = copyTo<HostDevice>(a);
    const Matching matching = maximumProductMatching(on_host, progress);
    num_matched_ = matching.num_matched;
    copyFactors<Scalar, Device>(exec, matching.row_scaling, a.block_size, scaling_.rows);
    copyFactors<Scalar, Device>(exec, matching.column_scaling, a.block_size, scaling_.columns);
    matched = makePermutation<HostDevice>(HostExec(), matching.row_of);
    graph = on_host.graph;
  });
  report.phases.time(exec, "Ilu", "ilu_reorder", [&] {
    Permutation<HostDevice> rows = matched;
    columns_ = identityPermutation<Device>(exec, a.numRows());
    if (parameters_.order != Ordering::Natural) {
      const auto same = identityPermutation<HostDevice>(HostExec(), a.numRows());
      const auto order =
          ordering(parameters_.order, permuted(HostExec(), matched, same, graph).graph);
      const auto composed =
          allocate<Ordinal, HostDevice>(HostExec(), "Ainvil::new_to_old", size_t(a.numRows()));
      for (Ordinal k = 0; k < a.numRows(); ++k)
        composed(k) = matched.new_to_old(order.new_to_old(k));
      rows = makePermutation<HostDevice>(HostExec(), composed);
      columns_ = copyTo<Device>(order);
    }
    rows_ = copyTo<Device>(rows);
    pattern_ = permuted(exec, rows_, columns_, a.graph);
    matrix_ = Matrix(pattern_.graph, matrix_.values, a.block_size);
  });
}

template <class Scalar, class Device>
void Rearrangement<Scalar, Device>::update(const execution_space& exec, const Matrix& a) {
  if (!scales()) {
    gatherBlocks<Scalar, Device>(exec, Trans::No, pattern_.source, a.block_size, a.values,
                                 matrix_.values);
    return;
  }
  if (parameters_.scale == MatrixScaling::Ruiz) {
    equilibrate(exec, a, scaling_, norms_);
    Kokkos::parallel_for("Ainvil::Rearrangement[round]",
                         Range<execution_space>(exec, 0, a.numPointRows()),
                         RoundToPowers<Scalar>{scaling_.rows, scaling_.columns});
  }
  forEachRow(exec, "Ainvil::Rearrangement[values]", a.numRows(),
             teamsForRowsOf(a.graph, a.block_size * a.block_size),
             ScaledRow<Scalar>{matrix_, rows_.new_to_old, columns_.new_to_old, pattern_.source,
                               a.values, scaling_.rows, scaling_.columns});
}

template <class Scalar, class Device>
std::string Rearrangement<Scalar, Device>::remark() const {
  std::string text;
  if (followsValues() || parameters_.order != Ordering::Natural)
    text = " (block rows in the order of" + parameters_.description().substr(1) + ")";
  if (followsValues() && num_matched_ < rows_.numRows())
    text += message("; only ", num_matched_, " of ", rows_.numRows(),
                    " block rows can be matched with a block column of their own, so the matrix "
                    "is singular whatever its nonzero values");
  return text;
}

template <class Scalar, class Device>
Ordinal Rearrangement<Scalar, Device>::originalRow(const execution_space& exec, Ordinal k) const {
  return readBack(exec, rows_.new_to_old, k);
}

template <class Scalar, class Device>
void Rearrangement<Scalar, Device>::enter(const execution_space& exec, Trans trans,
                                          MultiVectorArg<const Scalar, Device> x,
                                          MultiVectorArg<Scalar, Device> t) const {
  const bool plain = trans == Trans::No;
  moveRows<Scalar, Device>(exec, "Ainvil::Rearrangement[enter]",
                           plain ? rows_.new_to_old : columns_.new_to_old,
                           plain ? scaling_.rows : scaling_.columns, true, x, t);
}

template <class Scalar, class Device>
void Rearrangement<Scalar, Device>::leave(const execution_space& exec, Trans trans,
                                          MultiVectorArg<const Scalar, Device> t,
                                          MultiVectorArg<Scalar, Device> y) const {
  const bool plain = trans == Trans::No;
  moveRows<Scalar, Device>(exec, "Ainvil::Rearrangement[leave]",
                           plain ? columns_.old_to_new : rows_.old_to_new,
                           plain ? scaling_.columns : scaling_.rows, false, t, y);
}

AINVIL_INSTANTIATE_CLASS(Rearrangement)

} // namespace detail
} // namespace ainvil
