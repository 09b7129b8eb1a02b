// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_GraphAlgebra.hpp"

#include "backend/Ainvil_Profiling.hpp"
#include "backend/Ainvil_SizeClasses.hpp"
#include "graph/Ainvil_CountRows.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace {

using detail::countRows;
using detail::countsToOffsets;
using detail::findEntry;
using detail::lowerBound;
using detail::Range;

template <class Device>
struct LacksDiagonal {
  Graph<Device> graph;

  KOKKOS_FUNCTION bool operator()(Offset row) const {
    return findEntry(graph.entries, graph.row_map(row), graph.row_map(row + 1),
                     static_cast<Ordinal>(row)) < 0;
  }
};

/// What is wrong with the columns of a row, the worse the larger.
enum class RowFault { None, Unsorted, Outside };

template <class Device>
struct FaultOfRow {
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<const Ordinal*, Device> entries;
  Ordinal num_cols;

  KOKKOS_FUNCTION void operator()(Offset row, int& worst) const {
    const Offset begin = row_map(row), end = row_map(row + 1);
    bool ascends = true;
    for (Offset e = begin + 1; e < end; ++e)
      ascends = ascends & (entries(e - 1) < entries(e));
    bool inside = begin == end || (entries(begin) >= 0 && entries(end - 1) < num_cols);
    for (Offset e = begin; e < end && !ascends;
         ++e) // else the first and the last column are bounds
      inside = inside && entries(e) >= 0 && entries(e) < num_cols;
    const int fault = int(!inside   ? RowFault::Outside
                          : ascends ? RowFault::None
                                    : RowFault::Unsorted);
    worst = fault > worst ? fault : worst;
  }
};

} // namespace

template <class Device>
bool validate(const typename Device::execution_space& exec, const Graph<Device>& graph) {
  using Exec = typename Device::execution_space;
  detail::requireKokkos<Exec>();
  const auto row_map = graph.row_map;
  if (row_map.extent(0) == 0) // default-constructed
    return true;
  const auto entries = graph.entries;
  const Ordinal num_cols = graph.num_cols;
  const Offset num_entries = graph.numEntries();
  const Ordinal num_rows = graph.num_rows;
  Offset first_bad = 0; // the largest Offset if no row is bad: what Kokkos::Min starts from
  Kokkos::parallel_reduce(
      "Ainvil::validate[row map]", Range<Exec>(exec, 0, Offset(num_rows) + 1),
      KOKKOS_LAMBDA(const Offset i, Offset& first) {
        const bool good = (i > 0 || row_map(0) == 0) &&
                          (i < num_rows ? row_map(i) <= row_map(i + 1) : row_map(i) == num_entries);
        if (!good && i < first)
          first = i;
      },
      Kokkos::Min<Offset>(first_bad));
  if (first_bad <= num_rows)
    throw InvalidArgument(message("the row map must ascend from 0 to the number of entries, ",
                                  num_entries, ", but it does not at offset ", first_bad));
  constexpr Offset longest = std::numeric_limits<Ordinal>::max();
  if (num_entries > longest) {
    const Offset length =
        detail::largestSize(exec, num_rows, detail::RowLength<Device>{row_map}, num_entries);
    if (length > longest)
      throw InvalidArgument(message("a row holds ", length, " entries, more than the ", longest,
                                    " that an index can count"));
  }
  int worst = 0; // the smallest int if there are no rows: what Kokkos::Max starts from
  Kokkos::parallel_reduce("Ainvil::validate[columns]", Range<Exec>(exec, 0, num_rows),
                          FaultOfRow<Device>{row_map, entries, num_cols}, Kokkos::Max<int>(worst));
  if (worst < int(RowFault::Outside))
    return worst < int(RowFault::Unsorted);
  Offset outside = 0;
  Kokkos::parallel_reduce(
      "Ainvil::validate[outside]", Range<Exec>(exec, 0, num_entries),
      KOKKOS_LAMBDA(const Offset e, Offset& sum) {
        if (entries(e) < 0 || entries(e) >= num_cols)
          ++sum;
      },
      outside);
  throw InvalidArgument(message(outside, " column indices lie outside [0, ", num_cols, ")"));
}

template <class Device>
bool isSorted(const typename Device::execution_space& exec, const Graph<Device>& graph) {
  using Exec = typename Device::execution_space;
  const auto row_map = graph.row_map;
  const auto entries = graph.entries;
  Offset descents = 0;
  Kokkos::parallel_reduce(
      "Ainvil::isSorted", Range<Exec>(exec, 0, graph.num_rows),
      KOKKOS_LAMBDA(const Offset row, Offset& sum) {
        for (Offset e = row_map(row) + 1; e < row_map(row + 1); ++e)
          if (entries(e - 1) >= entries(e))
            ++sum;
      },
      descents);
  return descents == 0;
}

template <class Device>
bool samePattern(const typename Device::execution_space& exec, const Graph<Device>& a,
                 const Graph<Device>& b) {
  using Exec = typename Device::execution_space;
  if (a.num_rows != b.num_rows || a.num_cols != b.num_cols || a.numEntries() != b.numEntries())
    return false;
  if (a.row_map.data() == b.row_map.data() && a.entries.data() == b.entries.data())
    return true;
  Offset differences = 0;
  Kokkos::parallel_reduce(
      "Ainvil::samePattern", Range<Exec>(exec, 0, a.num_rows),
      KOKKOS_LAMBDA(const Offset row, Offset& sum) {
        if (a.row_map(row) != b.row_map(row) || a.row_map(row + 1) != b.row_map(row + 1)) {
          ++sum;
          return;
        }
        for (Offset e = a.row_map(row); e < a.row_map(row + 1); ++e)
          if (a.entries(e) != b.entries(e))
            ++sum;
      },
      differences);
  return differences == 0;
}

template <class Device>
Graph<Device> triangle(const typename Device::execution_space& exec, const Graph<Device>& graph,
                       Uplo uplo, Diagonal diagonal) {
  using Exec = typename Device::execution_space;
  detail::requireSquare("a triangle", graph.num_rows, graph.num_cols);
  const auto row_map = graph.row_map;
  const auto entries = graph.entries;
  const bool lower = uplo == Uplo::Lower;
  const Offset keep = diagonal == Diagonal::Keep ? 1 : 0;
  const auto t_row_map =
      allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(graph.num_rows) + 1);
  Kokkos::parallel_for(
      "Ainvil::triangle[count]", Range<Exec>(exec, 0, graph.num_rows),
      KOKKOS_LAMBDA(const Offset row) {
        const Offset begin = row_map(row), end = row_map(row + 1);
        const Ordinal i = static_cast<Ordinal>(row);
        t_row_map(row) = keep + (lower ? lowerBound(entries, begin, end, i) - begin
                                       : end - lowerBound(entries, begin, end, i + 1));
      });
  const Offset total = countsToOffsets(exec, t_row_map);
  const auto t_entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
  Kokkos::parallel_for(
      "Ainvil::triangle[fill]", Range<Exec>(exec, 0, graph.num_rows),
      KOKKOS_LAMBDA(const Offset row) {
        const Offset begin = t_row_map(row), end = t_row_map(row + 1);
        // The diagonal entry ends a lower row and begins an upper one.
        if (keep > 0)
          t_entries(lower ? end - 1 : begin) = static_cast<Ordinal>(row);
        const Offset count = end - begin - keep;
        const Offset target = lower ? begin : begin + keep;
        const Offset source = lower ? row_map(row) : row_map(row + 1) - count;
        for (Offset k = 0; k < count; ++k)
          t_entries(target + k) = entries(source + k);
      });
  return {graph.num_rows, graph.num_cols, t_row_map, t_entries};
}

template <class Device>
Graph<Device> triangularPattern(const typename Device::execution_space& exec, const char* name,
                                const Graph<Device>& given, Ordinal num_rows, Uplo uplo,
                                Diagonal diagonal) {
  if (given.num_rows != num_rows || given.num_cols != num_rows)
    throw InvalidArgument(message("the pattern given for ", name, " is ", given.num_rows, " x ",
                                  given.num_cols, ", but the matrix has ", num_rows,
                                  " block rows"));
  const Graph<Device> sorted = validate(exec, given) ? given : sortRows(exec, given).graph;
  const bool lower = uplo == Uplo::Lower;
  const Uplo other = lower ? Uplo::Upper : Uplo::Lower;
  if (const Offset outside = triangle(exec, sorted, other, Diagonal::Drop).numEntries())
    throw InvalidArgument(message("the pattern given for ", name, " has ", outside, " entries ",
                                  lower ? "above" : "below", " the diagonal"));
  return triangle(exec, sorted, uplo, diagonal);
}

template <class Device>
Kokkos::View<const Offset*, Device> composed(const typename Device::execution_space& exec,
                                             const Kokkos::View<const Offset*, Device>& outer,
                                             const Kokkos::View<const Offset*, Device>& inner) {
  const auto result = allocate<Offset, Device>(exec, "Ainvil::source", outer.extent(0));
  Kokkos::parallel_for(
      "Ainvil::composed", Range<typename Device::execution_space>(exec, 0, outer.extent(0)),
      KOKKOS_LAMBDA(const Offset e) {
        const Offset between = outer(e);
        result(e) = between < 0 ? between : inner(between);
      });
  return result;
}

template <class Device>
Ordinal countMissingDiagonals(const typename Device::execution_space& exec,
                              const Graph<Device>& graph, Ordinal& first_row) {
  detail::requireSquare("a diagonal", graph.num_rows, graph.num_cols);
  return countRows(exec, "Ainvil::missingDiagonals", graph.num_rows, LacksDiagonal<Device>{graph},
                   first_row);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template Kokkos::View<const Offset*, DEVICE> composed<DEVICE>(                                   \
      const typename DEVICE::execution_space&, const Kokkos::View<const Offset*, DEVICE>&,         \
      const Kokkos::View<const Offset*, DEVICE>&);                                                 \
  template bool validate<DEVICE>(const typename DEVICE::execution_space&, const Graph<DEVICE>&);   \
  template bool isSorted<DEVICE>(const typename DEVICE::execution_space&, const Graph<DEVICE>&);   \
  template bool samePattern<DEVICE>(const typename DEVICE::execution_space&, const Graph<DEVICE>&, \
                                    const Graph<DEVICE>&);                                         \
  template Graph<DEVICE> triangle<DEVICE>(const typename DEVICE::execution_space&,                 \
                                          const Graph<DEVICE>&, Uplo, Diagonal);                   \
  template Graph<DEVICE> triangularPattern<DEVICE>(const typename DEVICE::execution_space&,        \
                                                   const char*, const Graph<DEVICE>&, Ordinal,     \
                                                   Uplo, Diagonal);                                \
  template Ordinal countMissingDiagonals<DEVICE>(const typename DEVICE::execution_space&,          \
                                                 const Graph<DEVICE>&, Ordinal&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
