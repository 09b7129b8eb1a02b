// SPDX-License-Identifier: BSD-3-Clause
#include "studies/InverseFactorsFormats.hpp"

#include "peers/CusparsePeer.hpp"
#include "program/Measure.hpp"

#include "Ainvil_Cg.hpp"

namespace ainvil {
namespace perf {
namespace {

template <class Device>
using OperatorPtr = std::unique_ptr<LinearOperator<double, Device>>;

/// The matrix as that format has it; null if nobody has.
template <class Device>
OperatorPtr<Device> makeOperator(const std::string& format, const BsrMatrix<double, Device>& a) {
  if (format == "csr")
    return std::make_unique<MatrixOperator<double, Device>>(a);
  if constexpr (std::is_same<Device, DefaultDevice>::value)
    return cusparseOperator(a,
                            format == "cusparse-csr" ? CusparseFormat::Csr : CusparseFormat::Coo);
  return nullptr;
}

/// M^-1 = left right, both as operators.
template <class Device>
class FactoredInverse final : public Preconditioner<double, Device> {
public:
  using Base = Preconditioner<double, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  FactoredInverse(OperatorPtr<Device> left, OperatorPtr<Device> right)
      : left_(std::move(left)), right_(std::move(right)) {}

  std::string description() const override { return "product of two operators"; }

protected:
  void doInitialize(const execution_space&, const Matrix&) override {}
  void doCompute(const execution_space&, const Matrix&) override {}
  void doApply(const execution_space& exec, MultiVectorArg<const double, Device> x,
               MultiVectorArg<double, Device> y, Trans) const override {
    const auto t = detail::workspaceOf(exec, workspace_, x.extent(0), x.extent(1));
    right_->apply(exec, x, t);
    left_->apply(exec, t, y);
  }

private:
  OperatorPtr<Device> left_, right_;
  mutable MultiVector<double, Device> workspace_;
};

template <class Device>
class FormatStudy {
public:
  FormatStudy(const InverseFactorsOptions& options, const LinearSystem& system, Results& results)
      : options_(options), results_(results), a_(copyTo<Device>(system.matrix)),
        b_(Kokkos::create_mirror_view_and_copy(typename Device::memory_space(), system.rhs)),
        x_(allocateZeros<double, Device>(exec_, "Ainvil::x", b_.extent(0))),
        y_(allocate<double, Device>(exec_, "Ainvil::y", b_.extent(0))),
        cg_(solverOptions(options)) {}

  void run() {
    solveInEachFormat(nullptr, not_measured);
    for (const double drop : options_.drops) {
      Ainv<double, Device> ainv(ainvParameters(options_, drop));
      ainv.initialize(exec_, a_);
      ainv.compute(exec_, a_);
      solveInEachFormat(&ainv, drop);
    }
  }

private:
  using Matrix = BsrMatrix<double, Device>;

  void solveInEachFormat(const Ainv<double, Device>* ainv, double drop) {
    for (const char* format : {"csr", "cusparse-csr", "cusparse-coo"}) {
      const OperatorPtr<Device> a = makeOperator(format, a_);
      if (!a)
        continue;
      if (ainv == nullptr) {
        solve(format, *a, nullptr, drop, {a_});
        continue;
      }
      const Matrix &left = ainv->left().native(), &right = ainv->right().native();
      FactoredInverse<Device> m(makeOperator(format, left), makeOperator(format, right));
      m.initialize(exec_, a_);
      m.compute(exec_, a_);
      solve(format, *a, &m, drop, {left, right});
    }
  }

  /// Times CG and an application of the preconditioner or, where there is none, a product with A;
  /// `matrices` are those of what is timed.
  void solve(const std::string& format, const LinearOperator<double, Device>& a,
             const FactoredInverse<Device>* m, double drop, const std::vector<Matrix>& matrices) {
    const LinearOperator<double, Device>* product = &a;
    if (m != nullptr)
      product = m;
    const double seconds = medianSeconds(exec_, options_.repeat, [&] {
      product->apply(exec_, asColumn(Vector<const double, Device>(b_)), asColumn(y_));
    });
    Offset bytes = 0;
    Ordinal longest = 0;
    for (const Matrix& matrix : matrices) {
      bytes += matrix.bytes();
      longest = std::max(longest, detail::longestRow<Device>(exec_, matrix.graph));
    }
    SolveResult result;
    std::vector<double> solves;
    for (int repetition = 0; repetition < options_.repeat; ++repetition) {
      Kokkos::deep_copy(exec_, x_, 0.0);
      solves.push_back(secondsOnce(exec_, [&] { result = cg_.solve(exec_, a, m, b_, x_); }));
    }
    const bool preconditioned = m != nullptr;
    results_.add({preconditioned ? "sainv" : "none", format, drop,
                  preconditioned ? options_.order : "", matrices[0].numEntries(), Offset(longest),
                  double(bytes), seconds, double(bytes) / seconds, Offset(result.iterations),
                  Statistics(solves).median, toString(result.status), result.true_rel_residual});
  }

  const InverseFactorsOptions& options_;
  Results& results_;
  typename Device::execution_space exec_;
  BsrMatrix<double, Device> a_;
  Vector<double, Device> b_, x_, y_;
  Cg<double, Device> cg_;
};

} // namespace

std::vector<Column> formatColumns() {
  return {{"method", "method", -6},
          {"format", "format", -12},
          {"drop", "drop", 6},
          {"order", "", 0},
          {"matrix_entries", "entries", 9},
          {"longest_row", "longest", 7},
          {"bytes", "MB", 8, 1e-6},
          microseconds("product_seconds", "us"),
          {"bytes_per_second", "GB/s", 8, 1e-9},
          {"iterations", "iters", 6},
          milliseconds("solve_seconds", "solve ms"),
          {"status", "status", -9},
          {"rel_residual", "", 0}};
}

template <class Device>
void studyFormats(const InverseFactorsOptions& options, const LinearSystem& system,
                  Results& results) {
  FormatStudy<Device>(options, system, results).run();
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void studyFormats<DEVICE>(const InverseFactorsOptions&, const LinearSystem&, Results&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
