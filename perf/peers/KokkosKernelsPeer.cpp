// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosKernelsPeer.hpp"

#include "Measure.hpp"

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_sptrsv.hpp>

namespace ainvil {
namespace perf {

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
  template PeerTimes kokkosKernelsSolve<DEVICE>(const BsrMatrix<double, DEVICE>&, Uplo,            \
                                                const Vector<double, DEVICE>&,                     \
                                                const Vector<double, DEVICE>&, int);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
