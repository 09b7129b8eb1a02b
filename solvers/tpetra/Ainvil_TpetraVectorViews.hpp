// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Arrays of a solver as vectors of Tpetra.

#include "Ainvil_TpetraCompat.hpp"
#include "Ainvil_Types.hpp"

#include <type_traits>
#include <vector>

namespace ainvil {
namespace tpetra {

/// Tpetra's multivectors on a map that view arrays of its local length, in device memory, without
/// copying them. Each is made once and kept. One is in use at a time: on a GPU all of them have one
/// array on the host.
template <class Scalar, class LO, class GO, class Node>
class VectorViews {
public:
  using MultiVector = Tpetra::MultiVector<Scalar, LO, GO, Node>; ///< what is made
  using Map = Tpetra::Map<LO, GO, Node>;                         ///< of its rows
  using Device = typename Node::device_type;                     ///< of the arrays
  using In = MultiVectorArg<const Scalar, Device>;               ///< an array that is only read
  using Out = MultiVectorArg<Scalar, Device>;                    ///< an array

  VectorViews() = default;
  /// Of arrays of the map's local length.
  explicit VectorViews(const Teuchos::RCP<const Map>& map) : map_(map) {}

  /// The multivector that views the array as it is now: what Tpetra may have on the host is out of
  /// date. Columns lie one behind the other, without a gap.
  Teuchos::RCP<MultiVector> of(Out array) {
    const Teuchos::RCP<MultiVector> vectors = made(array.data(), array.extent(1));
    vectors->getLocalViewDevice(Tpetra::Access::OverwriteAll);
    return vectors;
  }
  /// The same of one that is only read.
  Teuchos::RCP<const MultiVector> of(In array) {
    return of(Out(const_cast<Scalar*>(array.data()), array.extent(0), array.extent(1)));
  }

  /// Brings what Tpetra has written into a multivector that of() gave to the array.
  static void toArray(const MultiVector& vectors) {
    vectors.getLocalViewDevice(Tpetra::Access::ReadOnly);
  }

private:
  using DualView = typename MultiVector::dual_view_type;
  using HostView = typename DualView::t_host;

  static constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                 typename DualView::t_dev::memory_space>::accessible;

  struct Known {
    const Scalar* array;
    Teuchos::RCP<MultiVector> vectors;
  };

  Teuchos::RCP<MultiVector> made(Scalar* array, size_t columns) {
    for (const Known& known : known_)
      if (known.array == array && known.vectors->getNumVectors() == columns)
        return known.vectors;
    constexpr size_t most = 256; // arrays of earlier solvers may be gone
    if (known_.size() >= most)
      known_.clear();
    const size_t n = compat::numLocalElements(*map_);
    if (!on_host && host_.extent(1) < columns) {
      known_.clear();
      host_ = HostView("Ainvil::tpetra::host", n, columns);
    }
    // Tpetra takes a view with more owners than that of the other space for one in use, and refuses
    // the other: so neither has an owner.
    const DualView views(typename DualView::t_dev(array, n, columns),
                         HostView(on_host ? array : host_.data(), n, columns));
    known_.push_back({array, Teuchos::rcp(new MultiVector(map_, views))});
    return known_.back().vectors;
  }

  Teuchos::RCP<const Map> map_;
  HostView host_; ///< for what Tpetra brings to the host; empty where that reaches the arrays
  std::vector<Known> known_;
};

/// Whether the columns lie one behind the other, without a gap, as those of VectorViews.
template <class Scalar, class LO, class GO, class Node>
bool isInOnePiece(const Tpetra::MultiVector<Scalar, LO, GO, Node>& x) {
  return x.getNumVectors() == 1 ||
         (x.isConstantStride() && (x.getLocalLength() == 0 || x.getStride() == x.getLocalLength()));
}

/// x, or a copy of it that is in one piece.
template <class MultiVector>
Teuchos::RCP<MultiVector> inOnePiece(MultiVector& x) {
  if (isInOnePiece(x))
    return Teuchos::rcpFromRef(x);
  return Teuchos::rcp(new std::remove_const_t<MultiVector>(x, Teuchos::Copy));
}

} // namespace tpetra
} // namespace ainvil
