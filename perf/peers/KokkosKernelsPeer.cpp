// SPDX-License-Identifier: BSD-3-Clause
#include "peers/KokkosKernelsPeer.hpp"

#include "program/Measure.hpp"

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#if __has_include(<KokkosSparse_BsrMatrix.hpp>)
#include <KokkosSparse_BsrMatrix.hpp>
#define AINVIL_KOKKOS_HAS_BSR
#endif
#include <KokkosSparse_spmv.hpp>
#include <KokkosSparse_sptrsv.hpp>

namespace ainvil {
namespace perf {
namespace {

/// It has no set-up, so that of the times is 0.
template <class Matrix, class Device>
PeerTimes product(const Matrix& a, const Vector<double, Device>& x, const Vector<double, Device>& y,
                  int repetitions) {
  return {0, medianSeconds(typename Device::execution_space(), repetitions,
                           [&] { KokkosSparse::spmv("N", 1.0, a, x, 0.0, y); })};
}

} // namespace

template <class Device>
PeerTimes kokkosKernelsProduct(const BsrMatrix<double, Device>& a, const Vector<double, Device>& x,
                               const Vector<double, Device>& y, int repetitions) {
  const Graph<Device>& graph = a.graph;
  if (a.block_size == 1)
    return product(KokkosSparse::CrsMatrix<const double, const Ordinal, Device, void, const Offset>(
                       "a", graph.num_rows, graph.num_cols, a.numEntries(), a.values, graph.row_map,
                       graph.entries),
                   x, y, repetitions);
#ifdef AINVIL_KOKKOS_HAS_BSR
  return product(KokkosSparse::Experimental::BsrMatrix<const double, const Ordinal, Device, void,
                                                       const Offset>(
                     "a", graph.num_rows, graph.num_cols, a.numEntries(), a.values, graph.row_map,
                     graph.entries, a.block_size),
                 x, y, repetitions);
#else
  return {};
#endif
}

template <class Device>
PeerTimes kokkosKernelsSolve(const BsrMatrix<double, Device>& t, Uplo uplo,
                             const Vector<double, Device>& b, const Vector<double, Device>& x,
                             int repetitions) {
  using namespace KokkosSparse::Experimental;
  using Exec = typename Device::execution_space;
  using Memory = typename Device::memory_space;
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<Offset, Ordinal, double, Exec,
                                                                  Memory, Memory>;
  const Exec exec;
  Handle handle;
  const auto setUp = [&] {
    handle.create_sptrsv_handle(SPTRSVAlgorithm::SEQLVLSCHD_TP1, t.numRows(), uplo == Uplo::Lower);
    sptrsv_symbolic(&handle, t.graph.row_map, t.graph.entries);
  };
  const auto solve = [&] {
    sptrsv_solve(&handle, t.graph.row_map, t.graph.entries, t.values, b, x);
  };
  const double setup_seconds = medianSeconds(exec, repetitions, setUp);
  const double seconds = medianSeconds(exec, repetitions, solve);
  handle.destroy_sptrsv_handle();
  return {setup_seconds, seconds};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template PeerTimes kokkosKernelsProduct<DEVICE>(const BsrMatrix<double, DEVICE>&,                \
                                                  const Vector<double, DEVICE>&,                   \
                                                  const Vector<double, DEVICE>&, int);             \
  template PeerTimes kokkosKernelsSolve<DEVICE>(const BsrMatrix<double, DEVICE>&, Uplo,            \
                                                const Vector<double, DEVICE>&,                     \
                                                const Vector<double, DEVICE>&, int);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
