// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Cholesky factorisation of one matrix of any size by a team of a GPU, the matrix in global
/// memory.

#include "backend/Ainvil_Lanes.hpp"
#include "dense/Ainvil_CholeskyKernels.hpp"

#include <cstddef>

namespace ainvil {
namespace detail {

/// The algorithm of factorInScratch() with panels in blocks of block_rows rows: scratch memory
/// holds the block at hand and what it is multiplied with, so its size does not depend on n.
template <class Scalar, class Member>
class PanelCholesky {
public:
  static constexpr int block_rows = 64;
  static constexpr int team_lanes = 128;
  static constexpr std::size_t scratch_scalars =
      std::size_t(panel_width) * panel_width + (block_rows + panel_width) * (panel_width + 1);
  static_assert(tileRows(team_lanes) == block_rows, "a team has a block in hand");

  /// `scratch`: room for scratch_scalars, aligned for Pack. The team has team_lanes lanes.
  KOKKOS_FUNCTION PanelCholesky(const Member& member, int n, Scalar* packed, Scalar* scratch)
      : member_(member), lane_(member.team_rank() * panel_width + laneOf<panel_width>(member)),
        n_(n), packed_(packed), columns_(scratch), rows_(scratch + panel_width * panel_width),
        panel_(rows_ + block_rows * stride) {}

  KOKKOS_FUNCTION int factor() const {
    for (int first = 0; first < n_; first += panel_width)
      for (int begin = first; begin < n_; begin += block_rows) {
        updateBlock(first, begin);
        if (begin == first) {
          const int bad = factorDiagonal(first);
          if (bad > 0) {
            storeBlock(first, begin, bad - 1);
            member_.team_barrier();
            return first + bad;
          }
        }
        solveBlock(first, begin);
        storeBlock(first, begin, block_rows);
      }
    member_.team_barrier();
    return 0;
  }

private:
  using Index = std::int64_t;

  /// Of rows in scratch memory: odd, so that neighbouring rows lie in different banks.
  static constexpr int stride = panel_width + 1;

  KOKKOS_INLINE_FUNCTION static int least(int a, int b) { return a < b ? a : b; }

  /// rows_ = A - L_IK L_JK^T for the rows I of the block, the columns J of the panel and all K
  /// before.
  KOKKOS_INLINE_FUNCTION void updateBlock(int first, int begin) const {
    TeamTile<team_lanes, Scalar> tile(lane_);
    for (int k = 0; k < first; k += panel_width) {
      member_.team_barrier();
      loadRows(begin, block_rows, k, rows_);
      loadRows(first, panel_width, k, panel_);
      member_.team_barrier();
      tile.add(
          panel_width, [&](int r) { return rows_ + r * stride; },
          [&](int c) { return panel_ + c * stride; });
    }
    member_.team_barrier();
    loadRows(begin, block_rows, first, rows_);
    member_.team_barrier();
    tile.forEach([&](int r, int c, Scalar sum) { rows_[r * stride + c] -= sum; });
    member_.team_barrier();
  }

  /// Rows begin .. begin + count - 1 of the columns k .. k + panel_width - 1, zeros outside of the
  /// triangle.
  KOKKOS_INLINE_FUNCTION void loadRows(int begin, int count, int k, Scalar* to) const {
    const int m = lane_ % panel_width;
    unrolledBy<8, int>(lane_ / panel_width, count, team_lanes / panel_width, [&](int r) {
      const int i = begin + r;
      to[r * stride + m] = i < n_ && k + m <= i ? packed_[packedRow(Index(i)) + k + m] : Scalar(0);
    });
  }

  KOKKOS_INLINE_FUNCTION int factorDiagonal(int first) const {
    int bad = 0;
    if (member_.team_rank() == 0)
      bad = factorRows<panel_width, panel_width>(
          member_, least(panel_width, n_ - first),
          [&](int i, int j) -> Scalar& { return rows_[i * stride + j]; }, columns_);
    member_.team_broadcast(bad, 0);
    return bad;
  }

  /// The rows of the block that lie below the diagonal block, one a lane.
  KOKKOS_INLINE_FUNCTION void solveBlock(int first, int begin) const {
    const int skipped = begin == first ? panel_width : 0;
    const int count = least(block_rows, n_ - begin);
    for (int r = skipped + lane_; r < count; r += team_lanes)
      solveRow<panel_width>([&](int j) -> Scalar& { return rows_[r * stride + j]; }, columns_);
    member_.team_barrier();
  }

  /// The first `count` rows of the block, back to where they came from.
  KOKKOS_INLINE_FUNCTION void storeBlock(int first, int begin, int count) const {
    const int m = lane_ % panel_width;
    for (int r = lane_ / panel_width; r < count; r += team_lanes / panel_width) {
      const int i = begin + r;
      if (i < n_ && first + m <= i)
        packed_[packedRow(Index(i)) + first + m] = rows_[r * stride + m];
    }
  }

  const Member& member_;
  int lane_;
  int n_;
  Scalar* packed_;
  Scalar* columns_; ///< of the diagonal block
  Scalar* rows_;    ///< of the block at hand
  Scalar* panel_;   ///< rows of the panel's diagonal block, columns before
};

} // namespace detail
} // namespace ainvil
