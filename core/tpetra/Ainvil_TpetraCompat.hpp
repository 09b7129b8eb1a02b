// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The one place that knows differences between versions of Tpetra, from 13.2 on.

#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Details_Behavior.hpp>
#include <Tpetra_MultiVector.hpp>
#include <Tpetra_RowMatrix.hpp>

#include <utility>

namespace ainvil {
namespace tpetra {
namespace compat {

namespace impl {

/// getNodeNumElements() became getLocalNumElements() in 14.0.
template <class Map>
auto numElements(const Map& map, int) -> decltype(map.getLocalNumElements()) {
  return map.getLocalNumElements();
}
template <class Map>
auto numElements(const Map& map, long) -> decltype(map.getNodeNumElements()) {
  return map.getNodeNumElements();
}

/// getNodeNumEntries() became getLocalNumEntries() in 14.0.
template <class Matrix>
auto numEntries(const Matrix& a, int) -> decltype(a.getLocalNumEntries()) {
  return a.getLocalNumEntries();
}
template <class Matrix>
auto numEntries(const Matrix& a, long) -> decltype(a.getNodeNumEntries()) {
  return a.getNodeNumEntries();
}

/// assumeMpiIsCudaAware() became assumeMpiIsGPUAware() in 14.0.
template <class Behavior>
auto mpiTakesDeviceMemory(int) -> decltype(Behavior::assumeMpiIsGPUAware()) {
  return Behavior::assumeMpiIsGPUAware();
}
template <class Behavior>
auto mpiTakesDeviceMemory(long) -> decltype(Behavior::assumeMpiIsCudaAware()) {
  return Behavior::assumeMpiIsCudaAware();
}

} // namespace impl

/// True if messages may be sent from and to the memory of a GPU: as Tpetra has found, or as the
/// environment says, TPETRA_ASSUME_GPU_AWARE_MPI=1, before 14.0 TPETRA_ASSUME_CUDA_AWARE_MPI=1.
inline bool mpiTakesDeviceMemory() {
  return impl::mpiTakesDeviceMemory<Tpetra::Details::Behavior>(0);
}

/// Elements of the map that the calling rank has.
template <class Map>
int numLocalElements(const Map& map) {
  return static_cast<int>(impl::numElements(map, 0));
}

/// Entries, blocks of a BlockCrsMatrix, in the rows that the calling rank has of the matrix.
template <class Matrix>
size_t numLocalEntries(const Matrix& a) {
  return impl::numEntries(a, 0);
}

} // namespace compat
} // namespace tpetra
} // namespace ainvil
