// SPDX-License-Identifier: BSD-3-Clause
#include "ainv/Ainvil_InverseFactors.hpp"

#include "ainv/Ainvil_ConjugateColumns.hpp"
#include "backend/Ainvil_SizeClasses.hpp"
#include "graph/Ainvil_CountRows.hpp"

#include <algorithm>
#include <climits>
#include <utility>

namespace ainvil {
namespace detail {
namespace {

constexpr Ordinal smallest_room = 32;       // of hash tables
constexpr Ordinal first_column_place = 4;   // entries
constexpr Ordinal first_touched_place = 8;  // rows
constexpr Offset scratch_limit = 1ll << 30; // bytes of scratch memory in one launch
constexpr Ordinal fewest_steps = 64;        // columns of a chunk between reports of progress

/// So many columns are computed at the same time, on GPUs a warp each, that it does not pay to put
/// any off. Where some need large rooms a round takes as long as the longest of them, and many more
/// are computed beside it.
template <class Exec>
Offset fewColumns(const Exec& exec, Ordinal largest_room) {
  const Offset at_once = exec.concurrency() / Kokkos::TeamPolicy<Exec>::vector_length_max();
  return largest_room > 4 * smallest_room ? 4 * at_once : at_once;
}

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

} // namespace

template <class Scalar, class Device>
InverseFactors<Scalar, Device>::InverseFactors(const execution_space& exec,
                                               const InverseFactorsParameters& parameters,
                                               Ordinal n)
    : parameters_(parameters), n_(n),
      by_events_(parameters.schedule == ColumnSchedule::Device
                     ? compat::IsGpu<execution_space>::value
                     : parameters.schedule == ColumnSchedule::Events) {
  constexpr int round_counters = of_room + Agenda<Device>::num_rooms, side_counters = 4;
  counters_ = allocateZeros<Offset, Device>(exec, "Ainvil::counters",
                                            round_counters + side_counters * numSides());
  const HostDevice::execution_space host;
  read_ = allocate<Offset, HostDevice>(host, "Ainvil::counters", counters_.extent(0));
  const auto counters = [&](int begin, int end) {
    return Kokkos::subview(counters_, std::make_pair(begin, end));
  };
  for (int s = 0; s < numSides(); ++s) {
    Side& side = sides_[s];
    side.first = allocate<Ordinal, Device>(exec, "Ainvil::first", n);
    const int at = round_counters + side_counters * s;
    side.columns = FactorColumns<Scalar, Device>(exec, n, first_column_place, counters(at, at + 1));
    side.touched = IndexLists<Device>(exec, n, first_touched_place, counters(at + 1, at + 2));
    if (parameters.stabilized)
      side.of_rows = ColumnsOfRows<Device>(exec, n, counters(at + 2, at + 3));
    if (by_events_ || exec.concurrency() > 1)
      side.touching = ColumnsOfRows<Device>(exec, n, counters(at + 3, at + 4));
  }
  state_.current = allocateZeros<char, Device>(exec, "Ainvil::current", n);
  state_.changed = allocate<char, Device>(exec, "Ainvil::changed", n);
  state_.pivots = allocateZeros<Scalar, Device>(exec, "Ainvil::pivots", 2 * size_t(n));
  state_.broken = allocateZeros<char, Device>(exec, "Ainvil::broken", n);
  state_.rooms = allocate<Ordinal, Device>(exec, "Ainvil::rooms", n);
  Kokkos::deep_copy(exec, state_.rooms, smallest_room);
  state_.dirty = allocate<char, Device>(exec, "Ainvil::dirty", n);
  state_.base = allocate<Ordinal, Device>(exec, "Ainvil::base", n);
  agenda_.members = allocate<Ordinal, Device>(exec, "Ainvil::members", n);
  if (by_events_) {
    agenda_.chosen = allocate<Ordinal, Device>(exec, "Ainvil::chosen", n);
    agenda_.proposed = allocate<Ordinal, Device>(exec, "Ainvil::proposed", n);
    agenda_.is_proposed = allocate<Ordinal, Device>(exec, "Ainvil::is_proposed", n);
  }
  agenda_.num_chosen = counters(num_chosen, num_chosen + 1);
  agenda_.num_proposed = counters(num_proposed, num_proposed + 1);
  agenda_.num_left = counters(num_left, num_left + 1);
  stop_ = counters(stop_place, stop_place + 1);
  num_entries_ = counters(entries_place, entries_place + 1);
  num_broken_ = counters(broken_place, broken_place + 1);
  Kokkos::deep_copy(exec, num_entries_, Offset(n) * numSides());
  agenda_.of_room = counters(of_room, round_counters);
  begins_ = allocate<Offset, HostDevice>(host, "Ainvil::begins", agenda_.of_room.extent(0));
  if (parameters.drop_rule == DropRule::Relative)
    scales_ = allocate<Scalar, Device>(exec, "Ainvil::scales", n);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::compute(const execution_space& exec, const Matrix& a,
                                             const Matrix& transposed, const Progress& progress) {
  if (n_ == 0)
    return;
  if (rounds_ == 0) // the columns are still those of the identity
    firstPivots(exec, a, state_.pivots);
  rounds_ = 0;
  num_members_ = 0;
  if (scales_.data() != nullptr)
    diagonalRoots(exec, a, scales_);
  Kokkos::deep_copy(exec, state_.dirty, 1);
  Kokkos::deep_copy(exec, state_.changed, static_cast<char>(Change::None));
  Kokkos::deep_copy(exec, state_.base, -1);
  Kokkos::deep_copy(exec, agenda_.num_left, 0);
  Kokkos::deep_copy(exec, stop_, 0);
  makePlace(exec, true);
  if (by_events_)
    computeByEvents(exec, a, transposed, progress);
  else
    computeInChunks(exec, a, transposed, progress);
  breakdowns_ = countRows(exec, "Ainvil::InverseFactors[broken]", n_,
                          IsBroken<Device>{state_.broken}, first_breakdown_);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::computeByEvents(const execution_space& exec, const Matrix& a,
                                                     const Matrix& transposed,
                                                     const Progress& progress) {
  Kokkos::deep_copy(exec, agenda_.is_proposed, 0);
  proposeDirty(exec);
  while (true) {
    const Ordinal count = choose(exec, a, transposed);
    if (hasEnded(exec))
      return;
    if (count == 0) {
      proposeDirty(exec);
      if (proposed_ == 0)
        return;
      continue;
    }
    // Fast memory decides how many columns are computed at a time, so that every room has its
    // launch; columns that find it too small are among those of the next round.
    Ordinal begin = 0;
    for (int log = 0; log < Agenda<Device>::num_rooms; ++log) {
      const Ordinal end = begin + static_cast<Ordinal>(read_(of_room + log));
      computeColumns(exec, a, transposed, begin, end, 1, Ordinal(1) << log, {});
      begin = end;
    }
    const bool passes = wake(exec, a, transposed, count);
    endRound(exec, count, !passes);
    proposed_ = -1;
    if (passes)
      proposeDirty(exec);
    num_members_ += count;
    ++rounds_;
    tell(exec, progress);
  }
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::computeInChunks(const execution_space& exec, const Matrix& a,
                                                     const Matrix& transposed,
                                                     const Progress& progress) {
  while (true) {
    // Where columns are computed again and again, because chains of them are long, the rest is
    // computed in order, once.
    const bool in_order = exec.concurrency() == 1 || columnsComputed() > 3 * Offset(n_);
    const auto listDirty = [&] {
      return selectSizes(exec, n_, IsDirty<Device>{state_.dirty}, 0, 1, Ordinal(0),
                         agenda_.members);
    };
    Ordinal count = listDirty();
    if (count == 0)
      return;
    if (in_order) {
      markTheRest(exec, state_);
      count = listDirty();
    }
    const Offset room = largestSize(exec, n_, RoomOfDirty<Scalar, Device>{state_}, INT_MAX);
    const Offset chunks =
        in_order ? 1 : std::min<Offset>(exec.concurrency(), Offset(count) / 256 + 1);
    computeColumns(exec, a, transposed, 0, count,
                   static_cast<Ordinal>((count + chunks - 1) / chunks), static_cast<Ordinal>(room),
                   progress);
    if (!in_order)
      wake(exec, a, transposed, count);
    endRound(exec, count, false);
    num_members_ += count;
    ++rounds_;
    makePlace(exec, false);
    if (hasEnded(exec))
      return;
  }
}

/// Whether the columns need not be completed, between two rounds and by the counters last read:
/// they are too full, or the first of the bad pivots is certain, because no column before it is
/// dirty.
template <class Scalar, class Device>
bool InverseFactors<Scalar, Device>::hasEnded(const execution_space& exec) const {
  if (read_(stop_place) != 0)
    return true;
  if (parameters_.breakdown != BreakdownPolicy::Fail || read_(broken_place) == 0)
    return false;
  Ordinal broken, dirty;
  countRows(exec, "Ainvil::InverseFactors[broken]", n_, IsBroken<Device>{state_.broken}, broken);
  countRows(exec, "Ainvil::InverseFactors[dirty]", n_, IsDirty<Device>{state_.dirty}, dirty);
  return dirty < 0 || broken < dirty;
}

/// The columns that have been computed in this compute(), over all rounds.
template <class Scalar, class Device>
Offset InverseFactors<Scalar, Device>::columnsComputed() const {
  return n_ == 0 ? 0 : num_members_ - read_(num_left);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::tell(const execution_space& exec,
                                          const Progress& progress) const {
  Ordinal first;
  if (progress)
    progress(n_ - countRows(exec, "Ainvil::InverseFactors[dirty]", n_,
                            IsDirty<Device>{state_.dirty}, first));
}

/// Whether to go over all columns rather than to wake single ones, if so many are to do so: they
/// reach more rows than there are columns.
template <class Scalar, class Device>
bool InverseFactors<Scalar, Device>::passesPay(const Matrix& a, Offset count) const {
  double entries = 0; // of Y, about
  for (int s = 0; s < numSides(); ++s) {
    const ColumnsOfRows<Device>& of_rows = sides_[s].of_rows;
    entries += parameters_.stabilized ? double(of_rows.num_listed + read(of_rows.num_links)) : n_;
  }
  return double(count) / n_ * entries * a.graph.meanRowLength() > n_;
}

/// A counter as it was when last read.
template <class Scalar, class Device>
Offset InverseFactors<Scalar, Device>::read(const Counter<Device>& counter) const {
  return read_(counter.data() - counters_.data());
}

template <class Scalar, class Device>
ReachedRows<Scalar, Device> InverseFactors<Scalar, Device>::reachedRows(const Matrix& a,
                                                                        const Matrix& transposed,
                                                                        int side) const {
  return {side == 0 ? a.graph : transposed.graph, other(side).columns, parameters_.stabilized,
          state_.current};
}

/// Proposes all dirty columns, none of which is proposed. Waits.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::proposeDirty(const execution_space& exec) {
  proposed_ =
      selectSizes(exec, n_, IsDirty<Device>{state_.dirty}, 0, 1, Ordinal(0), agenda_.proposed);
  Kokkos::deep_copy(exec, agenda_.num_proposed, proposed_);
}

/// first(k) of a side for the columns of a list.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::reach(const execution_space& exec, const Matrix& a,
                                           const Matrix& transposed, int side, bool changed_only,
                                           const Kokkos::View<const Ordinal*, Device>& list,
                                           Ordinal count) {
  const auto first = sides_[side].first;
  Kokkos::deep_copy(exec, first, INT_MAX);
  forEachRow(exec, "Ainvil::InverseFactors[reach]", count, teamsForRowsOf(a.graph),
             FirstToReach<Scalar, Device>{reachedRows(a, transposed, side), changed_only, state_,
                                          list, first});
}

/// Makes proposed columns members. Returns how many there are; waits.
template <class Scalar, class Device>
Ordinal InverseFactors<Scalar, Device>::choose(const execution_space& exec, const Matrix& a,
                                               const Matrix& transposed) {
  ChooseColumns<Scalar, Device> kernel;
  kernel.few = fewColumns(exec, largest_room_);
  const bool by_passes = proposed_ > kernel.few && passesPay(a, proposed_);
  for (int s = 0; s < numSides(); ++s) {
    kernel.sides[s] = {s == 0 ? transposed.graph : a.graph,
                       sides_[s].touched,
                       other(s).columns,
                       other(s).of_rows,
                       {}};
    if (!by_passes)
      continue;
    reach(exec, a, transposed, s, false, agenda_.proposed, static_cast<Ordinal>(proposed_));
    kernel.sides[s].first = sides_[s].first;
  }
  kernel.num_sides = numSides();
  kernel.stabilized = parameters_.stabilized;
  kernel.state = state_;
  kernel.agenda = agenda_;
  const RowTeams lists = RowTeams::forWork<execution_space>(8);
  kernel.num_threads =
      static_cast<Ordinal>(std::min<Offset>(n_, exec.concurrency() / lists.lanes + 1));
  Kokkos::deep_copy(exec, agenda_.num_chosen, 0);
  Kokkos::deep_copy(exec, agenda_.of_room, 0);
  forEachRow(exec, "Ainvil::InverseFactors[choose]", kernel.num_threads, lists, kernel);
  Kokkos::deep_copy(exec, agenda_.num_proposed, 0);
  makePlace(exec, false);
  const Ordinal count = static_cast<Ordinal>(read_(num_chosen));
  sortMembers(exec, count);
  return count;
}

/// The members are the chosen columns, by rooms.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::sortMembers(const execution_space& exec, Ordinal count) {
  int rooms = 0;
  Offset begin = 0;
  for (int log = 0; log < Agenda<Device>::num_rooms; ++log) {
    begins_(log) = begin;
    begin += read_(of_room + log);
    if (read_(of_room + log) == 0)
      continue;
    ++rooms;
    largest_room_ = Ordinal(1) << log;
  }
  if (rooms < 2) { // nothing to sort
    std::swap(agenda_.chosen, agenda_.members);
    return;
  }
  Kokkos::deep_copy(exec, agenda_.of_room, begins_);
  Kokkos::parallel_for("Ainvil::InverseFactors[sort]", Range<execution_space>(exec, 0, count),
                       SortByRoom<Scalar, Device>{state_, agenda_});
}

/// Makes place where the last round found none, and lists again what has become long; or
/// everything.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::makePlace(const execution_space& exec, bool list_all) {
  Kokkos::deep_copy(exec, read_, counters_);
  compat::fence(exec, "Ainvil::InverseFactors");
  for (int s = 0; s < numSides(); ++s) {
    Side& side = sides_[s];
    if (read(side.columns.pool.cursor) > side.columns.pool.size)
      side.columns.grow(exec);
    if (read(side.touched.pool.cursor) > side.touched.pool.size)
      side.touched.grow(exec);
    ColumnsOfRows<Device>& of_rows = side.of_rows;
    if (parameters_.stabilized && (list_all || of_rows.areLong(read(of_rows.num_links))))
      of_rows.list(exec, RowsOfCurrent<Scalar, Device>{side.columns, state_.current}, side.first);
    ColumnsOfRows<Device>& touching = side.touching;
    if (touching.head.data() != nullptr && (list_all || touching.areLong(read(touching.num_links))))
      touching.list(exec, RowsTouched<Device>{side.touched}, side.first);
  }
}

/// Members begin, ..., end - 1, `per_chunk` of them by a thread, in rooms up to this one. If the
/// progress is to be told, in launches of about a hundredth of each chunk.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::computeColumns(const execution_space& exec, const Matrix& a,
                                                    const Matrix& transposed, Ordinal begin,
                                                    Ordinal end, Ordinal per_chunk, Ordinal room,
                                                    const Progress& progress) {
  using Kernel = ConjugateColumns<Scalar, Device>;
  Kernel kernel;
  kernel.members = agenda_.members;
  for (int s = 0; s < numSides(); ++s)
    kernel.sides[s] = {sides_[s].columns, other(s).columns, s == 0 ? transposed : a,
                       sides_[s].of_rows, other(s).of_rows, sides_[s].touched,
                       sides_[s].touching};
  kernel.state = state_;
  kernel.stabilized = parameters_.stabilized;
  kernel.symmetric = parameters_.symmetric;
  kernel.drop = static_cast<Scalar>(parameters_.drop);
  kernel.scales = scales_;
  kernel.max_column = parameters_.max_column;
  kernel.policy = parameters_.breakdown;
  kernel.shift = static_cast<Scalar>(parameters_.shift);
  kernel.ascending = !by_events_;
  kernel.most_entries = parameters_.max_entries > 0 ? parameters_.max_entries : LLONG_MAX;
  kernel.num_entries = num_entries_;
  kernel.num_broken = num_broken_;
  kernel.stop = stop_;
  kernel.max_room = room;
  kernel.per_chunk = per_chunk;
  kernel.steps = progress ? std::max(fewest_steps, per_chunk / 100) : per_chunk;
  const std::size_t bytes = Kernel::Work::bytes(room);
  const Offset at_a_time = std::max<Offset>(1, scratch_limit / Offset(bytes)) * per_chunk;
  for (Offset first = begin; first < end; first += at_a_time) {
    kernel.first_member = static_cast<Ordinal>(first);
    kernel.end_member = static_cast<Ordinal>(std::min<Offset>(end, first + at_a_time));
    const Ordinal chunks = (kernel.end_member - kernel.first_member + per_chunk - 1) / per_chunk;
    for (kernel.first_step = 0; kernel.first_step < per_chunk; kernel.first_step += kernel.steps) {
      // A whole warp a column: with fewer lanes the columns of a warp wait for each other, and the
      // same takes 1.2 to 2 times as long, although more columns are under way.
      forEachRow(exec, "Ainvil::InverseFactors[columns]", chunks,
                 RowTeams::forWork<execution_space>(32), kernel, bytes);
      tell(exec, progress);
    }
  }
}

/// Marks as dirty whom the new versions of the first `count` members concern. Returns true if by
/// passes over all columns; else they are proposed too, if by events.
template <class Scalar, class Device>
bool InverseFactors<Scalar, Device>::wake(const execution_space& exec, const Matrix& a,
                                          const Matrix& transposed, Ordinal count) {
  if (passesPay(a, count)) {
    for (int s = 0; s < numSides(); ++s) {
      reach(exec, a, transposed, s, true, agenda_.members, count);
      forEachRow(exec, "Ainvil::InverseFactors[dirty]", n_, RowTeams::forWork<execution_space>(8),
                 MarkDirty<Scalar, Device>{sides_[s].touched, sides_[s].first, state_});
    }
    return true;
  }
  Wake<Scalar, Device> kernel;
  for (int s = 0; s < numSides(); ++s)
    kernel.sides[s] = {reachedRows(a, transposed, s), sides_[s].touching};
  kernel.num_sides = numSides();
  kernel.state = state_;
  kernel.agenda = agenda_;
  kernel.propose = by_events_;
  forEachRow(exec, "Ainvil::InverseFactors[wake]", count, teamsForRowsOf(a.graph), kernel);
  return false;
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::endRound(const execution_space& exec, Ordinal count,
                                              bool propose) {
  Kokkos::parallel_for("Ainvil::InverseFactors[end]", Range<execution_space>(exec, 0, count),
                       EndRound<Scalar, Device>{state_, agenda_, propose});
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class InverseFactors<double, DEVICE>;                                                   \
  template class InverseFactors<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
