// SPDX-License-Identifier: BSD-3-Clause
#include "peers/KokkosKernelsIlu.hpp"

#include "parameters/Ainvil_SpecificationText.hpp"

#include <KokkosKernels_Handle.hpp>
#if __has_include(<KokkosSparse_par_ilut.hpp>)
#include <KokkosSparse_par_ilut.hpp>
#define AINVIL_KOKKOS_HAS_PAR_ILUT
#endif
#include <KokkosSparse_spiluk.hpp>
#include <KokkosSparse_sptrsv.hpp>

#include <cstdlib>

namespace ainvil {
namespace perf {
namespace {

using namespace KokkosSparse::Experimental;

template <class Device>
using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<
    Offset, Ordinal, double, typename Device::execution_space, typename Device::memory_space,
    typename Device::memory_space>;

/// A factor and the levels of its solve. Of spiluk, L has a unit diagonal, stored.
template <class Device>
struct Triangle {
  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<double*, Device> values;
  mutable Handle<Device> handle;

  Triangle() = default;
  Triangle(const Triangle&) = delete;
  Triangle& operator=(const Triangle&) = delete;
  ~Triangle() { handle.destroy_sptrsv_handle(); }

  void analyse(Uplo uplo) {
    handle.destroy_sptrsv_handle();
    handle.create_sptrsv_handle(SPTRSVAlgorithm::SEQLVLSCHD_TP1, row_map.extent(0) - 1,
                                uplo == Uplo::Lower);
    sptrsv_symbolic(&handle, row_map, entries);
  }
  void solve(const Vector<const double, Device>& b, const Vector<double, Device>& x) const {
    sptrsv_solve(&handle, row_map, entries, values, b, x);
  }
};

/// What all of them have: two factors.
template <class Device>
class KokkosKernelsFactors : public Preconditioner<double, Device> {
public:
  using Base = Preconditioner<double, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

protected:
  using Base::report_;

  static void requirePoints(const char* name, const Matrix& a) {
    if (a.block_size != 1)
      throw InvalidArgument(
          message(name, " needs block size 1, but that of the matrix is ", a.block_size));
  }

  void countEntries() {
    report_.factor_entries = Offset(l_.entries.extent(0) + u_.entries.extent(0));
    report_.factor_bytes = report_.factor_entries * Offset(sizeof(double) + sizeof(Ordinal));
  }

  // U y = L^-1 x, column by column.
  void doApply(const execution_space& exec, MultiVectorArg<const double, Device> x,
               MultiVectorArg<double, Device> y, Trans trans) const override {
    if (trans != Trans::No)
      throw InvalidArgument("the factors of Kokkos Kernels have no transposed application");
    const auto t = detail::workspaceOf(exec, workspace_, x.extent(0), 1);
    const size_t n = x.extent(0);
    for (size_t j = 0; j < x.extent(1); ++j) {
      const Vector<double, Device> solved(t.data(), n);
      l_.solve(Vector<const double, Device>(x.data() + j * x.stride(1), n), solved);
      u_.solve(solved, Vector<double, Device>(y.data() + j * y.stride(1), n));
    }
  }

  Handle<Device> handle_;
  Triangle<Device> l_, u_;

private:
  mutable MultiVector<double, Device> workspace_;
};

template <class Device>
class KokkosKernelsIlu final : public KokkosKernelsFactors<Device> {
public:
  using Base = KokkosKernelsFactors<Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  ~KokkosKernelsIlu() { handle_.destroy_spiluk_handle(); }

  std::string description() const override { return "ILU(0) of Kokkos Kernels, by levels"; }

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override {
    this->requirePoints("kokkos-kernels-ilu", a);
    report_ = {};
    report_.phases.time(exec, "kokkos-kernels", "analysis", [&] {
      const Offset entries = a.numEntries() + a.numRows(); // at most, diagonal included
      for (Triangle<Device>* t : {&l_, &u_}) {
        t->row_map = allocate<Offset, Device>(exec, "Ainvil::perf", size_t(a.numRows()) + 1);
        t->entries = allocateZeros<Ordinal, Device>(exec, "Ainvil::perf", entries);
      }
      compat::fence(exec, "Ainvil::perf[analysis]");
      handle_.destroy_spiluk_handle();
      handle_.create_spiluk_handle(SPILUKAlgorithm::SEQLVLSCHD_TP1, a.numRows(), entries, entries);
      spiluk_symbolic(&handle_, 0, a.graph.row_map, a.graph.entries, l_.row_map, l_.entries,
                      u_.row_map, u_.entries);
      shorten(exec, l_, handle_.get_spiluk_handle()->get_nnzL());
      shorten(exec, u_, handle_.get_spiluk_handle()->get_nnzU());
      l_.analyse(Uplo::Lower);
      u_.analyse(Uplo::Upper);
    });
  }

  void doCompute(const execution_space& exec, const Matrix& a) override {
    report_.phases.time(exec, "kokkos-kernels", "ILU", [&] {
      spiluk_numeric(&handle_, 0, a.graph.row_map, a.graph.entries, a.values, l_.row_map,
                     l_.entries, l_.values, u_.row_map, u_.entries, u_.values);
    });
    this->countEntries();
  }

private:
  using Base::handle_;
  using Base::l_;
  using Base::report_;
  using Base::u_;

  /// Keeps so many of the entries, and makes room for their values.
  static void shorten(const execution_space& exec, Triangle<Device>& t, Offset entries) {
    t.entries = firstOf(t.entries, entries);
    t.values = allocateZeros<double, Device>(exec, "Ainvil::perf", entries);
  }
};

#ifdef AINVIL_KOKKOS_HAS_PAR_ILUT
template <class Device>
class KokkosKernelsParIlut final : public KokkosKernelsFactors<Device> {
public:
  using Base = KokkosKernelsFactors<Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  KokkosKernelsParIlut(double fill, int steps) : fill_(fill), steps_(steps) {}
  ~KokkosKernelsParIlut() { handle_.destroy_par_ilut_handle(); }

  std::string description() const override {
    return message("par_ilut of Kokkos Kernels, fill ", fill_, ", ", steps_, " steps");
  }

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override {
    this->requirePoints("kokkos-kernels-par-ilut", a);
    report_ = {};
    for (Triangle<Device>* t : {&l_, &u_})
      t->row_map = allocateZeros<Offset, Device>(exec, "Ainvil::perf", size_t(a.numRows()) + 1);
  }

  void doCompute(const execution_space& exec, const Matrix& a) override {
    report_.phases.time(exec, "kokkos-kernels", "par_ilut", [&] {
      constexpr double least_change = 1e-2; // its default: the steps end earlier
      handle_.create_par_ilut_handle(size_t(steps_), least_change, fill_);
      const auto* const par_ilut = handle_.get_par_ilut_handle();
      par_ilut_symbolic(&handle_, a.graph.row_map, a.graph.entries, l_.row_map, u_.row_map);
      const std::pair<Triangle<Device>*, size_t> sizes[] = {{&l_, par_ilut->get_nnzL()},
                                                            {&u_, par_ilut->get_nnzU()}};
      for (const auto& [t, entries] : sizes) {
        t->entries = allocateZeros<Ordinal, Device>(exec, "Ainvil::perf", entries);
        t->values = allocateZeros<double, Device>(exec, "Ainvil::perf", entries);
      }
      compat::fence(exec, "Ainvil::perf[par_ilut]");
      par_ilut_numeric(&handle_, a.graph.row_map, a.graph.entries, a.values, l_.row_map, l_.entries,
                       l_.values, u_.row_map, u_.entries, u_.values);
    });
    report_.phases.time(exec, "kokkos-kernels", "analysis", [&] {
      l_.analyse(Uplo::Lower);
      u_.analyse(Uplo::Upper);
    });
    this->countEntries();
  }

private:
  using Base::handle_;
  using Base::l_;
  using Base::report_;
  using Base::u_;

  double fill_;
  int steps_;
};
#endif

const char* const ilu0 = "kokkos-kernels-ilu";
const char* const par_ilut = "kokkos-kernels-par-ilut";

} // namespace

bool isKokkosKernelsIlu(const std::string& specification) {
  return specification == ilu0 || specification.rfind(par_ilut, 0) == 0;
}

template <class Device>
PreconditionerPtr<double, Device> createKokkosKernelsIlu(const std::string& specification) {
  if (specification == ilu0)
    return std::make_unique<KokkosKernelsIlu<Device>>();
#ifdef AINVIL_KOKKOS_HAS_PAR_ILUT
  detail::SpecificationText text(specification);
  const auto number = [&](const char* key, double otherwise) {
    const double value = text.has(key) ? std::atof(text.value(key).c_str()) : otherwise;
    text.remove(key);
    return value;
  };
  const double fill = number("fill", 0.75), steps = number("steps", 20);
  if (text.text() != par_ilut || !(fill > 0) || !(steps >= 1))
    throw InvalidArgument(message("preconditioner '", specification,
                                  "': kokkos-kernels-par-ilut takes fill > 0 and steps >= 1"));
  return std::make_unique<KokkosKernelsParIlut<Device>>(fill, static_cast<int>(steps));
#else
  throw InvalidArgument(
      message("preconditioner '", specification, "': par_ilut comes with Kokkos Kernels 4"));
#endif
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template PreconditionerPtr<double, DEVICE> createKokkosKernelsIlu<DEVICE>(const std::string&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
