// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_BiCgStab.hpp"
#include "Ainvil_Cg.hpp"
#include "Ainvil_Gmres.hpp"

namespace ainvil {

template <class Scalar, class Device>
std::unique_ptr<KrylovSolver<Scalar, Device>> createSolver(const std::string& name,
                                                           SolverOptions options) {
  if (name == "cg")
    return std::make_unique<Cg<Scalar, Device>>(std::move(options));
  if (name == "gmres")
    return std::make_unique<Gmres<Scalar, Device>>(std::move(options));
  if (name == "fgmres")
    return std::make_unique<Gmres<Scalar, Device>>(std::move(options), Flexible::Yes);
  if (name == "bicgstab")
    return std::make_unique<BiCgStab<Scalar, Device>>(std::move(options));
  throw InvalidArgument(
      message("there is no solver '", name, "', known are cg, gmres, fgmres, bicgstab"));
}

template <class Scalar, class Device>
SolveResult solve(const std::string& solver, const BsrMatrix<Scalar, Device>& a,
                  detail::PrecondArg<Scalar, Device> m, const std::vector<Scalar>& b,
                  std::vector<Scalar>& x, SolverOptions options) {
  using Exec = typename Device::execution_space;
  using HostArray = Kokkos::View<const Scalar*, Kokkos::HostSpace>;
  const auto method = createSolver<Scalar, Device>(solver, std::move(options));
  const Exec exec;
  const auto b_device = allocate<Scalar, Device>(exec, "Ainvil::b", b.size());
  const auto x_device = allocate<Scalar, Device>(exec, "Ainvil::x", x.size());
  Kokkos::deep_copy(exec, b_device, HostArray(b.data(), b.size()));
  Kokkos::deep_copy(exec, x_device, HostArray(x.data(), x.size()));
  const SolveResult result =
      method->solve(exec, MatrixOperator<Scalar, Device>(a, exec), m, b_device, x_device);
  Kokkos::deep_copy(exec, Kokkos::View<Scalar*, Kokkos::HostSpace>(x.data(), x.size()), x_device);
  compat::fence(exec, "Ainvil::solve");
  return result;
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template std::unique_ptr<KrylovSolver<SCALAR, DEVICE>> createSolver(const std::string&,          \
                                                                      SolverOptions);              \
  template SolveResult solve(const std::string&, const BsrMatrix<SCALAR, DEVICE>&,                 \
                             detail::PrecondArg<SCALAR, DEVICE>, const std::vector<SCALAR>&,       \
                             std::vector<SCALAR>&, SolverOptions);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
