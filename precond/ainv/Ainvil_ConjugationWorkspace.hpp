// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A column of an inverse factor while it is computed, in scratch memory.

#include "backend/Ainvil_Lanes.hpp"
#include "graph/Ainvil_IndexTable.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {

/// Of the column x_j that a thread conjugates, in hash tables that the lanes of the thread share:
///   rows, values                the support of x_j, all rows in which it has been nonzero so far,
///                               and its values there, zero where they were dropped or cancelled;
///   product, product_values     v = B x_j;
///   candidates                  the columns i < j with which p_ij may be nonzero.
/// An entry lives at its slot, where the table found a place for its key. Tables of `table_size` n
/// take n / 2 rows and candidates and n rows of v; what does not fit sets `overflow`.
template <class Scalar, class Device>
struct ConjugationWorkspace {
  static constexpr bool concurrent = compat::IsGpu<typename Device::execution_space>::value;
  static constexpr Ordinal product_factor = 2; // v is fuller than x_j
  static constexpr int num_counters = 8;
  using Table = IndexTable<concurrent>;

  Scalar* values;         ///< of x_j, by slot of `rows`
  Scalar* product_values; ///< of v, by slot of `product`
  Table rows;             ///< its list: the slots in use
  Table candidates;       ///< its list: the candidates
  Table product;          ///< without a list
  Ordinal* slots;         ///< of `rows`: those of the last update of x_j, or those to be stored
  Scalar* changes;        ///< by how much the values at `slots` changed
  Ordinal* num_slots;
  Ordinal* counters;
  Ordinal* overflow; ///< nonzero: a table was too small

  static std::size_t bytes(Ordinal table_size) {
    return std::size_t(table_size) *
               ((2 + product_factor) * sizeof(Scalar) + (5 + product_factor) * sizeof(Ordinal)) +
           num_counters * sizeof(Ordinal);
  }

  /// Lays out bytes(table_size) of memory.
  KOKKOS_INLINE_FUNCTION ConjugationWorkspace(void* memory, Ordinal table_size) {
    const Offset n = table_size;
    values = static_cast<Scalar*>(memory);
    changes = values + n;
    product_values = changes + n;
    Ordinal* next = reinterpret_cast<Ordinal*>(product_values + product_factor * n);
    counters = next + (5 + product_factor) * n;
    rows = {next, next + n, counters, counters + 1, table_size};
    candidates = {next + 2 * n, next + 3 * n, counters + 2, counters + 3, table_size};
    slots = next + 4 * n;
    product = {next + 5 * n, nullptr, nullptr, counters + 4, product_factor * table_size};
    overflow = counters + 5;
    num_slots = counters + 6;
  }

  /// Empties all tables.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void clear(const Member& member) const {
    joinLanes(member); // one may still be reading
    forLanes(member, product.size, [&](const Ordinal t) {
      product.keys[t] = -1;
      if (t < rows.size) {
        rows.keys[t] = -1;
        candidates.keys[t] = -1;
      }
      if (t < num_counters)
        counters[t] = 0;
    });
  }

  /// Slot for a row outside of the support so far; -1 if the table is full.
  KOKKOS_INLINE_FUNCTION Ordinal addRow(Ordinal row) const {
    bool added;
    const Ordinal slot = rows.insert(row, added);
    if (slot >= 0)
      rows.list[Table::next(rows.count)] = slot;
    return slot;
  }

  KOKKOS_INLINE_FUNCTION void addCandidate(Ordinal i) const {
    bool added;
    if (candidates.insert(i, added) < 0)
      *overflow = 1;
    else if (added)
      candidates.list[Table::next(candidates.count)] = i;
  }

  /// The first candidate after column `last`, or list_end.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal nextCandidate(const Member& member, Ordinal last) const {
    Ordinal next = list_end;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, *candidates.count),
        [&](const Ordinal c, Ordinal& smallest) {
          const Ordinal i = candidates.list[c];
          smallest = i > last && i < smallest ? i : smallest;
        },
        Kokkos::Min<Ordinal>(next));
    joinLanes(member); // before any writes again
    return next;
  }

  /// slots = those of the nonzero values, by ascending rows; returns how many.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal sortNonzeros(const Member& member) const {
    Kokkos::single(Kokkos::PerThread(member), [&]() { *num_slots = 0; });
    forLanes(member, *rows.count, [&](const Ordinal t) {
      const Ordinal slot = rows.list[t];
      if (values[slot] != Scalar(0))
        slots[Table::next(num_slots)] = slot;
    });
    const Ordinal kept = *num_slots;
    const Ordinal* keys = rows.keys;
    if constexpr (!concurrent) { // insertion sort
      for (Ordinal e = 1; e < kept; ++e) {
        const Ordinal slot = slots[e];
        Ordinal at = e;
        for (; at > 0 && keys[slots[at - 1]] > keys[slot]; --at)
          slots[at] = slots[at - 1];
        slots[at] = slot;
      }
    } else { // an entry a lane: its place is the number of rows before its own
      Ordinal* sorted = candidates.list; // all have been visited
      forLanes(member, kept, [&](const Ordinal e) {
        Ordinal rank = 0;
        for (Ordinal f = 0; f < kept; ++f)
          rank += keys[slots[f]] < keys[slots[e]] ? 1 : 0;
        sorted[rank] = slots[e];
      });
      forLanes(member, kept, [&](const Ordinal e) { slots[e] = sorted[e]; });
    }
    return kept;
  }

  /// Of the first `kept` slots zeros all values but that of row j and the most - 1 of largest
  /// magnitude, of equal ones the upper; `changes` tells by how much each has changed. An entry a
  /// lane.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void keepLargest(const Member& member, Ordinal j, Ordinal kept,
                                          Ordinal most) const {
    // All lanes compare the values as they were.
    forLanes(member, kept, [&](const Ordinal e) {
      const Scalar value = values[slots[e]], size = compat::math::fabs(value);
      Ordinal larger = 0;
      for (Ordinal f = 0; f < kept; ++f) {
        const Scalar rival = compat::math::fabs(values[slots[f]]);
        const bool diagonal = rows.keys[slots[f]] == j;
        larger += diagonal || rival > size || (rival == size && f < e) ? 1 : 0;
      }
      const bool dropped = rows.keys[slots[e]] != j && larger >= most;
      changes[e] = dropped ? -value : Scalar(0);
    });
    forLanes(member, kept, [&](const Ordinal e) {
      if (changes[e] != Scalar(0))
        values[slots[e]] = 0;
    });
  }
};

} // namespace detail
} // namespace ainvil
