// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Rows of a rank and of others in the order of their global numbers.

#include "Ainvil_TpetraStructures.hpp"
#include "graph/Ainvil_NumberMarked.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ainvil {
namespace tpetra {
namespace detail {

/// The global number of column c of a map.
template <class LocalMap>
struct GlobalOfColumn {
  LocalMap columns;

  KOKKOS_FUNCTION auto operator()(Offset c) const {
    return columns.getGlobalElement(static_cast<Ordinal>(c));
  }
};

/// The global number that stands in an array.
template <class Array>
struct GlobalInArray {
  Array array;

  KOKKOS_FUNCTION auto operator()(Offset e) const { return array(e); }
};

/// The global number of the k-th own row in an order.
template <class LocalMap, class Device>
struct GlobalOfOwn {
  LocalMap rows;
  Kokkos::View<const Ordinal*, Device> order; ///< empty: that of the rank

  KOKKOS_FUNCTION Ordinal row(Offset k) const {
    return order.extent(0) > 0 ? order(k) : static_cast<Ordinal>(k);
  }
  KOKKOS_FUNCTION auto operator()(Offset k) const { return rows.getGlobalElement(row(k)); }
};

/// Counts the rows whose global number is not greater than that of the row before.
template <class OwnGlobals>
struct CountDescents {
  OwnGlobals own;

  KOKKOS_FUNCTION void operator()(Offset k, Ordinal& descents) const {
    descents += own(k + 1) > own(k) ? 0 : 1;
  }
};

/// stacked(k + others below own(k)) = number of the k-th own row.
template <class OwnGlobals, class Others, class Device>
struct MergeOwn {
  OwnGlobals own;
  Others others;
  Kokkos::View<Ordinal*, Device> stacked;

  KOKKOS_FUNCTION void operator()(Offset k) const {
    const Offset below = ainvil::detail::lowerBound(others, 0, others.extent(0), own(k));
    stacked(k + below) = own.row(k);
  }
};

/// stacked(k + own rows below others(k)) = number of the k-th of the others.
template <class OwnGlobals, class Others, class Device>
struct MergeOthers {
  OwnGlobals own;
  Ordinal num_own;
  Others others;
  Kokkos::View<const Ordinal*, Device> numbers;
  Kokkos::View<Ordinal*, Device> stacked;

  KOKKOS_FUNCTION void operator()(Offset k) const {
    const Offset below = ainvil::detail::lowerBound(own, 0, num_own, others(k));
    stacked(k + below) = num_own + numbers(k);
  }
};

/// place(k) = number of the row with the global number global(k), -1 if there is none.
template <class LocalMap, class Others, class Global, class Device>
struct PlaceGlobals {
  LocalMap rows;
  Ordinal num_own;
  Others others;
  Kokkos::View<const Ordinal*, Device> numbers;
  Global global;
  Kokkos::View<Ordinal*, Device> place;

  KOKKOS_FUNCTION void operator()(Offset k) const {
    const auto wanted = global(k);
    const Ordinal own = rows.getLocalElement(wanted);
    if (own >= 0 && own < num_own) {
      place(k) = own;
      return;
    }
    const Offset at = ainvil::detail::findEntry(others, 0, others.extent(0), wanted);
    place(k) = at >= 0 ? num_own + numbers(at) : -1;
  }
};

/// marks(k) = 1 where place(k) = -1 and global(k) < bound, 0 elsewhere.
template <class GO, class Global, class Device>
struct MarkMissing {
  Kokkos::View<const Ordinal*, Device> place;
  Global global;
  GO bound;
  Kokkos::View<Ordinal*, Device> marks;

  KOKKOS_FUNCTION void operator()(Offset k) const {
    marks(k) = place(k) < 0 && global(k) < bound ? 1 : 0;
  }
};

/// to(k) = global(members(k)).
template <class Global, class Device, class To>
struct ListGlobals {
  Kokkos::View<const Ordinal*, Device> members;
  Global global;
  To to;

  KOKKOS_FUNCTION void operator()(Offset k) const { to(k) = global(members(k)); }
};

} // namespace detail

/// The rows of a map that a rank has, and rows of other ranks, in ascending order of global
/// numbers. Beside this order there is the one in which they are stacked: the own ones as the rank
/// numbers them, below them the others as they are given. Nothing is done row by row on the host,
/// unless the rank does not number its own rows in ascending order.
template <class LO, class GO, class Node>
class GlobalOrder {
public:
  using device_type = typename Node::device_type;
  using execution_space = typename device_type::execution_space;
  using map_type = Tpetra::Map<LO, GO, Node>;

  GlobalOrder() = default;
  /// Of own rows alone. Waits.
  GlobalOrder(const execution_space& exec, const map_type& rows)
      : rows_(rows.getLocalMap()), num_own_(compat::numLocalElements(rows)),
        own_ascend_(rows.isContiguous() || ascend(exec)) {
    if (!own_ascend_)
      sortOwn(rows);
  }

  /// Adds rows of other ranks, of which none is there yet. Waits.
  void add(const std::vector<GO>& others) {
    given_.insert(given_.end(), others.begin(), others.end());
    std::vector<std::pair<GO, Ordinal>> sorted;
    for (const GO other : given_)
      sorted.emplace_back(other, static_cast<Ordinal>(sorted.size()));
    std::sort(sorted.begin(), sorted.end());
    std::vector<GO> globals;
    for (const auto& pair : sorted)
      globals.push_back(pair.first);
    others_ = onDevice<device_type>(Teuchos::ArrayView<const GO>(globals), label);
    numbers_ = secondOf(sorted);
  }

  Ordinal count() const { return num_own_ + static_cast<Ordinal>(given_.size()); } ///< all rows
  /// Whether the rank numbers its own rows in ascending order.
  bool ownAscend() const { return own_ascend_; }

  /// The numbers that the rows have where they are stacked. Asynchronous.
  Kokkos::View<const Ordinal*, device_type> stacked(const execution_space& exec) const {
    const auto stacked = allocate<Ordinal, device_type>(exec, label, count());
    const Own own{rows_, own_order_};
    Kokkos::parallel_for("Ainvil::tpetra::GlobalOrder[own]", Range(exec, 0, num_own_),
                         detail::MergeOwn<Own, Others, device_type>{own, others_, stacked});
    Kokkos::parallel_for(
        "Ainvil::tpetra::GlobalOrder[others]", Range(exec, 0, others_.extent(0)),
        detail::MergeOthers<Own, Others, device_type>{own, num_own_, others_, numbers_, stacked});
    return stacked;
  }

  /// Where the rows with the global numbers global(0), global(1), ... are stacked; -1 where there
  /// is none. Asynchronous.
  template <class Global>
  Kokkos::View<const Ordinal*, device_type> placed(const execution_space& exec, Offset count,
                                                   const Global& global) const {
    const auto place = allocate<Ordinal, device_type>(exec, label, count);
    Kokkos::parallel_for("Ainvil::tpetra::GlobalOrder[place]", Range(exec, 0, count),
                         detail::PlaceGlobals<LocalMap, Others, Global, device_type>{
                             rows_, num_own_, others_, numbers_, global, place});
    return place;
  }

  /// Those of the global numbers global(0), global(1), ... below a bound that no row has, each
  /// once. Waits.
  template <class Global>
  std::vector<GO> missing(const execution_space& exec, Offset count, const Global& global,
                          GO bound) const {
    const auto marks = allocateZeros<Ordinal, device_type>(exec, label, size_t(count) + 1);
    Kokkos::parallel_for("Ainvil::tpetra::GlobalOrder[missing]", Range(exec, 0, count),
                         detail::MarkMissing<GO, Global, device_type>{placed(exec, count, global),
                                                                      global, bound, marks});
    std::vector<GO> all =
        listed(exec, ainvil::detail::numberMarked<device_type>(exec, marks).members, global);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  /// The number that one of the others was given.
  GO globalOfOther(Ordinal stacked) const { return given_[stacked - num_own_]; }

private:
  static constexpr const char* label = "Ainvil::tpetra::GlobalOrder";
  using Range = ainvil::detail::Range<execution_space>;
  using LocalMap = std::decay_t<decltype(std::declval<map_type>().getLocalMap())>;
  using Others = Kokkos::View<const GO*, device_type>;
  using Own = detail::GlobalOfOwn<LocalMap, device_type>;

  bool ascend(const execution_space& exec) const {
    const Own own{rows_, {}};
    Ordinal descents = 0;
    Kokkos::parallel_reduce("Ainvil::tpetra::GlobalOrder[ascend]",
                            Range(exec, 0, std::max(num_own_, Ordinal(1)) - 1),
                            detail::CountDescents<Own>{own}, descents);
    ainvil::compat::fence(exec, label);
    return descents == 0;
  }

  void sortOwn(const map_type& rows) {
    std::vector<std::pair<GO, Ordinal>> all;
    for (Ordinal i = 0; i < num_own_; ++i)
      all.emplace_back(rows.getGlobalElement(i), i);
    std::sort(all.begin(), all.end());
    own_order_ = secondOf(all);
  }

  static Kokkos::View<const Ordinal*, device_type>
  secondOf(const std::vector<std::pair<GO, Ordinal>>& pairs) {
    std::vector<Ordinal> numbers;
    for (const auto& pair : pairs)
      numbers.push_back(pair.second);
    return onDevice<device_type>(Teuchos::ArrayView<const Ordinal>(numbers), label);
  }

  template <class Global>
  std::vector<GO> listed(const execution_space& exec,
                         const Kokkos::View<const Ordinal*, device_type>& members,
                         const Global& global) const {
    using To = Kokkos::View<GO*, device_type>;
    const To to = allocate<GO, device_type>(exec, label, members.extent(0));
    Kokkos::parallel_for("Ainvil::tpetra::GlobalOrder[list]", Range(exec, 0, members.extent(0)),
                         detail::ListGlobals<Global, device_type, To>{members, global, to});
    ainvil::compat::fence(exec, label);
    const auto host = copyArray<HostDevice>(to, label);
    return {host.data(), host.data() + host.extent(0)};
  }

  LocalMap rows_;
  Ordinal num_own_ = 0;
  std::vector<GO> given_;                             ///< the others
  Others others_;                                     ///< in ascending order
  Kokkos::View<const Ordinal*, device_type> numbers_; ///< where they are given
  bool own_ascend_ = true;
  Kokkos::View<const Ordinal*, device_type> own_order_; ///< empty if they ascend
};

} // namespace tpetra
} // namespace ainvil
