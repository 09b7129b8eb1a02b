// SPDX-License-Identifier: BSD-3-Clause
#include "peers/CusparsePeer.hpp"
#include "peers/KokkosKernelsPeer.hpp"
#include "studies/CopyRate.hpp"
#include "studies/SweepsStudy.hpp"

#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_SparseOperator.hpp"

#include <cmath>

namespace ainvil {
namespace perf {
namespace {

/// One row of the table: what must be moved at least, and how long it took.
struct Product {
  const char* method;
  Offset bytes;
  double seconds;
  double difference = not_measured; ///< from our product in double, relative
};

template <class Device>
class ProductStudy {
public:
  ProductStudy(const SweepsOptions& options, const LinearSystem& system)
      : options_(options), a_(copyTo<Device>(system.matrix)), operator_(exec_, a_), x_(vector()),
        y_(vector()) {
    detail::fillProbes<double, Device>(exec_, asColumn(x_));
  }

  /// Of values stored in any of the precisions; vectors are double.
  template <class Stored>
  Product ours(const char* method) const {
    const BsrMatrix<Stored, Device> a = stored<Stored>();
    const SparseOperator<double, Device> product(exec_, a);
    const auto y = vector();
    const double seconds = medianSeconds(exec_, options_.repeat, [&] {
      product.multiply(exec_, Trans::No, 1.0, asColumn(x_), 0.0, asColumn(y));
    });
    return {method, bytes(a), seconds, difference(y)};
  }

  /// Of another library's function of this matrix, a vector and their product.
  template <class Function>
  Product peer(const char* method, Function function) const {
    const auto y = vector();
    const PeerTimes times = function(a_, x_, y, options_.repeat);
    return {method, bytes(a_), times.seconds,
            std::isnan(times.seconds) ? not_measured : difference(y)};
  }

private:
  Vector<double, Device> vector() const {
    return allocate<double, Device>(exec_, "Ainvil::perf", a_.numPointRows());
  }

  template <class Stored>
  BsrMatrix<Stored, Device> stored() const {
    const auto values = allocate<Stored, Device>(exec_, "Ainvil::perf", a_.numScalars());
    Kokkos::deep_copy(exec_, values, a_.values);
    return {a_.graph, values, a_.block_size};
  }

  /// The matrix once, x once and y once.
  template <class Stored>
  Offset bytes(const BsrMatrix<Stored, Device>& a) const {
    return a.bytes() + 2 * a.numPointRows() * Offset(sizeof(double));
  }

  /// ||y - A x|| / ||A x||
  double difference(const Vector<double, Device>& y) const {
    operator_.multiply(exec_, Trans::No, 1.0, asColumn(x_), 0.0, asColumn(y_));
    const double norm = detail::norm<double, Device>(exec_, asColumn(y_));
    axpby<double, Device>(exec_, 1.0, asColumn(y), -1.0, asColumn(y_));
    return detail::norm<double, Device>(exec_, asColumn(y_)) / norm;
  }

  const SweepsOptions& options_;
  typename Device::execution_space exec_;
  BsrMatrix<double, Device> a_;
  SparseOperator<double, Device> operator_;
  Vector<double, Device> x_, y_;
};

} // namespace

std::vector<Column> productColumns() {
  return {{"method", "method", -10},
          {"bytes", "MB", 9, 1e-6},
          microseconds("seconds", "us"),
          {"bytes_per_second", "GB/s", 9, 1e-9},
          {"share_of_copy", "% of copy", 9, 100},
          {"difference", "difference", 10}};
}

template <class Device>
void studyProduct(const SweepsOptions& options, const LinearSystem& system, Results& results) {
  const ProductStudy<Device> study(options, system);
  std::vector<Product> products = {
      {"copy", Offset(2 * copied_bytes), copySeconds<Device>(options.repeat)},
      study.template ours<double>("spmv"),
      study.template ours<float>("spmv-float"),
      study.template ours<BFloat16>("spmv-bfloat16"),
      study.peer("kokkos-kernels", kokkosKernelsProduct<Device>)};
  if constexpr (compat::IsGpu<typename Device::execution_space>::value)
    products.push_back(study.peer("cusparse", cusparseProduct));
  const double copy_rate = double(products[0].bytes) / products[0].seconds;
  for (const Product& product : products) {
    if (std::isnan(product.seconds)) // of a library that is not there
      continue;
    const double rate = double(product.bytes) / product.seconds;
    results.add({product.method, double(product.bytes), product.seconds, rate, rate / copy_rate,
                 product.difference});
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void studyProduct<DEVICE>(const SweepsOptions&, const LinearSystem&, Results&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
