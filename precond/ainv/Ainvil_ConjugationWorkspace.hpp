// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A column of an inverse factor while it is computed, in scratch memory.

#include "graph/Ainvil_IndexTable.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {

/// x_j, v = B x_j and the columns i that x_j is to meet, in hash tables that the lanes of a thread
/// share; see ConjugateColumns.
template <class Scalar, class Device>
struct ConjugateScratch {
  static constexpr bool concurrent = compat::IsGpu<typename Device::execution_space>::value;
  static constexpr Ordinal product_size = 2; ///< of the table of v, in sizes of that of x_j
  static constexpr int num_counters = 8;
  using Table = IndexTable<concurrent>;

  Scalar* values;         ///< of x_j, by slot
  Scalar* changes;        ///< of what `list` holds
  Scalar* product_values; ///< of v, by slot
  Table rows;             ///< of x_j, of what ever was not zero; its list holds the slots of these
  Table met;              ///< columns to meet; its list holds them too
  Table product;          ///< rows of v; without a list
  Ordinal* list;          ///< slots of x_j
  Ordinal* list_length;
  Ordinal* counters;
  Ordinal* full; ///< nonzero: a table was too small

  static std::size_t bytes(Ordinal room) {
    return std::size_t(room) *
               ((2 + product_size) * sizeof(Scalar) + (5 + product_size) * sizeof(Ordinal)) +
           num_counters * sizeof(Ordinal);
  }

  /// Lays out bytes(room) of memory.
  KOKKOS_INLINE_FUNCTION ConjugateScratch(void* memory, Ordinal room) {
    const Offset n = room;
    values = static_cast<Scalar*>(memory);
    changes = values + n;
    product_values = changes + n;
    Ordinal* next = reinterpret_cast<Ordinal*>(product_values + product_size * n);
    counters = next + (5 + product_size) * n;
    rows = {next, next + n, counters, counters + 1, room};
    met = {next + 2 * n, next + 3 * n, counters + 2, counters + 3, room};
    list = next + 4 * n;
    product = {next + 5 * n, nullptr, nullptr, counters + 4, product_size * room};
    full = counters + 5;
    list_length = counters + 6;
  }

  /// Empties all tables.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void clear(const Member& member) const {
    joinLanes(member); // one may still be reading
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, product.size), [&](const Ordinal t) {
      product.keys[t] = -1;
      if (t < rows.size) {
        rows.keys[t] = -1;
        met.keys[t] = -1;
      }
      if (t < num_counters)
        counters[t] = 0;
    });
  }

  /// Slot of a row in which x_j, zero so far, no longer is; -1 if there is no room.
  KOKKOS_INLINE_FUNCTION Ordinal open(Ordinal row) const {
    bool added;
    const Ordinal slot = rows.insert(row, added);
    if (slot >= 0)
      rows.list[Table::next(rows.count)] = slot;
    return slot;
  }

  /// Adds column i to those that x_j is to meet.
  KOKKOS_INLINE_FUNCTION void meet(Ordinal i) const {
    bool added;
    if (met.insert(i, added) < 0)
      *full = 1;
    else if (added)
      met.list[Table::next(met.count)] = i;
  }

  /// The first column to meet after `last`, or list_end.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal nextToMeet(const Member& member, Ordinal last) const {
    Ordinal next = list_end;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, *met.count),
        [&](const Ordinal c, Ordinal& smallest) {
          const Ordinal i = met.list[c];
          smallest = i > last && i < smallest ? i : smallest;
        },
        Kokkos::Min<Ordinal>(next));
    joinLanes(member); // before any writes again
    return next;
  }

  /// The slots with nonzero values become the first of `list`, by ascending rows; returns how many.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal collect(const Member& member) const {
    Kokkos::single(Kokkos::PerThread(member), [&]() { *list_length = 0; });
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, *rows.count), [&](const Ordinal t) {
      const Ordinal slot = rows.list[t];
      if (values[slot] != Scalar(0))
        list[Table::next(list_length)] = slot;
    });
    const Ordinal kept = *list_length;
    const Ordinal* keys = rows.keys;
    if constexpr (!concurrent) {
      for (Ordinal e = 1; e < kept; ++e) {
        const Ordinal slot = list[e];
        Ordinal at = e;
        for (; at > 0 && keys[list[at - 1]] > keys[slot]; --at)
          list[at] = list[at - 1];
        list[at] = slot;
      }
    } else {
      Ordinal* sorted = met.list; // no longer needed
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, kept), [&](const Ordinal e) {
        Ordinal rank = 0;
        for (Ordinal f = 0; f < kept; ++f)
          rank += keys[list[f]] < keys[list[e]] ? 1 : 0;
        sorted[rank] = list[e];
      });
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, kept),
                           [&](const Ordinal e) { list[e] = sorted[e]; });
    }
    return kept;
  }

  /// Zeros all of the `kept` listed slots but that of row j and the most - 1 of largest magnitude,
  /// of equal ones the first; `changes` tells by how much each has changed.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void keepLargest(const Member& member, Ordinal j, Ordinal kept,
                                          Ordinal most) const {
    // All lanes compare the values as they were.
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, kept), [&](const Ordinal e) {
      const Scalar value = values[list[e]], size = compat::math::fabs(value);
      Ordinal larger = 0;
      for (Ordinal f = 0; f < kept; ++f) {
        const Scalar rival = compat::math::fabs(values[list[f]]);
        const bool diagonal = rows.keys[list[f]] == j;
        larger += diagonal || rival > size || (rival == size && f < e) ? 1 : 0;
      }
      const bool dropped = rows.keys[list[e]] != j && larger >= most;
      changes[e] = dropped ? -value : Scalar(0);
    });
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, kept), [&](const Ordinal e) {
      if (changes[e] != Scalar(0))
        values[list[e]] = 0;
    });
  }
};

} // namespace detail
} // namespace ainvil
