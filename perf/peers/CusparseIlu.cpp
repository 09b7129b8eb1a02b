// SPDX-License-Identifier: BSD-3-Clause
#include "peers/CusparseIlu.hpp"

#include "peers/CusparseObjects.hpp"

#include "backend/Ainvil_Counted.hpp"

namespace ainvil {
namespace perf {
namespace {

using namespace cusparse;

class CusparseIlu final : public Preconditioner<double, Device> {
public:
  using typename Preconditioner<double, Device>::Matrix;

  explicit CusparseIlu(cusparseSolvePolicy_t policy)
      : policy_(policy), handle_(cusparseCreate), general_(cusparseCreateMatDescr) {}

  std::string description() const override {
    return policy_ == CUSPARSE_SOLVE_POLICY_USE_LEVEL ? "block ILU(0) of cuSPARSE, by levels"
                                                      : "block ILU(0) of cuSPARSE, without levels";
  }

protected:
  void doInitialize(const Exec& exec, const Matrix& a) override {
    use(exec);
    report_ = {};
    rows_ = a.numRows();
    block_size_ = a.block_size;
    columns_ = a.graph.entries;
    row_offsets_ = narrowed(exec, a.graph);
    entries_ = static_cast<int>(a.numEntries());
    factors_ = allocate<double, Device>(exec, "Ainvil::cusparse", a.values.extent(0));
    Kokkos::deep_copy(exec, factors_, a.values);
    report_.phases.time(exec, "cusparse", "analysis", [&] {
      ilu_ = std::make_unique<BsriluInfo>(cusparseCreateBsrilu02Info);
      int bytes = 0;
      check(cusparseDbsrilu02_bufferSize(handle_, row_major, rows_, entries_, general_,
                                         factors_.data(), row_offsets_.data(), columns_.data(),
                                         block_size_, *ilu_, &bytes),
            "bsrilu02_bufferSize");
      ilu_buffer_ = allocate<char, Device>(exec, "Ainvil::cusparse", bytes);
      check(cusparseDbsrilu02_analysis(handle_, row_major, rows_, entries_, general_,
                                       factors_.data(), row_offsets_.data(), columns_.data(),
                                       block_size_, *ilu_, policy_, ilu_buffer_.data()),
            "bsrilu02_analysis");
      analyse(exec, l_, Uplo::Lower, CUSPARSE_DIAG_TYPE_UNIT);
      analyse(exec, u_, Uplo::Upper, CUSPARSE_DIAG_TYPE_NON_UNIT);
    });
  }

  void doCompute(const Exec& exec, const Matrix& a) override {
    use(exec);
    report_.phases.time(exec, "cusparse", "ILU", [&] {
      Kokkos::deep_copy(exec, factors_, a.values);
      check(cusparseDbsrilu02(handle_, row_major, rows_, entries_, general_, factors_.data(),
                              row_offsets_.data(), columns_.data(), block_size_, *ilu_, policy_,
                              ilu_buffer_.data()),
            "bsrilu02");
    });
    int position = -1;
    if (cusparseXbsrilu02_zeroPivot(handle_, *ilu_, &position) == CUSPARSE_STATUS_ZERO_PIVOT)
      throw BreakdownError(
          message("bsrilu02 of cuSPARSE: zero pivot in ", counted("block row", position)));
    report_.factor_entries = Offset(factors_.extent(0));
    report_.factor_bytes =
        Offset(factors_.extent(0) * sizeof(double) + columns_.extent(0) * sizeof(int));
  }

  // U y = L^-1 x, column by column.
  void doApply(const Exec& exec, MultiVectorArg<const double, Device> x,
               MultiVectorArg<double, Device> y, Trans trans) const override {
    if (trans != Trans::No)
      throw InvalidArgument("cusparse-ilu has no transposed application");
    use(exec);
    const auto z = detail::workspaceOf<double, Device>(exec, workspace_, x.extent(0), 1);
    for (size_t c = 0; c < x.extent(1); ++c) {
      solve(l_, Kokkos::subview(x, Kokkos::ALL(), c).data(), z.data());
      solve(u_, z.data(), Kokkos::subview(y, Kokkos::ALL(), c).data());
    }
  }

private:
  struct Triangle {
    std::unique_ptr<Description> description;
    std::unique_ptr<BsrsvInfo> info;
    Buffer buffer;
  };

  void use(const Exec& exec) const {
    check(cusparseSetStream(handle_, exec.cuda_stream()), "SetStream");
  }

  void analyse(const Exec& exec, Triangle& t, Uplo uplo, cusparseDiagType_t diagonal) const {
    t.description = std::make_unique<Description>(cusparseCreateMatDescr);
    describeTriangle(*t.description, uplo, diagonal);
    t.info = std::make_unique<BsrsvInfo>(cusparseCreateBsrsv2Info);
    int bytes = 0;
    check(cusparseDbsrsv2_bufferSize(handle_, row_major, no_transpose, rows_, entries_,
                                     *t.description, factors_.data(), row_offsets_.data(),
                                     columns_.data(), block_size_, *t.info, &bytes),
          "bsrsv2_bufferSize");
    t.buffer = allocate<char, Device>(exec, "Ainvil::cusparse", bytes);
    check(cusparseDbsrsv2_analysis(handle_, row_major, no_transpose, rows_, entries_,
                                   *t.description, factors_.data(), row_offsets_.data(),
                                   columns_.data(), block_size_, *t.info, policy_, t.buffer.data()),
          "bsrsv2_analysis");
  }

  void solve(const Triangle& t, const double* b, double* x) const {
    check(cusparseDbsrsv2_solve(handle_, row_major, no_transpose, rows_, entries_, &one,
                                *t.description, factors_.data(), row_offsets_.data(),
                                columns_.data(), block_size_, *t.info, b, x, policy_,
                                t.buffer.data()),
          "bsrsv2_solve");
  }

  cusparseSolvePolicy_t policy_;
  Handle handle_;
  Description general_;
  int rows_ = 0, entries_ = 0, block_size_ = 1;
  Kokkos::View<const int*, Device> row_offsets_, columns_;
  Kokkos::View<double*, Device> factors_; ///< L without its unit diagonal, and U
  std::unique_ptr<BsriluInfo> ilu_;
  Buffer ilu_buffer_;
  Triangle l_, u_;
  mutable MultiVector<double, Device> workspace_;
};

} // namespace

PreconditionerPtr<double, DefaultDevice> createCusparseIlu(const std::string& specification) {
  const bool levels = specification == "cusparse-ilu";
  if (!levels && specification != "cusparse-ilu:policy=no-level")
    throw InvalidArgument(message("preconditioner '", specification,
                                  "': cusparse-ilu has only the key policy, which must be "
                                  "no-level"));
  return std::make_unique<CusparseIlu>(levels ? CUSPARSE_SOLVE_POLICY_USE_LEVEL
                                              : CUSPARSE_SOLVE_POLICY_NO_LEVEL);
}

} // namespace perf
} // namespace ainvil
