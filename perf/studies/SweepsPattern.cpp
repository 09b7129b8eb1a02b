// SPDX-License-Identifier: BSD-3-Clause
#include "peers/KokkosKernelsPowers.hpp"
#include "studies/CopyRate.hpp"
#include "studies/SweepsStudy.hpp"

#include "Ainvil_GraphAlgebra.hpp"

namespace ainvil {
namespace perf {
namespace {

/// What a pattern takes in memory.
template <class Device>
Offset bytes(const Graph<Device>& graph) {
  return Offset(graph.row_map.extent(0)) * Offset(sizeof(Offset)) +
         graph.numEntries() * Offset(sizeof(Ordinal));
}

} // namespace

std::vector<Column> patternColumns() {
  return {{"method", "method", -23},          {"power", "power", 6},
          {"pattern_entries", "entries", 11}, {"bytes", "MB", 9, 1e-6},
          milliseconds("seconds", "ms"),      {"copy_bytes_per_second", "copy GB/s", 9, 1e-9}};
}

template <class Device>
void studyPattern(const SweepsOptions& options, const LinearSystem& system, Results& results) {
  const typename Device::execution_space exec;
  const double copy_rate = copyBytesPerSecond<Device>(options.repeat);
  const Graph<Device> l =
      triangle(exec, copyTo<Device>(system.matrix).graph, Uplo::Lower, Diagonal::Keep);
  for (int power = 2; power <= options.power; ++power) {
    Graph<Device> pattern;
    const double ours = medianSeconds(exec, options.repeat,
                                      [&] { pattern = patternPower<Device>(exec, l, power); });
    const PowersBySpgemm peer = kokkosKernelsPower(l, power, options.repeat);
    const double floor = double(bytes(l) + bytes(pattern));
    const auto add = [&](const char* method, Offset entries, double seconds) {
      results.add({method, Offset(power), entries, floor, seconds, copy_rate});
    };
    add("patterns", pattern.numEntries(), ours);
    add("kokkos-kernels-symbolic", peer.entries, peer.symbolic_seconds);
    add("kokkos-kernels", peer.entries, peer.seconds);
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void studyPattern<DEVICE>(const SweepsOptions&, const LinearSystem&, Results&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
