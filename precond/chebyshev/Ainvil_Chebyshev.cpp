// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Chebyshev.hpp"

#include "parameters/Ainvil_CommonParameters.hpp"
#include "product/Ainvil_Probes.hpp"

#include <cmath>

namespace ainvil {

template <class Scalar, class Device>
Chebyshev<Scalar, Device>::Chebyshev(const ChebyshevParameters& parameters)
    : parameters_(parameterTable().checked(parameters)) {
  if (parameters_.largest > 0 && parameters_.smallest >= parameters_.largest)
    throw InvalidArgument(message("the smallest eigenvalue, ", parameters_.smallest,
                                  ", must lie below the largest one, ", parameters_.largest));
}

const ParameterTable<ChebyshevParameters>& ChebyshevParameters::table() {
  using P = ChebyshevParameters;
  const auto make = [] {
    const auto isEstimated = [](const P& p) { return p.largest == 0; };
    ParameterTable<P> table;
    table.integer("degree", "chebyshev: degree", &P::degree, 1, "steps of the iteration")
        .details("A product with A each but for the first, of an application.")
        .number("largest", "chebyshev: max eigenvalue", &P::largest, NumberRange::NonNegative,
                "upper bound of the eigenvalues of D^-1 A, 0 to estimate it")
        .details("An estimate takes products with A at each `compute`.")
        .number("smallest", "chebyshev: min eigenvalue", &P::smallest, NumberRange::NonNegative,
                "lower end of the interval, 0 for the upper end over the ratio")
        .number("ratio", "chebyshev: ratio eigenvalue", &P::ratio, NumberRange::Positive,
                "upper over lower end of the interval")
        .above(1)
        .onlyIf([](const P& p) { return p.smallest == 0; }, "smallest=0")
        .details("A smoother leaves the eigenvalues below the interval to coarser grids.")
        .integer("power-steps", "chebyshev: eigenvalue max iterations", &P::power_steps, 1,
                 "steps of the power method")
        .onlyIf(isEstimated, "largest=0")
        .number("boost", "chebyshev: boost factor", &P::boost, NumberRange::Positive,
                "factor on the estimate, which comes from below")
        .onlyIf(isEstimated, "largest=0")
        .details("An eigenvalue above the sum of both ends makes M^-1 indefinite.")
        .describedBy({"degree", "largest?", "smallest?", "ratio", "power-steps?", "boost?"});
    detail::addPivots(table, "diagonal block", "eps (of double)");
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
std::string Chebyshev<Scalar, Device>::description() const {
  return message("chebyshev: {", parameterTable().describe(parameters_), "}");
}

template <class Scalar, class Device>
void Chebyshev<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  diagonal_inverse_.initialize(exec, a, detail::DiagonalOf::Blocks, parameters_.breakdown,
                               parameters_.shift, parameters_.pivot_tolerance);
  a_ = SparseOperator<Scalar, Device>(
      exec, Matrix(a.graph, allocate<Scalar, Device>(exec, "Ainvil::values", a.numScalars()),
                   a.block_size));
  probes_ = products_ = {};
  if (parameters_.largest == 0) {
    const auto vectors = [&] {
      return allocateView<MultiVector<Scalar, Device>>(exec, "Ainvil::probes", a.numPointRows(),
                                                       detail::num_probes);
    };
    probes_ = vectors();
    products_ = vectors();
  }
  detail::workspaceOf(exec, workspace_, a.numPointRows(), 2);
}

/// The growth of ||v||_F under v <- D^-1 A v, v <- v / ||v||_F in the last step.
template <class Scalar, class Device>
double Chebyshev<Scalar, Device>::largestEigenvalue(const execution_space& exec) const {
  const MultiVectorArg<Scalar, Device> v = probes_, av = products_;
  detail::fillProbes<Scalar, Device>(exec, v);
  double before = detail::norm<Scalar, Device>(exec, v), largest = 0;
  for (int k = 0; k < parameters_.power_steps && before > 0; ++k) {
    a_.multiply(exec, Trans::No, Scalar(1 / before), v, Scalar(0), av);
    diagonal_inverse_.apply(exec, Trans::No, Scalar(1), av, Scalar(0), v);
    before = largest = detail::norm<Scalar, Device>(exec, v);
  }
  if (!std::isfinite(largest))
    throw BreakdownError("the estimate of the largest eigenvalue of D^-1 A has overflowed: scale "
                         "the matrix, or give the eigenvalue");
  return largest;
}

template <class Scalar, class Device>
void Chebyshev<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  axpby<Scalar, Device>(exec, Scalar(1), asColumn(a.values), Scalar(0),
                        asColumn(a_.native().values));
  report_.phases.time(exec, "Chebyshev", "invert", [&] {
    diagonal_inverse_.compute(exec, "Ainvil::Chebyshev[invert]", a, report_);
  });
  upper_ = parameters_.largest;
  if (upper_ == 0)
    report_.phases.time(exec, "Chebyshev", "estimate", [&] {
      // In float: how the sums of the norms were rounded does not show.
      upper_ = parameters_.boost * static_cast<float>(largestEigenvalue(exec));
      upper_ = upper_ > 0 ? upper_ : 1; // no rows
      report_.note(message("largest=", upper_));
    });
  lower_ = parameters_.smallest > 0 ? parameters_.smallest : upper_ / parameters_.ratio;
  if (lower_ >= upper_)
    throw InvalidArgument(message("the smallest eigenvalue, ", lower_,
                                  ", must lie below the largest one, estimated as ", upper_));
  const Offset products = parameters_.degree - 1;
  report_.factor_entries =
      products * a.numScalars() + parameters_.degree * diagonal_inverse_.entries();
  report_.factor_bytes = products * a.bytes() +
                         parameters_.degree * diagonal_inverse_.entries() * Offset(sizeof(Scalar));
}

template <class Scalar, class Device>
void Chebyshev<Scalar, Device>::doApply(const execution_space& exec,
                                        MultiVectorArg<const Scalar, Device> x,
                                        MultiVectorArg<Scalar, Device> y, Trans trans) const {
  const size_t n = x.extent(0), columns = x.extent(1);
  const auto both = detail::workspaceOf(exec, workspace_, n, 2 * columns);
  const MultiVectorArg<Scalar, Device> r(both.data(), n, columns),
      d(both.data() + n * columns, n, columns);
  const double theta = (upper_ + lower_) / 2, delta = (upper_ - lower_) / 2;
  double rho = delta / theta;
  const Scalar one = 1, zero = 0;
  if (parameters_.degree == 1) {
    diagonal_inverse_.apply(exec, trans, Scalar(1 / theta), x, zero, y);
    return;
  }
  diagonal_inverse_.apply(exec, trans, Scalar(1 / theta), x, zero, d);
  MultiVectorArg<const Scalar, Device> rest = x;
  for (int k = 2; k <= parameters_.degree; ++k) {
    // y += d, r = x - op(A) y
    a_.multiplyAdd(exec, trans, -one, d, one, rest, zero, rest, r, {one, k == 2 ? zero : one, y});
    rest = r;
    const double next = 1 / (2 * theta / delta - rho);
    diagonal_inverse_.apply(exec, trans, Scalar(2 * next / delta), r, Scalar(next * rho), d);
    rho = next;
  }
  axpby<Scalar, Device>(exec, one, d, one, y);
}

AINVIL_INSTANTIATE_CLASS(Chebyshev)

} // namespace ainvil
