// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Preconditioners from one line of text, as on the command line of ainvil-solve.

#include "Ainvil_Preconditioner.hpp"
#include "parameters/Ainvil_Specification.hpp"

#include <string>
#include <vector>

namespace ainvil {

template <class Device>
struct FsaiParameters;
struct PolynomialParameters;

namespace detail {

/// createPreconditioner() for the scalars and devices that the library is compiled for.
template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> makePreconditioner(const std::string& specification,
                                                     ParameterNames names = ParameterNames::Keys);

} // namespace detail

/// The preconditioner that a line such as "ilu:level=1,solve=isai,power=2,storage=float" asks for:
/// a method, a colon, and key=value pairs separated by commas. Every method takes "poly=20", which
/// puts a Polynomial of degree 20 around it, and "poly=auto", which makes an Auto of some degrees.
/// `Space` is a device, or an execution or memory space that stands for one; `Scalar` may be const.
/// \throws InvalidArgument for an unknown method or key, a key given twice or of no effect, or a
/// value out of range; the message lists what is accepted. Nothing is built before all is checked.
template <class Scalar, class Space>
PreconditionerPtr<std::remove_const_t<Scalar>, DeviceOf<Space>>
createPreconditioner(const std::string& specification) {
  return detail::makePreconditioner<std::remove_const_t<Scalar>, DeviceOf<Space>>(specification);
}

/// The same, set up for the matrix on the default instance: initialize() and compute() have run.
/// \throws what these throw too.
template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> createPreconditioner(const std::string& specification,
                                                       const BsrMatrix<Scalar, Device>& a) {
  auto m = createPreconditioner<Scalar, Device>(specification);
  const typename Device::execution_space exec;
  m->initialize(exec, a);
  m->compute(exec, a);
  return m;
}

/// The parameters that a specification of the method fsai asks for. \throws InvalidArgument as
/// createPreconditioner(), for another method, and for a polynomial around it.
template <class Scalar, class Device>
FsaiParameters<Device> fsaiParameters(const std::string& specification);

/// The polynomial that a valid specification puts around its method: its degree is 0 for none, and
/// PolynomialParameters::automatic for poly=auto.
template <class Scalar, class Device>
PolynomialParameters polynomialParameters(const std::string& specification);

/// The specification without its polynomial.
std::string withoutPolynomial(const std::string& specification);

/// All methods and keys that createPreconditioner understands, those that user code has registered
/// included.
std::vector<MethodHelp> preconditionerHelp();

/// The keys that every method takes besides its own.
std::vector<ParameterHelp> commonParameterHelp();

/// Of one method, the keys that every method takes included. \throws InvalidArgument if there is no
/// method of that name; the message lists those there are.
MethodHelp methodHelp(const std::string& name);

} // namespace ainvil
