// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The batched Cholesky factorisation that users of the device have today: cuSOLVER's, or LAPACK
/// with a matrix a core. CMake chooses the source file.

#include "Ainvil_Types.hpp"

#include <memory>

namespace ainvil {
namespace perf {

template <class Scalar>
class CholeskyPeer {
public:
  /// Matrix b is matrices(b n^2) .. in full storage. Null where the machine has no peer.
  static std::unique_ptr<CholeskyPeer> create(int n, int count,
                                              const Vector<Scalar, DefaultDevice>& matrices);
  virtual ~CholeskyPeer() = default;

  virtual const char* name() const = 0;
  virtual void factor() = 0; ///< in place, enqueued on the default instance
};

} // namespace perf
} // namespace ainvil
