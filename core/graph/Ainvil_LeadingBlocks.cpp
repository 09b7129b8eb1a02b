// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_LeadingBlocks.hpp"

#include "backend/Ainvil_RowTeams.hpp"
#include "graph/Ainvil_CountRows.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {
namespace {

/// Places of the columns of a matrix.
template <class Device>
struct PlacedColumns {
  Kokkos::View<const Ordinal*, Device> entries;
  Kokkos::View<const Ordinal*, Device> place; ///< none: a column is its own

  KOKKOS_FUNCTION Ordinal operator()(Offset e) const {
    return place.data() == nullptr ? entries(e) : place(entries(e));
  }
};

/// For block row I of bs rows: counts(I) = the number of its blocks k, with their block columns
/// J(k), if
///     columns(row_map(I bs + r) + k bs + c) = J(k) bs + c,  J(k) > J(k - 1),
/// for all r, c < bs, and no entry behind them has a place; else -1. Lanes take blocks on hosts,
/// entries of a row side by side on GPUs.
template <class Device>
struct CheckLeadingBlocks {
  Kokkos::View<const Offset*, Device> row_map;
  PlacedColumns<Device> columns;
  int bs;
  Kokkos::View<Offset*, Device> counts;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal block_row, void*) const {
    const Offset row = Offset(block_row) * bs;
    const Ordinal placed = numPlaced(member, row_map(row), row_map(row + 1));
    bool fits = placed % bs == 0;
    for (int r = 1; r < bs; ++r)
      fits = fits && row_map(row + r + 1) - row_map(row + r) >= placed;
    constexpr bool on_gpu = compat::IsGpu<typename Device::execution_space>::value;
    Ordinal wrong = fits ? 0 : 1;
    if (fits) {
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, on_gpu ? placed : placed / bs),
          [&](const Ordinal k, Ordinal& sum) {
            const Ordinal block = on_gpu ? k / bs : k;
            const Ordinal first_c = on_gpu ? k % bs : 0;
            sum += isBlock(row, block, first_c, on_gpu ? first_c + 1 : bs) ? 0 : 1;
          },
          wrong);
      for (int r = 0; r < bs; ++r)
        wrong += numPlaced(member, row_map(row + r) + placed, row_map(row + r + 1));
    }
    Kokkos::single(Kokkos::PerThread(member),
                   [&]() { counts(block_row) = wrong == 0 ? placed / bs : -1; });
  }

private:
  /// Of the entries begin, begin + 1, ..., end - 1.
  template <class Member>
  KOKKOS_FUNCTION Ordinal numPlaced(const Member& member, Offset begin, Offset end) const {
    Ordinal number = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, static_cast<Ordinal>(end - begin)),
        [&](const Ordinal k, Ordinal& sum) { sum += columns(begin + k) >= 0 ? 1 : 0; }, number);
    return number;
  }

  /// Whether columns c, first_c <= c < end_c, of block k are those of a block.
  KOKKOS_FUNCTION bool isBlock(Offset row, Ordinal k, int first_c, int end_c) const {
    const Offset begin = row_map(row) + Offset(k) * bs;
    const Ordinal first = columns(begin);
    bool good = first >= 0 && (k == 0 || first > columns(begin - 1));
    if (bs == 1) // points: no division, which takes longer than all else
      return good;
    good &= first % bs == 0;
    for (int r = 0; r < bs; ++r) {
      const Offset from = row_map(row + r) + Offset(k) * bs;
      for (int c = first_c; c < end_c; ++c)
        good &= columns(from + c) == first + c;
    }
    return good;
  }
};

/// True of block rows that have no count.
template <class Device>
struct HasNoCount {
  Kokkos::View<const Offset*, Device> counts;

  KOKKOS_FUNCTION bool operator()(Offset row) const { return counts(row) < 0; }
};

/// block_columns(block_map(I) + k) = J(k) of block row I, and block_rows(block_map(I) + k) = I if
/// there is that array.
template <class Device>
struct WriteBlockColumns {
  Kokkos::View<const Offset*, Device> row_map;
  PlacedColumns<Device> columns;
  int bs;
  Kokkos::View<const Offset*, Device> block_map;
  Kokkos::View<Ordinal*, Device> block_columns, block_rows;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal block_row, void*) const {
    const Offset begin = row_map(Offset(block_row) * bs), to = block_map(block_row);
    Kokkos::parallel_for(
        Kokkos::ThreadVectorRange(member, static_cast<Ordinal>(block_map(block_row + 1) - to)),
        [&](const Ordinal k) {
          const Ordinal column = columns(begin + Offset(k) * bs);
          block_columns(to + k) = bs == 1 ? column : column / bs;
          if (block_rows.data() != nullptr)
            block_rows(to + k) = block_row;
        });
  }
};

/// Value c of row r of block k of block row I:
///     to(((block_map(I) + k) bs + r) w + c) = from((row_map(I bs + r) + k bs) v + c),
/// where an entry of the matrix has v values, and so a row of a block w = bs v.
template <class Scalar, class Device>
struct LeadingValues {
  Kokkos::View<const Offset*, Device> row_map, block_map;
  int bs, v;
  Kokkos::View<const Scalar*, Device> from;
  Kokkos::View<Scalar*, Device> to;

  /// Value 0 of row r of block k of block row I.
  KOKKOS_FUNCTION const Scalar* at(Offset block_row, Offset k, int r) const {
    return from.data() + (row_map(block_row * bs + r) + k * bs) * v;
  }
};

/// Those of some consecutive blocks, for hosts: threads take equal parts, whatever the rows hold.
template <class Scalar, class Device>
struct GatherBlocks : LeadingValues<Scalar, Device> {
  static constexpr Offset run = 64;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const auto& block_map = this->block_map;
    const int bs = this->bs, w = bs * this->v;
    const Offset num_rows = Offset(block_map.extent(0)) - 1;
    const Offset first = item * run;
    const Offset end = first + run < block_map(num_rows) ? first + run : block_map(num_rows);
    Offset row = lowerBound(block_map, 0, num_rows, first + 1) - 1; // of the first
    Scalar* out = this->to.data() + first * bs * w;
    for (Offset block = first; block < end;) {
      while (block >= block_map(row + 1))
        ++row;
      const Offset begin = block_map(row), stop = block_map(row + 1);
      const Offset behind = stop < end ? stop : end; // the last of the row, or of the run
      if (bs == 1)                                   // the values of a row stand together
        out = copy(this->at(row, block - begin, 0), (behind - block) * w, out);
      else
        for (Offset k = block - begin; k < behind - begin; ++k)
          for (int r = 0; r < bs; ++r)
            out = copy(this->at(row, k, r), w, out);
      block = behind;
    }
  }

private:
  /// Copies n values; the place behind them.
  KOKKOS_FORCEINLINE_FUNCTION static Scalar* copy(const Scalar* from, Offset n, Scalar* to) {
    for (Offset i = 0; i < n; ++i)
      to[i] = from[i];
    return to + n;
  }
};

/// One of them, for GPUs: neighbouring threads write side by side, whatever the rows hold.
template <class Scalar, class Device>
struct GatherValue : LeadingValues<Scalar, Device> {
  Kokkos::View<const Ordinal*, Device> block_rows;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    const int w = this->bs * this->v, of_block = this->bs * w;
    const Offset block = i / of_block;
    const int within = static_cast<int>(i - block * of_block), r = within / w;
    const Ordinal block_row = block_rows(block);
    this->to(i) = this->at(block_row, block - this->block_map(block_row), r)[within - r * w];
  }
};

} // namespace

template <class Device>
LeadingBlocks<Device>::LeadingBlocks(const execution_space& exec, const Graph<Device>& graph,
                                     const Kokkos::View<const Ordinal*, Device>& place, int bs) {
  if (graph.num_rows % bs != 0)
    return;
  const Ordinal n = graph.num_rows / bs;
  const RowTeams teams = teamsForRowsOf(graph);
  const PlacedColumns<Device> columns{graph.entries, place};
  const auto block_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
  forEachRow(exec, "Ainvil::LeadingBlocks[check]", n, teams,
             CheckLeadingBlocks<Device>{graph.row_map, columns, bs, block_map});
  Ordinal first = -1;
  if (countRows(exec, "Ainvil::LeadingBlocks[others]", n, HasNoCount<Device>{block_map}, first) > 0)
    return;
  const Offset num_blocks = countsToOffsets(exec, block_map);
  const auto block_columns = allocate<Ordinal, Device>(exec, "Ainvil::entries", num_blocks);
  if (compat::IsGpu<execution_space>::value)
    block_rows_ = allocate<Ordinal, Device>(exec, "Ainvil::block_rows", num_blocks);
  forEachRow(
      exec, "Ainvil::LeadingBlocks[columns]", n, teams,
      WriteBlockColumns<Device>{graph.row_map, columns, bs, block_map, block_columns, block_rows_});
  compat::fence(exec, "Ainvil::LeadingBlocks"); // the columns of the graph may go now
  const Ordinal num_cols = place.data() == nullptr ? graph.num_cols / bs : n;
  row_map_ = graph.row_map;
  graph_ = Graph<Device>(n, num_cols, block_map, block_columns);
  block_size_ = bs;
}

template <class Device>
template <class Scalar>
void LeadingBlocks<Device>::gather(const execution_space& exec, int values_per_entry,
                                   const Kokkos::View<const Scalar*, Device>& from,
                                   const Kokkos::View<Scalar*, Device>& to) const {
  const char* const label = "Ainvil::LeadingBlocks[gather]";
  const LeadingValues<Scalar, Device> values{row_map_,         graph_.row_map, block_size_,
                                             values_per_entry, from,           to};
  using Range = detail::Range<execution_space>;
  using Gather = GatherBlocks<Scalar, Device>;
  if constexpr (compat::IsGpu<execution_space>::value)
    Kokkos::parallel_for(label, Range(exec, 0, to.extent(0)),
                         GatherValue<Scalar, Device>{values, block_rows_});
  else
    Kokkos::parallel_for(label,
                         Range(exec, 0, (graph_.numEntries() + Gather::run - 1) / Gather::run),
                         Gather{values});
}

#define AINVIL_INSTANTIATE_SCALAR(SCALAR, DEVICE)                                                  \
  template void LeadingBlocks<DEVICE>::gather<SCALAR>(                                             \
      const typename DEVICE::execution_space&, int, const Kokkos::View<const SCALAR*, DEVICE>&,    \
      const Kokkos::View<SCALAR*, DEVICE>&) const;
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class LeadingBlocks<DEVICE>;                                                            \
  AINVIL_INSTANTIATE_SCALAR(double, DEVICE)                                                        \
  AINVIL_INSTANTIATE_SCALAR(float, DEVICE)
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
