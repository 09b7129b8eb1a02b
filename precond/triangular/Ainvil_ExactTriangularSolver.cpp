// SPDX-License-Identifier: BSD-3-Clause
#include "triangular/Ainvil_ExactTriangularSolver.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "dense/Ainvil_SmallBlock.hpp"
#include "product/Ainvil_LongRows.hpp"

namespace ainvil {
namespace {

using detail::forLanes;
using detail::joinLanes;

using Kokkos::ThreadVectorRange;

/// Blocks from which on a row is worth all lanes.
constexpr Offset long_row = 64;

/// Columns solved for in one launch; bounds the scratch of a row.
constexpr int column_tile = 8;

/// y_i = D_i^-1 (x_i - sum over k != i in row i of T_ik y_k), D_i = I for a unit factor. On a GPU
/// the row and D_i^-1 are brought into scratch memory before anything is waited for, and a lane
/// takes one row of one block; rows that do not fit are read where they are, a lane a row of the
/// block, or all lanes for each of these sums where the row is long. A host thread, its own only
/// lane, takes one column after the other and keeps the sums of a block row in registers.
template <int BS, class Storage, class Scalar, class Device>
struct SolveRow {
  detail::KernelTriangle<Storage> factor;
  detail::KernelColumns<const Scalar> x;
  detail::KernelColumns<Scalar> y;
  Offset first_column;
  int columns;
  int capacity; ///< blocks of a row in scratch memory

  /// What a row may take of scratch memory, in bytes.
  static constexpr std::size_t most_scratch = 4096;

  static int capacityFor(int bs, int columns, Ordinal longest_row) {
    if (!compat::IsGpu<typename Device::execution_space>::value)
      return 0;
    int capacity = 0;
    while (capacity < longest_row && scratchBytes(bs, columns, capacity + 1) <= most_scratch)
      ++capacity;
    return capacity;
  }
  /// For x, and with room for blocks for their products, columns and values, and D_i^-1.
  static std::size_t scratchBytes(int bs, int columns, int capacity) {
    const std::size_t vectors = std::size_t(bs) * columns * sizeof(Scalar) * (capacity + 1);
    return capacity == 0 ? vectors
                         : vectors + (capacity + 1) * sizeof(int) +
                               (capacity + 1) * std::size_t(bs) * bs * sizeof(Storage);
  }

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch,
                                  const Gate& gate) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const auto& graph = factor.matrix.graph;
    const Offset begin = factor.offDiagonal(row).first, end = factor.offDiagonal(row).second;
    Scalar* sums = static_cast<Scalar*>(scratch);
    if constexpr (!compat::IsGpu<typename Device::execution_space>::value) {
      forLanes(member, static_cast<int>(end - begin),
               [&](const int k) { gate.wait(graph.entries(begin + k)); });
      Scalar registers[BS > 0 ? BS : 1];
      for (int j = 0; j < columns; ++j)
        solveColumn(row, first_column + j, bs, BS > 0 ? registers : sums);
      return;
    }
    if (end - begin <= capacity && capacity > 0) {
      solveFromScratch(member, row, sums, gate);
      return;
    }
    forLanes(member, static_cast<int>(end - begin),
             [&](const int k) { gate.wait(graph.entries(begin + k)); });
    const auto product = [&](Offset k, int r, int j) {
      const Storage* block = factor.matrix.values.data() + (k * bs + r) * bs;
      const Offset y_row = Offset(graph.entries(k)) * bs;
      Scalar sum = 0;
      for (int c = 0; c < bs; ++c)
        sum += Scalar(block[c]) * y(y_row + c, first_column + j);
      return sum;
    };
    const auto store = [&](int item, Scalar sum) {
      const int j = item / bs, r = item - j * bs;
      sum = x(Offset(row) * bs + r, first_column + j) - sum;
      if (factor.unit)
        y(Offset(row) * bs + r, first_column + j) = sum;
      else
        sums[item] = sum;
    };
    if (end - begin > long_row)
      for (int item = 0; item < bs * columns; ++item) {
        const int j = item / bs, r = item - j * bs;
        Scalar sum = 0;
        Kokkos::parallel_reduce(
            ThreadVectorRange(member, static_cast<int>(end - begin)),
            [&](const int k, Scalar& partial) { partial += product(begin + k, r, j); }, sum);
        Kokkos::single(Kokkos::PerThread(member), [&]() { store(item, sum); });
      }
    else
      forLanes(member, bs * columns, [&](const int item) {
        const int j = item / bs, r = item - j * bs;
        Scalar sum = 0;
        for (Offset k = begin; k < end; ++k)
          sum += product(k, r, j);
        store(item, sum);
      });
    // Joins the lanes: one of them may have stored all sums.
    joinLanes(member);
    if (factor.unit)
      return;
    forLanes(member, bs * columns, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      const Storage* inverse = factor.diagonal_inverse.data() + (Offset(row) * bs + r) * bs;
      Scalar sum = 0;
      for (int c = 0; c < bs; ++c)
        sum += Scalar(inverse[c]) * sums[j * bs + c];
      y(Offset(row) * bs + r, first_column + j) = sum;
    });
  }

  template <class Member, class Gate>
  KOKKOS_INLINE_FUNCTION void solveFromScratch(const Member& member, Ordinal row, Scalar* sums,
                                               const Gate& gate) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const int bs2 = bs * bs;
    const Offset begin = factor.offDiagonal(row).first;
    const int length = static_cast<int>(factor.offDiagonal(row).second - begin);
    Scalar* products = sums + bs * columns;
    int* block_columns = reinterpret_cast<int*>(products + capacity * bs * columns);
    Storage* blocks = reinterpret_cast<Storage*>(block_columns + (capacity + 1) / 2 * 2);
    Storage* inverse = blocks + capacity * bs2;
    const auto& matrix = factor.matrix;
    forLanes(member, length,
             [&](const int k) { block_columns[k] = matrix.graph.entries(begin + k); });
    forLanes(member, length * bs2,
             [&](const int e) { blocks[e] = matrix.values(begin * bs2 + e); });
    if (!factor.unit)
      forLanes(member, bs2,
               [&](const int e) { inverse[e] = factor.diagonal_inverse(Offset(row) * bs2 + e); });
    forLanes(member, bs * columns, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      sums[item] = x(Offset(row) * bs + r, first_column + j);
    });

    forLanes(member, length, [&](const int k) { gate.wait(block_columns[k]); });
    for (int j = 0; j < columns; ++j)
      forLanes(member, length * bs, [&](const int item) {
        const int k = item / bs;
        const Offset y_row = Offset(block_columns[k]) * bs;
        Scalar sum = 0;
        for (int c = 0; c < bs; ++c)
          sum += Scalar(blocks[item * bs + c]) * y(y_row + c, first_column + j);
        products[j * length * bs + item] = sum;
      });
    forLanes(member, bs * columns, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      Scalar sum = sums[item];
      for (int k = 0; k < length; ++k)
        sum -= products[(j * length + k) * bs + r];
      if (factor.unit)
        y(Offset(row) * bs + r, first_column + j) = sum;
      else
        sums[item] = sum;
    });
    if (!factor.unit)
      forLanes(member, bs * columns, [&](const int item) {
        const int j = item / bs, r = item - j * bs;
        Scalar sum = 0;
        for (int c = 0; c < bs; ++c)
          sum += Scalar(inverse[r * bs + c]) * sums[j * bs + c];
        y(Offset(row) * bs + r, first_column + j) = sum;
      });
  }

  /// Entries far from the diagonal come first: what the rows before have just computed is waited
  /// for last.
  KOKKOS_INLINE_FUNCTION void solveColumn(Ordinal row, Offset j, int bs, Scalar* sums) const {
    const auto range = factor.offDiagonal(row);
    const Ordinal* entries = factor.matrix.graph.entries.data();
    const Storage* values = factor.matrix.values.data();
    const Offset first = Offset(row) * bs;
    Scalar* y_j = &y(0, j);
    if constexpr (BS != 1) {
      const Offset ahead =
          factor.uplo == Uplo::Lower ? compat::prefetch_distance : -compat::prefetch_distance;
      const Offset block_bytes = Offset(bs) * bs * Offset(sizeof(Storage));
      compat::prefetch(values + range.first * bs * bs, ahead,
                       (range.second - range.first) * block_bytes);
      if (!factor.unit)
        compat::prefetch(factor.diagonal_inverse.data() + first * bs, ahead, block_bytes);
    }
    for (int r = 0; r < bs; ++r)
      sums[r] = x(first + r, j);
    for (Offset e = range.first; e < range.second; ++e) {
      const Offset k = factor.uplo == Uplo::Lower ? e : range.first + range.second - 1 - e;
      const Storage* block = values + k * bs * bs;
      const Scalar* y_k = y_j + Offset(entries[k]) * bs;
      for (int r = 0; r < bs; ++r)
        sums[r] -= detail::dot<BS>(block + r * bs, y_k, bs);
    }
    if (factor.unit) {
      for (int r = 0; r < bs; ++r)
        y_j[first + r] = sums[r];
      return;
    }
    const Storage* inverse = factor.diagonal_inverse.data() + first * bs;
    for (int r = 0; r < bs; ++r)
      y_j[first + r] = detail::dot<BS>(inverse + r * bs, sums, bs);
  }
};

/// y_i <- D_i^-T y_i, then y_k -= T_ik^T y_i for every k != i in row i: the rows that row i depends
/// on in T depend on it in T^T.
template <class Storage, class Scalar, class Device>
struct SolveRowTransposed {
  detail::KernelTriangle<Storage> factor;
  detail::KernelColumns<Scalar> y;
  Offset first_column;
  int columns;
  bool alone; ///< one thread runs all rows: nobody else adds

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch,
                                  const Gate&) const {
    const int bs = factor.matrix.block_size;
    const auto& graph = factor.matrix.graph;
    const Offset begin = factor.offDiagonal(row).first, end = factor.offDiagonal(row).second;
    Scalar* solved = static_cast<Scalar*>(scratch);
    forLanes(member, bs * columns, [&](const int item) {
      const int j = item / bs, r = item - j * bs;
      Scalar sum = 0;
      if (factor.unit)
        sum = y(Offset(row) * bs + r, first_column + j);
      else
        for (int c = 0; c < bs; ++c)
          sum += Scalar(factor.diagonal_inverse((Offset(row) * bs + c) * bs + r)) *
                 y(Offset(row) * bs + c, first_column + j);
      solved[item] = sum;
    });
    forLanes(member, bs * columns, [&](const int item) {
      const int j = item / bs, c = item - j * bs;
      y(Offset(row) * bs + c, first_column + j) = solved[item];
      for (Offset k = begin; k < end; ++k) {
        Scalar sum = 0;
        for (int r = 0; r < bs; ++r)
          sum += Scalar(factor.matrix.values((k * bs + r) * bs + c)) * solved[j * bs + r];
        Scalar* const y_k = &y(Offset(graph.entries(k)) * bs + c, first_column + j);
        if (alone)
          *y_k -= sum;
        else
          Kokkos::atomic_add(y_k, -sum);
      }
    });
  }
};

/// y = T^-T D^-1 T^-1 x for a lower unit factor by one thread of a host, which goes down,
///   t_i = x_i - sum over k of T_ik t_k,   y_i = D_i^-1 t_i,
/// and up again, y_k <- y_k - T_ik^T y_i. Where a row of scalars has an entry next to the diagonal,
/// what the row before has just found is still in a register: rows of grids wait for nothing else.
/// The way up is through memory in one direction, too, row by row and within rows.
template <int BS, class Storage, class Scalar, class Device>
struct SolveSymmetric {
  detail::KernelTriangle<Storage> factor;
  detail::KernelArray<const Scalar> d_inverse;
  detail::KernelColumns<const Scalar> x;
  detail::KernelColumns<Scalar> t, y;
  Ordinal num_rows;

  KOKKOS_FUNCTION void operator()(const Offset j) const {
    const Scalar* const x_j = &x(0, j);
    Scalar* const t_j = &t(0, j);
    Scalar* const y_j = &y(0, j);
    if constexpr (BS == 1) {
      scalarsDown(x_j, t_j, y_j);
      scalarsUp(y_j);
    } else {
      for (Ordinal i = 0; i < num_rows; ++i)
        down(i, x_j, t_j, y_j);
      for (Ordinal i = num_rows - 1; i >= 0; --i)
        up(i, y_j);
    }
  }

private:
  KOKKOS_INLINE_FUNCTION void scalarsDown(const Scalar* x_j, Scalar* t_j, Scalar* y_j) const {
    const Offset* const row_map = factor.matrix.graph.row_map.data();
    const Ordinal* const columns = factor.matrix.graph.entries.data();
    const Storage* const values = factor.matrix.values.data();
    Scalar before = 0; // t_{i-1}
    for (Ordinal i = 0; i < num_rows; ++i) {
      const Offset begin = row_map[i], end = row_map[i + 1];
      const bool adjacent = begin < end && columns[end - 1] == i - 1;
      Scalar sum = x_j[i];
      for (Offset e = begin; e < end - (adjacent ? 1 : 0); ++e)
        sum -= Scalar(values[e]) * t_j[columns[e]];
      if (adjacent)
        sum -= Scalar(values[end - 1]) * before;
      t_j[i] = before = sum;
      y_j[i] = d_inverse(i) * sum;
    }
  }

  KOKKOS_INLINE_FUNCTION void scalarsUp(Scalar* y_j) const {
    const Offset* const row_map = factor.matrix.graph.row_map.data();
    const Ordinal* const columns = factor.matrix.graph.entries.data();
    const Storage* const values = factor.matrix.values.data();
    Scalar y_i = num_rows > 0 ? y_j[num_rows - 1] : Scalar(0);
    for (Ordinal i = num_rows - 1; i > 0; --i) {
      const Offset begin = row_map[i], end = row_map[i + 1];
      const bool adjacent = begin < end && columns[end - 1] == i - 1;
      Scalar next = y_j[i - 1];
      if (adjacent)
        next -= Scalar(values[end - 1]) * y_i;
      for (Offset e = end - (adjacent ? 2 : 1); e >= begin; --e)
        y_j[columns[e]] -= Scalar(values[e]) * y_i;
      y_j[i - 1] = y_i = next;
    }
  }

  /// Sums of a block row of known size are kept in registers.
  KOKKOS_INLINE_FUNCTION void down(Ordinal i, const Scalar* x_j, Scalar* t_j, Scalar* y_j) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const Offset begin = factor.matrix.graph.row_map(i), end = factor.matrix.graph.row_map(i + 1);
    const Ordinal* const columns = factor.matrix.graph.entries.data();
    const Storage* const values = factor.matrix.values.data();
    const Offset first = Offset(i) * bs;
    Scalar registers[BS > 0 ? BS : 1];
    Scalar* const sums = BS > 0 ? registers : t_j + first;
    prefetchRow(i, compat::prefetch_distance);
    for (int r = 0; r < bs; ++r)
      sums[r] = x_j[first + r];
    for (Offset e = begin; e < end; ++e) {
      const Storage* const block = values + e * bs * bs;
      const Scalar* const t_k = t_j + Offset(columns[e]) * bs;
      for (int r = 0; r < bs; ++r)
        sums[r] -= detail::dot<BS>(block + r * bs, t_k, bs);
    }
    for (int r = 0; r < bs; ++r)
      t_j[first + r] = sums[r];
    for (int r = 0; r < bs; ++r)
      y_j[first + r] = detail::dot<BS>(d_inverse.data() + (first + r) * bs, sums, bs);
  }

  KOKKOS_INLINE_FUNCTION void up(Ordinal i, Scalar* y_j) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const Offset begin = factor.matrix.graph.row_map(i), end = factor.matrix.graph.row_map(i + 1);
    const Ordinal* const columns = factor.matrix.graph.entries.data();
    const Storage* const values = factor.matrix.values.data();
    Scalar registers[BS > 0 ? BS : 1];
    const Scalar* y_i = y_j + Offset(i) * bs;
    if constexpr (BS > 0) {
      for (int r = 0; r < BS; ++r)
        registers[r] = y_i[r];
      y_i = registers;
    }
    prefetchRow(i, -compat::prefetch_distance);
    for (Offset e = end - 1; e >= begin; --e) {
      const Storage* const block = values + e * bs * bs;
      Scalar* const y_k = y_j + Offset(columns[e]) * bs;
      if constexpr (BS > 0) {
        Scalar sums[BS];
        for (int c = 0; c < BS; ++c)
          sums[c] = Scalar(block[c]) * y_i[0];
        for (int r = 1; r < BS; ++r)
          for (int c = 0; c < BS; ++c)
            sums[c] += Scalar(block[r * BS + c]) * y_i[r];
        for (int c = 0; c < BS; ++c)
          y_k[c] -= sums[c];
      } else {
        for (int r = 0; r < bs; ++r)
          for (int c = 0; c < bs; ++c)
            y_k[c] -= Scalar(block[r * bs + c]) * y_i[r];
      }
    }
  }

  /// Asks for what lies as far ahead of the blocks of row i.
  KOKKOS_INLINE_FUNCTION void prefetchRow(Ordinal i, Offset ahead) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const Offset begin = factor.matrix.graph.row_map(i), end = factor.matrix.graph.row_map(i + 1);
    const Offset block_bytes = Offset(bs) * bs * Offset(sizeof(Storage));
    compat::prefetch(factor.matrix.values.data() + begin * bs * bs, ahead,
                     (end - begin) * block_bytes);
  }
};

} // namespace

template <class Storage, class Scalar, class Device>
void ExactTriangularSolver<Storage, Scalar, Device>::findOrder(const execution_space& exec,
                                                               Solve& solve) {
  const Graph<Device>& graph = solve.factor.matrix.graph;
  const double bs = solve.factor.matrix.block_size;
  solve.order = OrderedRows<Device>(exec, graph, solve.factor.uplo, 0.7 * bs * bs);
  solve.longest_row = detail::longestRow(exec, graph);
}

template <class Storage, class Scalar, class Device>
void ExactTriangularSolver<Storage, Scalar, Device>::initialize(const execution_space& exec,
                                                                const Factor& factor,
                                                                const std::string& prefix,
                                                                Report& report) {
  report.phases.time(exec, "ExactTriangularSolver", prefix + "levels", [&] {
    const auto& matrix = factor.matrix;
    plain_.factor.matrix = BsrMatrix<Storage, Device>(
        matrix.graph, detail::arrayFor<Storage>(exec, "Ainvil::factor", matrix.values),
        matrix.block_size);
    plain_.factor.diagonal_inverse =
        detail::arrayFor<Storage>(exec, "Ainvil::diagonal_inverse", factor.diagonal_inverse);
    plain_.factor.uplo = factor.uplo;
    plain_.factor.unit = factor.unit;
    findOrder(exec, plain_);
    transposed_ = {};
    transposed_source_ = {};
    if (!keep_transposed_ || !factor.unit || plain_.order.inTurn())
      return;
    const PermutedGraph<Device> transposed = transpose(exec, matrix.graph);
    transposed_source_ = transposed.source;
    transposed_.factor.matrix = BsrMatrix<Storage, Device>(
        transposed.graph,
        allocate<Storage, Device>(exec, "Ainvil::transposed", matrix.numScalars()),
        matrix.block_size);
    transposed_.factor.uplo = factor.uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower;
    transposed_.factor.unit = true;
    findOrder(exec, transposed_);
  });
}

template <class Storage, class Scalar, class Device>
void ExactTriangularSolver<Storage, Scalar, Device>::compute(const execution_space& exec,
                                                             const Factor& factor,
                                                             const std::string& prefix,
                                                             Report& report) {
  if constexpr (!std::is_same<Storage, Scalar>::value)
    report.phases.time(exec, "ExactTriangularSolver", prefix + "convert", [&] {
      detail::roundInto(exec, factor.matrix.values, plain_.factor.matrix, !factor.unit);
      detail::roundDiagonalInto(exec, factor.diagonal_inverse, plain_.factor.matrix.block_size,
                                plain_.factor.diagonal_inverse);
    });
  if (hasTransposed())
    report.phases.time(exec, "ExactTriangularSolver", prefix + "transpose", [&] {
      gatherBlocks<Storage, Device>(exec, Trans::Yes, transposed_source_,
                                    plain_.factor.matrix.block_size, plain_.factor.matrix.values,
                                    transposed_.factor.matrix.values);
    });
}

template <class Storage, class Scalar, class Device>
void ExactTriangularSolver<Storage, Scalar, Device>::diagnose(const execution_space& exec,
                                                              const Factor& factor,
                                                              const std::string& prefix,
                                                              Report& report) const {
  const int levels = plain_.order.hasLevels()
                         ? plain_.order.levels().numLevels()
                         : levelSets(exec, factor.matrix.graph, factor.uplo).numLevels();
  report.note(message(prefix, "levels=", levels));
}

template <class Storage, class Scalar, class Device>
void ExactTriangularSolver<Storage, Scalar, Device>::solve(const execution_space& exec,
                                                           const Solve& solve,
                                                           MultiVectorArg<const Scalar, Device> x,
                                                           MultiVectorArg<Scalar, Device> y) const {
  const int bs = solve.factor.matrix.block_size;
  for (Offset j = 0; j < Offset(x.extent(1)); j += column_tile) {
    const int columns = static_cast<int>(std::min<Offset>(column_tile, x.extent(1) - j));
    detail::dispatchBlockSize(bs, [&](auto size) {
      using Row = SolveRow<decltype(size)::value, Storage, Scalar, Device>;
      const int capacity = Row::capacityFor(bs, columns, solve.longest_row);
      solve.order.run(exec, "Ainvil::ExactTriangularSolver[solve]",
                      Row{solve.factor, x, y, j, columns, capacity},
                      Row::scratchBytes(bs, columns, capacity));
    });
  }
}

template <class Storage, class Scalar, class Device>
void ExactTriangularSolver<Storage, Scalar, Device>::apply(const execution_space& exec,
                                                           MultiVectorArg<const Scalar, Device> x,
                                                           MultiVectorArg<Scalar, Device> y,
                                                           Trans trans) const {
  ScopedRegion region("Ainvil::ExactTriangularSolver::apply");
  if (trans == Trans::No || hasTransposed()) {
    solve(exec, trans == Trans::No ? plain_ : transposed_, x, y);
    return;
  }
  axpby<Scalar, Device>(exec, Scalar(1), x, Scalar(0), y);
  const int bs = plain_.factor.matrix.block_size;
  for (Offset j = 0; j < Offset(x.extent(1)); j += column_tile) {
    const int columns = static_cast<int>(std::min<Offset>(column_tile, x.extent(1) - j));
    plain_.order.runReversed(exec, "Ainvil::ExactTriangularSolver[transposed]",
                             SolveRowTransposed<Storage, Scalar, Device>{
                                 plain_.factor, y, j, columns, plain_.order.inTurn()},
                             std::size_t(bs) * columns * sizeof(Scalar));
  }
}

template <class Storage, class Scalar, class Device>
void ExactTriangularSolver<Storage, Scalar, Device>::applySymmetric(
    const execution_space& exec, const Kokkos::View<Scalar*, Device>& d_inverse, int block_size,
    MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> work,
    MultiVectorArg<Scalar, Device> y) const {
  if constexpr (!compat::IsGpu<execution_space>::value) {
    const auto& factor = plain_.factor;
    if (plain_.order.inTurn() && factor.unit && factor.uplo == Uplo::Lower) {
      ScopedRegion region("Ainvil::ExactTriangularSolver::applySymmetric");
      detail::dispatchBlockSize(block_size, [&](auto size) {
        Kokkos::parallel_for("Ainvil::ExactTriangularSolver[symmetric]",
                             detail::Range<execution_space>(exec, 0, x.extent(1)),
                             SolveSymmetric<decltype(size)::value, Storage, Scalar, Device>{
                                 factor, d_inverse, x, work, y, factor.matrix.graph.num_rows});
      });
      return;
    }
  }
  Base::applySymmetric(exec, d_inverse, block_size, x, work, y);
}

template <class Storage, class Scalar, class Device>
Offset ExactTriangularSolver<Storage, Scalar, Device>::entries() const {
  const auto& t = plain_.factor.matrix;
  return t.numScalars() + (plain_.factor.unit ? t.numPointRows() * t.block_size : 0);
}

template <class Storage, class Scalar, class Device>
Offset ExactTriangularSolver<Storage, Scalar, Device>::bytes() const {
  return plain_.factor.matrix.bytes(); // D^-1 is read instead of D
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class ExactTriangularSolver<double, double, DEVICE>;                                    \
  template class ExactTriangularSolver<float, double, DEVICE>;                                     \
  template class ExactTriangularSolver<BFloat16, double, DEVICE>;                                  \
  template class ExactTriangularSolver<float, float, DEVICE>;                                      \
  template class ExactTriangularSolver<BFloat16, float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
