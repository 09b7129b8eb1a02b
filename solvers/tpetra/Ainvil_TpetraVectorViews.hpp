// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Arrays of a solver as vectors of Tpetra.

#include "Ainvil_TpetraCompat.hpp"

#include <utility>
#include <vector>

namespace ainvil {
namespace tpetra {

/// Tpetra's vectors on a map that view arrays of its local length, in device memory, without
/// copying them. Each is made once and kept, because on a GPU Tpetra allocates a host array with
/// it.
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
  Teuchos::RCP<MultiVector> made(Scalar* array) {
    for (const auto& known : known_)
      if (known.first == array)
        return known.second;
    constexpr size_t most = 256; // a solver has fewer; arrays of earlier ones may be gone
    if (known_.size() >= most)
      known_.clear();
    using View = typename MultiVector::dual_view_type::t_dev;
    const View view(array, compat::numLocalElements(*map_), 1);
    known_.emplace_back(array, Teuchos::rcp(new MultiVector(map_, view)));
    return known_.back().second;
  }

  Teuchos::RCP<const Map> map_;
  std::vector<std::pair<const Scalar*, Teuchos::RCP<MultiVector>>> known_;
};

} // namespace tpetra
} // namespace ainvil
