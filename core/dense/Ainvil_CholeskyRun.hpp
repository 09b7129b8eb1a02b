// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// BatchedCholesky::run(), for whoever makes the matrices inside of the kernels.

#include "Ainvil_BatchedCholesky.hpp"
#include "dense/Ainvil_CholeskyLaunch.hpp"

namespace ainvil {

template <class Scalar, class Device>
template <class Io>
void BatchedCholesky<Scalar, Device>::run(const execution_space& exec, const char* label,
                                          const Io& io) const {
  using namespace detail;
  const auto of = [&](Kind kind, auto&& launch) {
    if (classes_[kind].begin < classes_[kind].end)
      launch(classes_[kind]);
  };
  if constexpr (compat::IsGpu<execution_space>::value) {
    // Long runs first.
    of(in_panels, [&](const Class& batch) {
      CholeskyInPanels<Scalar, Device, Io>::launch(exec, label, batch, io);
    });
    of(in_scratch, [&](const Class& batch) {
      CholeskyInScratch<128, Scalar, Device, Io>::launch(exec, label, batch, io);
    });
    of(up_to_64, [&](const Class& batch) {
      CholeskyInScratch<64, Scalar, Device, Io>::launch(exec, label, batch, io);
    });
    of(up_to_32, [&](const Class& batch) {
      CholeskyOfLanes<32, Scalar, Device, Io>::launch(exec, label, batch, io);
    });
    of(up_to_16, [&](const Class& batch) {
      CholeskyOfLanes<16, Scalar, Device, Io>::launch(exec, label, batch, io);
    });
    of(up_to_8, [&](const Class& batch) {
      CholeskyOfLanes<8, Scalar, Device, Io>::launch(exec, label, batch, io);
    });
  } else {
    of(on_host, [&](const Class& batch) {
      CholeskyOnHost<Scalar, Device, Io>::launch(exec, label, batch, largest_in_scratch_, io);
    });
  }
}

} // namespace ainvil
