// SPDX-License-Identifier: BSD-3-Clause
#include "studies/BatchedCholeskyPeer.hpp"

#include "Ainvil_Error.hpp"

#include <cusolverDn.h>

namespace ainvil {
namespace perf {
namespace {

void check(cusolverStatus_t status) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw Error(message("cuSOLVER fails with status ", int(status)));
}

cusolverStatus_t potrf(cusolverDnHandle_t handle, int n, double** a, int* info, int count) {
  return cusolverDnDpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, n, a, n, info, count);
}
cusolverStatus_t potrf(cusolverDnHandle_t handle, int n, float** a, int* info, int count) {
  return cusolverDnSpotrfBatched(handle, CUBLAS_FILL_MODE_LOWER, n, a, n, info, count);
}

/// A view of plain pointers would be one of two dimensions.
template <class Scalar>
struct Pointer {
  Scalar* to;
};

template <class Scalar>
class CusolverPeer : public CholeskyPeer<Scalar> {
public:
  CusolverPeer(int n, int count, const Vector<Scalar, DefaultDevice>& matrices)
      : n_(n), count_(count), pointers_("Ainvil::perf", count), info_("Ainvil::perf", count) {
    const auto pointers = Kokkos::create_mirror_view(pointers_);
    for (int b = 0; b < count; ++b)
      pointers(b).to = matrices.data() + Offset(b) * n * n;
    Kokkos::deep_copy(pointers_, pointers);
    check(cusolverDnCreate(&handle_));
    check(cusolverDnSetStream(handle_, DefaultDevice::execution_space().cuda_stream()));
  }
  ~CusolverPeer() override { cusolverDnDestroy(handle_); }

  const char* name() const override { return "cuSOLVER"; }
  void factor() override { check(potrf(handle_, n_, &pointers_.data()->to, info_.data(), count_)); }

private:
  int n_, count_;
  Kokkos::View<Pointer<Scalar>*, DefaultDevice> pointers_;
  Kokkos::View<int*, DefaultDevice> info_;
  cusolverDnHandle_t handle_ = nullptr;
};

} // namespace

template <class Scalar>
std::unique_ptr<CholeskyPeer<Scalar>>
CholeskyPeer<Scalar>::create(int n, int count, const Vector<Scalar, DefaultDevice>& matrices) {
  return std::make_unique<CusolverPeer<Scalar>>(n, count, matrices);
}

template class CholeskyPeer<double>;
template class CholeskyPeer<float>;

} // namespace perf
} // namespace ainvil
