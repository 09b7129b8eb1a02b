// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What all uses of cuSPARSE need: its objects, its errors, its types.

#include "Ainvil_BsrMatrix.hpp"

#include <cusparse.h>

#include <climits>

namespace ainvil {
namespace perf {
namespace cusparse {

using Device = DefaultDevice;
using Exec = Device::execution_space;
using Buffer = Kokkos::View<char*, Device>;

constexpr auto no_transpose = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto row_major = CUSPARSE_DIRECTION_ROW; // within blocks
constexpr double one = 1;

/// \throws Error that names the call, unless it succeeded
inline void check(cusparseStatus_t status, const char* call) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw Error(message(call, " of cuSPARSE fails: ", cusparseGetErrorString(status)));
}

/// A cuSPARSE object: make(&pointer, arguments...) to destroy(pointer).
template <class Pointer, auto Destroy>
class Owned {
public:
  template <class Make, class... Arguments>
  explicit Owned(Make make, Arguments... arguments) {
    check(make(&pointer_, arguments...), "creating an object");
  }
  ~Owned() { Destroy(pointer_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Pointer() const { return pointer_; }

private:
  Pointer pointer_ = nullptr;
};

using Handle = Owned<cusparseHandle_t, cusparseDestroy>;
using Description = Owned<cusparseMatDescr_t, cusparseDestroyMatDescr>;
using Sparse = Owned<cusparseSpMatDescr_t, cusparseDestroySpMat>;
using Dense = Owned<cusparseDnVecDescr_t, cusparseDestroyDnVec>;
using SpsvInfo = Owned<cusparseSpSVDescr_t, cusparseSpSV_destroyDescr>;
using BsrsvInfo = Owned<bsrsv2Info_t, cusparseDestroyBsrsv2Info>;
using CsriluInfo = Owned<csrilu02Info_t, cusparseDestroyCsrilu02Info>;
using BsriluInfo = Owned<bsrilu02Info_t, cusparseDestroyBsrilu02Info>;

/// Row offsets as the functions for block matrices want them. \throws InvalidArgument if an int
/// cannot count the entries
Kokkos::View<const int*, Device> narrowed(const Exec& exec, const Graph<Device>& graph);

/// Says which triangle of a matrix to read, and whether its diagonal is one.
void describeTriangle(const Description& description, Uplo uplo, cusparseDiagType_t diagonal);

} // namespace cusparse
} // namespace perf
} // namespace ainvil
