// SPDX-License-Identifier: BSD-3-Clause
#include "peers/KokkosKernelsPowers.hpp"

#include "program/Measure.hpp"

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_CrsMatrix.hpp>
#include <KokkosSparse_spgemm.hpp>

namespace ainvil {
namespace perf {

template <class Device>
PowersBySpgemm kokkosKernelsPower(const Graph<Device>& t, int power, int repetitions) {
  using Exec = typename Device::execution_space;
  using Memory = typename Device::memory_space;
  using Matrix = KokkosSparse::CrsMatrix<double, Ordinal, Device, void, Offset>;
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<Offset, Ordinal, double, Exec,
                                                                  Memory, Memory>;
  const Exec exec;
  const auto values = allocate<double, Device>(exec, "Ainvil::perf", t.numEntries());
  Kokkos::deep_copy(exec, values, 1.0);
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::perf", t.row_map.extent(0));
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::perf", t.entries.extent(0));
  Kokkos::deep_copy(exec, row_map, t.row_map);
  Kokkos::deep_copy(exec, entries, t.entries);
  const Matrix factor("T", t.num_rows, t.num_cols, t.numEntries(), values, row_map, entries);

  PowersBySpgemm result;
  Matrix last = factor, next;
  for (int p = 2; p <= power; ++p) {
    const auto countEntries = [&](Handle& handle) {
      handle.create_spgemm_handle(KokkosSparse::SPGEMM_KK);
      KokkosSparse::spgemm_symbolic(handle, factor, false, last, false, next);
    };
    result.symbolic_seconds += medianSeconds(exec, repetitions, [&] {
      Handle handle;
      countEntries(handle);
      handle.destroy_spgemm_handle();
    });
    result.seconds += medianSeconds(exec, repetitions, [&] {
      Handle handle;
      countEntries(handle);
      KokkosSparse::spgemm_numeric(handle, factor, false, last, false, next);
      handle.destroy_spgemm_handle();
    });
    last = next;
  }
  result.entries = Offset(last.nnz());
  return result;
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template PowersBySpgemm kokkosKernelsPower<DEVICE>(const Graph<DEVICE>&, int, int);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
