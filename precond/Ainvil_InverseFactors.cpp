// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_InverseFactors.hpp"

#include "Ainvil_ConjugateColumn.hpp"
#include "Ainvil_CountRows.hpp"
#include "Ainvil_SizeClasses.hpp"

#include <climits>
#include <limits>
#include <type_traits>

namespace ainvil {
namespace detail {
namespace {

constexpr Ordinal smallest_room = 32;       // of hash tables
constexpr Ordinal first_column_place = 4;   // entries
constexpr Ordinal first_touched_place = 8;  // rows
constexpr Offset scratch_limit = 1ll << 30; // bytes of scratch memory in one launch

/// So many columns are computed at the same time that it does not pay to put any off: where a round
/// has more, those wait whose columns are about to change. On hosts none does, consecutive columns
/// are computed in order anyway.
template <class Exec>
Offset fewColumns(const Exec& exec) {
  if (!compat::IsGpu<Exec>::value)
    return std::numeric_limits<Offset>::max();
  return 4 * Offset(exec.concurrency()) / Kokkos::TeamPolicy<Exec>::vector_length_max();
}

/// Nothing is changed yet, and no column computed.
template <class Scalar, class Device>
void beginRound(const typename Device::execution_space& exec,
                const FactorState<Scalar, Device>& state) {
  Kokkos::parallel_for(
      "Ainvil::InverseFactors[begin]",
      Range<typename Device::execution_space>(exec, 0, state.base.extent(0)),
      KOKKOS_LAMBDA(const Offset j) {
        state.changed(j) = 0;
        state.base(j) = -1;
        state.waiting(j) = 0;
      });
}

/// New versions become current. Returns the number of columns that were computed; waits.
template <class Scalar, class Device>
Offset endRound(const typename Device::execution_space& exec,
                const FactorState<Scalar, Device>& state) {
  Offset computed = 0;
  Kokkos::parallel_reduce(
      "Ainvil::InverseFactors[end]",
      Range<typename Device::execution_space>(exec, 0, state.base.extent(0)),
      KOKKOS_LAMBDA(const Offset j, Offset& sum) {
        if (state.changed(j) != 0)
          state.current(j) = static_cast<char>(1 - state.current(j));
        sum += state.base(j) >= 0 ? 1 : 0;
      },
      computed);
  return computed;
}

/// Lists the current columns by rows, and leaves the chains empty with place for half as many
/// again.
template <class Scalar, class Device>
void listColumns(const typename Device::execution_space& exec,
                 const FactorState<Scalar, Device>& state,
                 const FactorColumns<Scalar, Device>& columns,
                 const Kokkos::View<Ordinal*, Device>& cursor, ColumnsOfRows<Device>& of_rows) {
  using Exec = typename Device::execution_space;
  const auto map = of_rows.row_map;
  Kokkos::deep_copy(exec, map, 0);
  Kokkos::deep_copy(exec, cursor, 0);
  Kokkos::parallel_for(
      "Ainvil::InverseFactors[count lists]", Range<Exec>(exec, 0, columns.num_columns),
      KOKKOS_LAMBDA(const Offset column) {
        const Ordinal j = static_cast<Ordinal>(column), version = state.current(j);
        const Offset begin = columns.begin(j, version), end = begin + columns.count(j, version);
        for (Offset e = begin; e < end; ++e)
          Kokkos::atomic_fetch_add(&map(columns.rows(e)), Offset(1));
      });
  const Offset total = countsToOffsets(exec, map);
  if (Offset(of_rows.columns.extent(0)) < total)
    of_rows.columns = allocate<Ordinal, Device>(exec, "Ainvil::columns", total + total / 4);
  const auto list = of_rows.columns;
  Kokkos::parallel_for(
      "Ainvil::InverseFactors[fill lists]", Range<Exec>(exec, 0, columns.num_columns),
      KOKKOS_LAMBDA(const Offset column) {
        const Ordinal j = static_cast<Ordinal>(column), version = state.current(j);
        const Offset begin = columns.begin(j, version), end = begin + columns.count(j, version);
        for (Offset e = begin; e < end; ++e) {
          const Ordinal row = columns.rows(e);
          list(map(row) + Kokkos::atomic_fetch_add(&cursor(row), Ordinal(1))) = j;
        }
      });
  Kokkos::deep_copy(exec, of_rows.head, -1);
  Kokkos::deep_copy(exec, of_rows.num_links, 0);
  const Offset links = std::min<Offset>(INT_MAX / 2, total / 2 + 16 * columns.num_columns);
  if (Offset(of_rows.link_next.extent(0)) < links) {
    of_rows.link_next = allocate<Ordinal, Device>(exec, "Ainvil::link_next", links);
    of_rows.link_column = allocate<Ordinal, Device>(exec, "Ainvil::link_column", links);
  }
}

/// first(k) becomes the smallest column i with concerns(i) for which a column j > i that is not
/// zero in row k may be another than with i's other version: row k is among those that B^T y_i
/// reaches.
template <class Scalar, class Device, class Concerns>
struct ReachRows {
  Graph<Device> product; ///< of B
  FactorColumns<Scalar, Device> other;
  bool stabilized;
  Concerns concerns; ///< and, in `versions`, what y_i is to be looked at: 1 the current, 2 both
  FactorState<Scalar, Device> state;
  Kokkos::View<Ordinal*, Device> first;

  KOKKOS_FUNCTION void reach(Ordinal row, Ordinal i) const {
    const Offset end = product.row_map(row + 1);
    for (Offset e = product.row_map(row); e < end; ++e)
      if (first(product.entries(e)) > i)
        Kokkos::atomic_fetch_min(&first(product.entries(e)), i);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void*) const {
    if (!concerns(state, i))
      return;
    if (!stabilized) {
      Kokkos::single(Kokkos::PerThread(member), [&]() { reach(i, i); });
      return;
    }
    for (int v = 0; v < Concerns::versions; ++v) {
      const int version = v == 0 ? state.current(i) : 1 - state.current(i);
      const Offset begin = other.begin(i, version);
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, other.count(i, version)),
                           [&](const Ordinal e) { reach(other.rows(begin + e), i); });
    }
  }
};

struct HasChanged {
  static constexpr int versions = 2;

  template <class State>
  KOKKOS_FUNCTION bool operator()(const State& state, Ordinal i) const {
    return state.changed(i) != 0;
  }
};

struct IsDirty {
  static constexpr int versions = 1;

  template <class State>
  KOKKOS_FUNCTION bool operator()(const State& state, Ordinal i) const {
    return state.dirty(i) != 0;
  }
};

/// Number of rows in which column j was not zero and that concern it because of a column before
/// `limit`; on all lanes.
template <class Device, class Member>
KOKKOS_INLINE_FUNCTION Ordinal countReached(const Member& member, const IndexLists<Device>& touched,
                                            const Kokkos::View<const Ordinal*, Device>& first,
                                            Ordinal j, Ordinal limit) {
  const Offset begin = touched.pool.begin(j);
  Ordinal reached = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, touched.count(j)),
      [&](const Ordinal t, Ordinal& sum) {
        sum += first(touched.indices(begin + t)) < limit ? 1 : 0;
      },
      reached);
  return reached;
}

/// Columns that met a changed one, whose new version they were not computed with, become dirty.
template <class Scalar, class Device>
struct MarkDirty {
  IndexLists<Device> touched;
  Kokkos::View<const Ordinal*, Device> first;
  FactorState<Scalar, Device> state;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal j, void*) const {
    const Ordinal base = state.base(j) >= 0 ? state.base(j) : j;
    if (countReached<Device>(member, touched, first, j, base) > 0)
      Kokkos::single(Kokkos::PerThread(member), [&]() { state.dirty(j) = 1; });
  }
};

/// Dirty columns that meet a dirty one before them are to wait.
template <class Scalar, class Device>
struct MarkWaiting {
  IndexLists<Device> touched;
  Kokkos::View<const Ordinal*, Device> first;
  FactorState<Scalar, Device> state;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal j, void*) const {
    if (state.dirty(j) != 0 && countReached<Device>(member, touched, first, j, j) > 0)
      Kokkos::single(Kokkos::PerThread(member), [&]() { state.waiting(j) = 1; });
  }
};

/// The room that column j is to be computed in, 0 if it is clean or waits.
template <class Scalar, class Device>
struct RoomToCompute {
  FactorState<Scalar, Device> state;

  KOKKOS_FUNCTION Offset operator()(Offset j) const {
    return state.dirty(j) != 0 && state.waiting(j) == 0 ? state.rooms(j) : 0;
  }
};

/// All columns from the first dirty one on become dirty. Waits.
template <class Scalar, class Device>
void markTheRest(const typename Device::execution_space& exec,
                 const FactorState<Scalar, Device>& state) {
  using Exec = typename Device::execution_space;
  Ordinal first = INT_MAX;
  Kokkos::parallel_reduce(
      "Ainvil::InverseFactors[first dirty]", Range<Exec>(exec, 0, state.dirty.extent(0)),
      KOKKOS_LAMBDA(const Offset j, Ordinal& smallest) {
        if (state.dirty(j) != 0 && j < smallest)
          smallest = static_cast<Ordinal>(j);
      },
      Kokkos::Min<Ordinal>(first));
  Kokkos::parallel_for(
      "Ainvil::InverseFactors[rest]", Range<Exec>(exec, first, state.dirty.extent(0)),
      KOKKOS_LAMBDA(const Offset j) { state.dirty(j) = 1; });
}

/// Waits.
template <class Scalar, class Device>
Offset countDirty(const typename Device::execution_space& exec,
                  const FactorState<Scalar, Device>& state) {
  Offset dirty = 0;
  Kokkos::parallel_reduce(
      "Ainvil::InverseFactors[dirty]",
      Range<typename Device::execution_space>(exec, 0, state.dirty.extent(0)),
      KOKKOS_LAMBDA(const Offset j, Offset& sum) { sum += state.dirty(j) != 0 ? 1 : 0; }, dirty);
  return dirty;
}

/// sqrt |a_kk|, 1 where that is 0.
template <class Scalar, class Device>
void diagonalRoots(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                   const Kokkos::View<Scalar*, Device>& roots) {
  Kokkos::parallel_for(
      "Ainvil::InverseFactors[diagonal]",
      Range<typename Device::execution_space>(exec, 0, a.numRows()),
      KOKKOS_LAMBDA(const Offset row) {
        const Scalar size = compat::math::fabs(diagonalEntry(a, static_cast<Ordinal>(row)));
        roots(row) = size > Scalar(0) ? compat::math::sqrt(size) : Scalar(1);
      });
}

/// d_j = a_jj, the pivots of the identity, or 1 where that is 0.
template <class Scalar, class Device>
void firstPivots(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                 const Kokkos::View<Scalar*, Device>& pivots) {
  Kokkos::parallel_for(
      "Ainvil::InverseFactors[pivots]",
      Range<typename Device::execution_space>(exec, 0, a.numRows()),
      KOKKOS_LAMBDA(const Offset row) {
        const Scalar d = diagonalEntry(a, static_cast<Ordinal>(row));
        pivots(row) = d != Scalar(0) ? d : Scalar(1);
      });
}

/// The pivot of column i is not what the columns give.
template <class Device>
struct IsBroken {
  Kokkos::View<const char*, Device> broken;

  KOKKOS_FUNCTION bool operator()(Offset j) const { return broken(j) != 0; }
};

} // namespace

template <class Scalar, class Device>
InverseFactors<Scalar, Device>::InverseFactors(const execution_space& exec,
                                               const InverseFactorsParameters& parameters,
                                               Ordinal n)
    : parameters_(parameters), n_(n) {
  for (int s = 0; s < numSides(); ++s) {
    Side& side = sides_[s];
    side.columns = FactorColumns<Scalar, Device>(exec, n, first_column_place);
    side.touched = IndexLists<Device>(exec, n, first_touched_place);
    side.first = allocate<Ordinal, Device>(exec, "Ainvil::first", n);
    if (!parameters.stabilized)
      continue;
    side.of_rows.row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
    side.of_rows.head = allocate<Ordinal, Device>(exec, "Ainvil::head", n);
    side.of_rows.num_links = allocate<Offset, Device>(exec, "Ainvil::num_links", 1);
  }
  state_.current = allocateZeros<char, Device>(exec, "Ainvil::current", n);
  state_.changed = allocate<char, Device>(exec, "Ainvil::changed", n);
  state_.pivots = allocateZeros<Scalar, Device>(exec, "Ainvil::pivots", 2 * size_t(n));
  state_.broken = allocateZeros<char, Device>(exec, "Ainvil::broken", n);
  state_.rooms = allocate<Ordinal, Device>(exec, "Ainvil::rooms", n);
  Kokkos::deep_copy(exec, state_.rooms, smallest_room);
  state_.dirty = allocate<char, Device>(exec, "Ainvil::dirty", n);
  state_.base = allocate<Ordinal, Device>(exec, "Ainvil::base", n);
  state_.waiting = allocate<char, Device>(exec, "Ainvil::waiting", n);
  members_ = allocate<Ordinal, Device>(exec, "Ainvil::members", n);
  if (parameters.drop_rule == DropRule::Relative)
    scales_ = allocate<Scalar, Device>(exec, "Ainvil::scales", n);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::compute(const execution_space& exec, const Matrix& a,
                                             const Matrix& transposed) {
  if (computed_ == 0) // the columns are still those of the identity
    firstPivots(exec, a, state_.pivots);
  rounds_ = 0;
  computed_ = 0;
  if (scales_.data() != nullptr)
    diagonalRoots(exec, a, scales_);
  Kokkos::deep_copy(exec, state_.dirty, 1);
  const auto reachRows = [&](const auto& concerns, int s) {
    using Concerns = std::decay_t<decltype(concerns)>;
    Kokkos::deep_copy(exec, sides_[s].first, INT_MAX);
    forEachRow(exec, "Ainvil::InverseFactors[reach]", n_, RowTeams::forWork<execution_space>(4),
               ReachRows<Scalar, Device, Concerns>{s == 0 ? a.graph : transposed.graph,
                                                   other(s).columns, parameters_.stabilized,
                                                   concerns, state_, sides_[s].first});
  };
  const RowTeams lists = RowTeams::forWork<execution_space>(8);
  for (Offset dirty = n_; dirty > 0; dirty = countDirty(exec, state_), ++rounds_) {
    beginRound(exec, state_);
    for (int s = 0; s < numSides() && parameters_.stabilized; ++s)
      if (rounds_ == 0 || sides_[s].of_rows.isLong(exec))
        listColumns(exec, state_, sides_[s].columns, sides_[s].first, sides_[s].of_rows);
    for (int s = 0; s < numSides() && dirty > fewColumns(exec); ++s) {
      reachRows(IsDirty(), s);
      forEachRow(exec, "Ainvil::InverseFactors[waiting]", n_, lists,
                 MarkWaiting<Scalar, Device>{sides_[s].touched, sides_[s].first, state_});
    }
    // A host where columns are computed again and again, because chains of them are long, computes
    // the rest in their order, once.
    const bool in_order = !compat::IsGpu<execution_space>::value && computed_ > 3 * Offset(n_);
    if (in_order)
      markTheRest(exec, state_);
    computeColumns(exec, a, transposed, in_order);
    for (int s = 0; s < numSides(); ++s) {
      reachRows(HasChanged(), s);
      forEachRow(exec, "Ainvil::InverseFactors[dirty]", n_, lists,
                 MarkDirty<Scalar, Device>{sides_[s].touched, sides_[s].first, state_});
    }
    computed_ += endRound(exec, state_);
    for (int s = 0; s < numSides(); ++s) {
      sides_[s].columns.growIfExhausted(exec);
      sides_[s].touched.growIfExhausted(exec);
    }
  }
  breakdowns_ = countRows(exec, "Ainvil::InverseFactors[broken]", n_,
                          IsBroken<Device>{state_.broken}, first_breakdown_);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::computeColumns(const execution_space& exec, const Matrix& a,
                                                    const Matrix& transposed, bool in_order) {
  using Kernel = ConjugateColumns<Scalar, Device>;
  constexpr bool gpu = compat::IsGpu<execution_space>::value;
  Kernel kernel;
  kernel.members = members_;
  for (int s = 0; s < numSides(); ++s)
    kernel.sides[s] = {sides_[s].columns, other(s).columns, s == 0 ? transposed : a,
                       sides_[s].of_rows, other(s).of_rows, sides_[s].touched};
  kernel.state = state_;
  kernel.stabilized = parameters_.stabilized;
  kernel.symmetric = parameters_.symmetric;
  kernel.drop = static_cast<Scalar>(parameters_.drop);
  kernel.scales = scales_;
  kernel.max_column = parameters_.max_column;
  kernel.policy = parameters_.breakdown;
  kernel.shift = static_cast<Scalar>(parameters_.shift);
  // On GPUs fast memory decides how many threads run at a time, so that every room has its launch;
  // columns that find it too small are among those of the next. On hosts, where order matters,
  // there is one launch with room for all, and such columns wait for the next round.
  const RoomToCompute<Scalar, Device> size{state_};
  Offset largest = largestSize(exec, n_, size, INT_MAX);
  for (Offset room = gpu ? Offset(smallest_room) : largest; room <= largest; room *= 2) {
    const Ordinal count =
        selectSizes(exec, n_, size, gpu ? room / 2 : Offset(0), room, Ordinal(0), members_);
    const std::size_t bytes = Kernel::Work::bytes(static_cast<Ordinal>(room));
    const Offset chunks_at_most = gpu ? count
                                  : in_order
                                      ? 1
                                      : std::min<Offset>(exec.concurrency(), count / 256 + 1);
    const Offset at_a_time = gpu ? std::max<Offset>(1, scratch_limit / Offset(bytes)) : count;
    kernel.max_room = static_cast<Ordinal>(room);
    kernel.per_chunk =
        static_cast<Ordinal>((count + chunks_at_most - 1) / std::max<Offset>(1, chunks_at_most));
    for (Offset begin = 0; begin < count; begin += at_a_time) {
      kernel.first_member = static_cast<Ordinal>(begin);
      kernel.end_member = static_cast<Ordinal>(std::min<Offset>(count, begin + at_a_time));
      const Ordinal chunks =
          (kernel.end_member - kernel.first_member + kernel.per_chunk - 1) / kernel.per_chunk;
      // A whole warp a column: with fewer lanes the columns of a warp wait for each other, and the
      // same takes 1.2 to 2 times as long, although more columns are under way.
      forEachRow(exec, "Ainvil::InverseFactors[columns]", chunks,
                 RowTeams::forWork<execution_space>(32), kernel, bytes);
    }
    if (!gpu)
      break;
    if (room >= largest)
      largest = largestSize(exec, n_, size, INT_MAX);
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class InverseFactors<double, DEVICE>;                                                   \
  template class InverseFactors<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
