// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How orthogonal a basis is, from the coefficients of Gram-Schmidt alone.

#include "krylov/Ainvil_Arnoldi.hpp"
#include "product/Ainvil_VectorKernels.hpp"

namespace ainvil {
namespace detail {

/// Estimates E = V^T V - I for the unit vectors v_0, v_1, ... of an Arnoldi process without
/// touching them. What is left of z after one pass, w = z - V p with p = V^T z, has
///     V^T w = p - V^T V p = -E p,
/// so that the loss of a new vector follows from that of the old ones, sign by sign, and rounding
/// adds a little to each entry. A bound by norms, ||E|| ||p|| / ||w||, would grow by orders of
/// magnitude where E p cancels. Source: Simon, The Lanczos algorithm with partial
/// reorthogonalization, Math. Comp. 42 (1984), there for three terms.
struct OrthogonalityLoss {
  double* data;     ///< E of each column of a multivector; null: all vectors take two passes
  Offset size;      ///< rows of E that there is room for
  double rounding;  ///< what a pass adds to an inner product of vectors, relative to their norms
  double allowed;   ///< ||V^T v|| of a unit vector v from which on v takes a second pass
  bool is_followed; ///< else a record says nothing of what comes next

  /// Whether the candidate of a step is orthogonalised again.
  KOKKOS_INLINE_FUNCTION bool again(const ArnoldiRecord& record) const {
    return data == nullptr || record.again() != 0;
  }

  /// For step j of Arnoldi, whose record has its sums: finishes row j of E, whose entries so far
  /// are V^T u of the candidate u that v_j = (u - V s) / rho came from,
  ///     E_cj = V^T u / rho  after one pass,  -(E s)_c / rho  after two,
  /// and takes the first guess of row j + 1, for the next candidate sigma (z - V p - tau v_j),
  ///     E_c,j+1 = -sigma (E [p; tau])_c.
  /// True where that one is to be orthogonalised again. To be called by all lanes of a thread, a
  /// lane a row, O(j^2) operations; known to all of them.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool follow(const Member& member, const ArnoldiRecord& record, int column,
                                     int j, double inverse_norm, double tau, double scale) const {
    double* const e = data + column * size * size;
    const bool twice = again(record);
    const double of_u = rounding * compat::math::sqrt(record.dotU(j)) * inverse_norm;
    const double of_z = rounding * compat::math::sqrt(record.dotZ(j + 1)) * scale;
    Sums<2> sums; // (E p)_j and the squared norm of the new row
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, j),
        [&](const int c, Sums<2>& sum) {
          double es = 0, ep = 0;
          for (int k = 0; k < j; ++k) {
            const double e_ck = k == c ? 0 : e[c + k * size];
            es += e_ck * record.dotU(k);
            ep += e_ck * record.dotZ(k);
          }
          const double e_cj =
              twice ? awayFromZero(-es * inverse_norm, of_u) : e[c + j * size] * inverse_norm;
          const double next = awayFromZero(-scale * (ep + e_cj * tau), of_z);
          e[c + j * size] = e[j + c * size] = e_cj;
          e[c + (j + 1) * size] = next;
          sum.value[0] += e_cj * record.dotZ(c);
          sum.value[1] += next * next;
        },
        sums);
    const double last = awayFromZero(-scale * sums.value[0], of_z);
    Kokkos::single(Kokkos::PerThread(member), [&]() { e[j + (j + 1) * size] = last; });
    return !(sums.value[1] + last * last <= allowed * allowed);
  }

private:
  KOKKOS_INLINE_FUNCTION static double awayFromZero(double value, double distance) {
    return value < 0 ? value - distance : value + distance;
  }
};

} // namespace detail
} // namespace ainvil
