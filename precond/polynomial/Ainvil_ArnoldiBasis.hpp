// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The vectors of a short Arnoldi process in an inner product of the caller's.

#include "Ainvil_Types.hpp"
#include "backend/Ainvil_Reduction.hpp"
#include "backend/Ainvil_SumTeams.hpp"

#include <cstdint>
#include <memory>

namespace ainvil {
namespace detail {

/// Vectors v_0, v_1, ... and what orthogonalises the next one against them by classical
/// Gram-Schmidt. The inner product is (v, w) = v . g, where the caller gives g: w itself, or S w
/// with a symmetric S > 0. Sums are taken in double in an order that depends on the number of rows
/// alone; over processes, by their Reduction. Allocates in its constructor only.
template <class Scalar, class Device>
class ArnoldiBasis {
public:
  using execution_space = typename Device::execution_space;
  using In = MultiVectorArg<const Scalar, Device>;
  using Out = MultiVectorArg<Scalar, Device>;

  ArnoldiBasis() = default;
  /// Room for so many vectors of n entries. With a reduction these are the entries from `first_row`
  /// on of vectors of all processes; calls that sum are collective then.
  ArnoldiBasis(const execution_space& exec, Offset n, int vectors,
               std::shared_ptr<const Reduction<Device>> reduction = nullptr, Offset first_row = 0);

  /// Vectors there is room for.
  int capacity() const { return static_cast<int>(vectors_.extent(1)); }
  /// v_first, v_first+1, ... as a multivector.
  Out vectors(int first, int count = 1) const;

  /// Random numbers from (-1, 1) by the numbers of the rows, the same on every machine.
  /// Asynchronous.
  void fillRandom(const execution_space& exec, Out v, int seed) const;
  /// h_c = v_c . g and w -= h_c v_c for c < count. `again`: the second pass for this w, whose h are
  /// added to those of the first. Asynchronous.
  void project(const execution_space& exec, int count, In g, Out w, bool again) const;
  /// x . y, of single vectors. Waits.
  double dot(const execution_space& exec, In x, In y) const;
  /// A number of the size of ||x||, which neither over- nor underflows: the sum over the processes
  /// of the norms that they have. Waits.
  double size(const execution_space& exec, In x) const;
  /// h_c of the last passes, as they were at the last dot().
  double projection(int c) const { return host_numbers_(c); }

private:
  using Numbers = Kokkos::View<double*, Device>;

  MultiVector<Scalar, Device> vectors_;
  SumTeams shape_;
  PartialSums<Device> sums_;
  Numbers numbers_; ///< h_c, then -h_c of the pass, then a dot product
  typename Numbers::HostMirror host_numbers_;
  std::shared_ptr<const Reduction<Device>> reduction_; ///< null: there is one process
  std::uint64_t first_row_ = 0;
};

} // namespace detail
} // namespace ainvil
