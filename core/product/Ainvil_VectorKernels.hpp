// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Vector operations on the rows of some columns, and those built on sums over all rows.

#include "product/Ainvil_RowSums.hpp"

namespace ainvil {
namespace detail {

/// The most rows of a run: a thread of a host takes many together, so that loops over columns
/// inside it run on vectors, and hardware fetches columns ahead; a thread of a GPU takes one.
template <class Exec>
constexpr int longestRun() {
  return compat::IsGpu<Exec>::value ? 1 : longest_host_chunk;
}

/// Runs of rows for each of some columns.
template <class Exec>
ColumnRuns runsOf(const ColumnSet& columns, Offset num_rows) {
  return {columns, num_rows, compat::IsGpu<Exec>::value ? 1 : hostChunk(num_rows)};
}

/// The first row of a run of a column; its number where runs have one row.
template <int Longest>
KOKKOS_INLINE_FUNCTION Offset firstOfRun(const ColumnRuns& runs, Offset run) {
  return Longest == 1 ? run : run * runs.length;
}

/// Rows of the run that begins at row `first`; a constant where runs have one row.
template <int Longest>
KOKKOS_INLINE_FUNCTION int rowsOfRun(const ColumnRuns& runs, Offset first, Offset num_rows) {
  if constexpr (Longest == 1)
    return 1;
  const Offset left = num_rows - first;
  return static_cast<int>(left < runs.length ? left : runs.length);
}

/// Calls f(w, c) for columns c, ..., c + w - 1, all in [0, columns) in turn: w is 4 as a constant,
/// 1 for what remains. Four columns share the loads and stores of what they are added to.
template <class F>
KOKKOS_INLINE_FUNCTION void forColumnsByFour(int columns, const F& f) {
  int c = 0;
  for (; c + 4 <= columns; c += 4)
    f(std::integral_constant<int, 4>(), c);
  for (; c < columns; ++c)
    f(std::integral_constant<int, 1>(), c);
}

/// body.row(i) for all rows i of each of some columns, in runs of rows, after body.begin(column),
/// which tells whether there is anything to do. What row() returns is ignored.
template <class Device, class Body>
struct ForRowsKernel {
  static constexpr int longest = longestRun<typename Device::execution_space>();

  Body body_in;
  ColumnRuns runs;
  Offset num_rows;

  KOKKOS_FUNCTION void operator()(Offset item) const {
    Body body = body_in;
    if (!body.begin(runs.columnOf(item)))
      return;
    const Offset first = firstOfRun<longest>(runs, item);
    const int rows = rowsOfRun<longest>(runs, first, num_rows);
    for (int r = 0; r < rows; ++r)
      body.row(first + r);
  }
};

/// Launches a ForRowsKernel: one kernel for all columns, asynchronous.
template <class Device, class Body>
void forRows(const typename Device::execution_space& exec, const char* label, Offset num_rows,
             const Body& body, const ColumnSet& columns) {
  using Kernel = ForRowsKernel<Device, Body>;
  const ColumnRuns runs = runsOf<typename Device::execution_space>(columns, num_rows);
  Kokkos::parallel_for(label, Range<typename Device::execution_space>(exec, 0, runs.numItems()),
                       withinArguments(Kernel{body, runs, num_rows}));
}

/// y_i = x_i
template <class Scalar>
struct CopyBody {
  KernelColumn<const Scalar> x;
  KernelColumn<Scalar> y;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    x.moveTo(column);
    y.moveTo(column);
    return true;
  }
  KOKKOS_INLINE_FUNCTION void row(Offset i) const { y[i] = x[i]; }
};

/// y = x for some columns.
template <class Scalar, class Device>
void copyColumns(const typename Device::execution_space& exec, const ColumnSet& columns,
                 MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> y) {
  forRows<Device>(exec, "Ainvil::copy", x.extent(0), CopyBody<Scalar>{x, y}, columns);
}

/// x_i = value
template <class Scalar>
struct FillBody {
  Scalar value;
  KernelColumn<Scalar> x;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    x.moveTo(column);
    return true;
  }
  KOKKOS_INLINE_FUNCTION void row(Offset i) const { x[i] = value; }
};

/// x = value for some columns.
template <class Scalar, class Device>
void fillColumns(const typename Device::execution_space& exec, const ColumnSet& columns,
                 Scalar value, MultiVectorArg<Scalar, Device> x) {
  forRows<Device>(exec, "Ainvil::fill", x.extent(0), FillBody<Scalar>{value, x}, columns);
}

/// A number for each of the columns that a ColumnSet may have, in the arguments of a kernel.
struct NumberOfColumn {
  int numbers[ColumnSet::capacity] = {};

  /// The loop has constant bounds, so that the numbers stay where arguments are.
  KOKKOS_INLINE_FUNCTION int operator[](int column) const {
    int number = 0;
    for (int c = 0; c < ColumnSet::capacity; ++c)
      if (c == column)
        number = numbers[c];
    return number;
  }
};

/// y_i = beta y_i + sum over c < count of v_c(i) a_c for a run of rows of a column. beta is 0 or 1;
/// with 0 y is not read.
template <class Stored, class Scalar, class Device>
struct CombineKernel {
  static constexpr int longest = longestRun<typename Device::execution_space>();

  KernelBases<const Stored> v;
  KernelBases<const double> a;
  NumberOfColumn counts;
  int beta;
  KernelColumn<Scalar> y;
  ColumnRuns runs;
  Offset num_rows;

  KOKKOS_FUNCTION void operator()(Offset item) const {
    const int column = runs.columnOf(item);
    const Offset first = firstOfRun<longest>(runs, item);
    const int rows = rowsOfRun<longest>(runs, first, num_rows);
    const Stored* const v_0 = v.of(column) + first;
    const double* const coefficients = a.of(column);
    KernelColumn<Scalar> y_column = y;
    y_column.moveTo(column);
    double sum[longest];
    for (int r = 0; r < rows; ++r)
      sum[r] = beta != 0 ? double(y_column[first + r]) : 0.0;
    forColumnsByFour(counts[column], [&](const auto width, const int c) {
      constexpr int w = decltype(width)::value;
      const Stored* v_c[w];
      double a_c[w];
      for (int k = 0; k < w; ++k) {
        v_c[k] = v_0 + (c + k) * v.vector_stride;
        a_c[k] = coefficients[c + k];
      }
      for (int r = 0; r < rows; ++r)
        for (int k = 0; k < w; ++k)
          sum[r] += double(v_c[k][r]) * a_c[k];
    });
    for (int r = 0; r < rows; ++r)
      y_column[first + r] = static_cast<Scalar>(sum[r]);
  }
};

/// y = beta y + (v_0, v_1, ...) a for some columns, beta = 0 or 1, of as many v as `counts` says of
/// the column. One kernel, asynchronous.
template <class Stored, class Scalar, class Device>
void combineColumns(const typename Device::execution_space& exec, const ColumnSet& columns,
                    const KernelBases<const Stored>& v, const KernelBases<const double>& a,
                    const NumberOfColumn& counts, int beta, MultiVectorArg<Scalar, Device> y) {
  using Kernel = CombineKernel<Stored, Scalar, Device>;
  const Offset num_rows = y.extent(0);
  const ColumnRuns runs = runsOf<typename Device::execution_space>(columns, num_rows);
  Kokkos::parallel_for("Ainvil::combineColumns",
                       Range<typename Device::execution_space>(exec, 0, runs.numItems()),
                       withinArguments(Kernel{v, a, counts, beta, y, runs, num_rows}));
}

} // namespace detail
} // namespace ainvil
