// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Waiting for one kernel while those behind it run.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ainvil {
namespace compat {

/// A place in the queue of an instance, which the host can wait for while what is launched behind
/// it runs. On hosts everything has run where it was launched.
template <class Exec>
class QueueMarker {
public:
  void record(const Exec&) {} ///< the place behind everything that is launched until now
  void wait() const {}        ///< until the queue has come there
};

#if defined(KOKKOS_ENABLE_CUDA)
template <>
class QueueMarker<Kokkos::Cuda> {
public:
  void record(const Kokkos::Cuda& exec) {
    if (event_ == nullptr) {
      cudaEvent_t event;
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      event_ = {event, cudaEventDestroy};
    }
    check(cudaEventRecord(event_.get(), exec.cuda_stream()));
  }
  void wait() const {
    if (event_ != nullptr)
      check(cudaEventSynchronize(event_.get()));
  }

private:
  static void check(cudaError_t status) {
    if (status != cudaSuccess)
      throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
  }

  std::shared_ptr<std::remove_pointer_t<cudaEvent_t>> event_;
};
#endif

#if defined(KOKKOS_ENABLE_HIP)
/// Waits for what is launched behind it, too.
template <>
class QueueMarker<Hip> {
public:
  void record(const Hip& exec) { exec_ = exec; }
  void wait() const { exec_.fence(); }

private:
  Hip exec_;
};
#endif

} // namespace compat
} // namespace ainvil
