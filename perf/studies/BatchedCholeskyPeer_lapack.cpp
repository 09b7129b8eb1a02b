// SPDX-License-Identifier: BSD-3-Clause
#include "studies/BatchedCholeskyPeer.hpp"

extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
}

namespace ainvil {
namespace perf {
namespace {

void potrf(int n, double* a, int* info) {
  dpotrf_("L", &n, a, &n, info);
}
void potrf(int n, float* a, int* info) {
  spotrf_("L", &n, a, &n, info);
}

template <class Scalar>
class LapackPeer : public CholeskyPeer<Scalar> {
public:
  LapackPeer(int n, int count, const Vector<Scalar, DefaultDevice>& matrices)
      : n_(n), count_(count), matrices_(matrices) {}

  const char* name() const override { return "LAPACK"; }
  void factor() override {
    using Exec = Kokkos::DefaultHostExecutionSpace;
    const int n = n_;
    Scalar* const first = matrices_.data();
    Kokkos::parallel_for("Ainvil::perf",
                         Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>(0, count_),
                         [=](const int b) {
                           int info = 0;
                           potrf(n, first + Offset(b) * n * n, &info);
                         });
  }

private:
  int n_, count_;
  Vector<Scalar, DefaultDevice> matrices_;
};

} // namespace

template <class Scalar>
std::unique_ptr<CholeskyPeer<Scalar>>
CholeskyPeer<Scalar>::create(int n, int count, const Vector<Scalar, DefaultDevice>& matrices) {
  return std::make_unique<LapackPeer<Scalar>>(n, count, matrices);
}

template class CholeskyPeer<double>;
template class CholeskyPeer<float>;

} // namespace perf
} // namespace ainvil
