// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Arrays of a solver as vectors of Tpetra.

#include "Ainvil_TpetraCompat.hpp"

#include <vector>

namespace ainvil {
namespace tpetra {

/// Tpetra's vectors on a map that view arrays of its local length, in device memory, without
/// copying them. Each is made once and kept, because on a GPU it comes with an array on the host.
template <class Scalar, class LO, class GO, class Node>
class VectorViews {
public:
  using MultiVector = Tpetra::MultiVector<Scalar, LO, GO, Node>; ///< of one column
  using Map = Tpetra::Map<LO, GO, Node>;                         ///< of its rows

  VectorViews() = default;
  /// Of arrays of the map's local length.
  explicit VectorViews(const Teuchos::RCP<const Map>& map) : map_(map) {}

  /// The vector that views the array as it is now: what Tpetra may have on the host is out of date.
  Teuchos::RCP<MultiVector> of(Scalar* array) {
    const Teuchos::RCP<MultiVector> vector = made(array);
    vector->getLocalViewDevice(Tpetra::Access::OverwriteAll);
    return vector;
  }
  /// The same of one that is only read.
  Teuchos::RCP<const MultiVector> of(const Scalar* array) { return of(const_cast<Scalar*>(array)); }

  /// Brings what Tpetra has written into a vector that of() gave to the array.
  static void toArray(const MultiVector& vector) {
    vector.getLocalViewDevice(Tpetra::Access::ReadOnly);
  }

private:
  using DualView = typename MultiVector::dual_view_type;
  using HostView = typename DualView::t_host;

  struct Known {
    const Scalar* array;
    HostView host; ///< for what Tpetra brings to the host; empty where that reaches the array
    Teuchos::RCP<MultiVector> vector;
  };

  Teuchos::RCP<MultiVector> made(Scalar* array) {
    for (const Known& known : known_)
      if (known.array == array)
        return known.vector;
    constexpr size_t most = 256; // a solver has fewer; arrays of earlier ones may be gone
    if (known_.size() >= most)
      known_.clear();
    constexpr bool on_host =
        Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                   typename DualView::t_dev::memory_space>::accessible;
    const size_t n = compat::numLocalElements(*map_);
    const HostView host = on_host ? HostView() : HostView("Ainvil::tpetra::host", n, 1);
    // Tpetra takes a view with more owners than that of the other space for one in use, and refuses
    // the other: so neither has an owner.
    const DualView views(typename DualView::t_dev(array, n, 1),
                         HostView(on_host ? array : host.data(), n, 1));
    known_.push_back({array, host, Teuchos::rcp(new MultiVector(map_, views))});
    return known_.back().vector;
  }

  Teuchos::RCP<const Map> map_;
  std::vector<Known> known_;
};

} // namespace tpetra
} // namespace ainvil
