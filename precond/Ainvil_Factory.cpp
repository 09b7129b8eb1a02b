// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Factory.hpp"

#include "Ainvil_Fsai.hpp"
#include "Ainvil_Registry.hpp"
#include "parameters/Ainvil_SpecificationText.hpp"
#include "polynomial/Ainvil_Polynomial.hpp"

namespace ainvil {
namespace {

std::string knownMethods() {
  std::vector<std::string> names;
  for (const MethodHelp& method : preconditionerHelp())
    names.push_back(method.name);
  return detail::joined(names);
}

/// The keys of a method, and those of every one.
std::vector<ParameterHelp> allKeys(std::vector<ParameterHelp> of_method) {
  const std::vector<ParameterHelp> common = commonParameterHelp();
  of_method.insert(of_method.end(), common.begin(), common.end());
  return of_method;
}

/// What poly=auto chooses from: the method alone, and with polynomials of several degrees. Their
/// matrix is in float on GPUs, where reading it is most of an application, unless the specification
/// says otherwise.
template <class Device>
std::vector<std::string> withSomeDegrees(const std::string& text) {
  detail::SpecificationText specification(text);
  std::string storage = specification.value("poly-storage");
  if (storage.empty() && compat::IsGpu<typename Device::execution_space>::value)
    storage = "float";
  specification = detail::SpecificationText(withoutPolynomial(text));
  std::vector<std::string> list = {specification.text()};
  for (const char* degree : {"5", "10", "20", "40"}) {
    specification.set("poly", degree);
    if (!storage.empty())
      specification.set("poly-storage", storage);
    list.push_back(specification.text());
  }
  return list;
}

} // namespace

std::vector<MethodHelp> preconditionerHelp() {
  return detail::registry<double, DefaultDevice>().methods.help();
}

std::vector<ParameterHelp> commonParameterHelp() {
  return PolynomialParameters::table(VectorPrecision::Double).help();
}

MethodHelp methodHelp(const std::string& name) {
  for (const MethodHelp& method : preconditionerHelp())
    if (method.name == name)
      return {method.name, method.meaning, allKeys(method.parameters)};
  throw InvalidArgument(message("unknown method '", name, "', known are ", knownMethods()));
}

template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> detail::makePreconditioner(const std::string& text,
                                                             ParameterNames names) {
  Specification specification(text, names);
  if (text.empty())
    specification.fail(message("it is empty, known methods are ", knownMethods()));
  const auto method = registry<Scalar, Device>().methods.find(specification.method());
  if (method == nullptr)
    specification.fail(
        message("unknown method '", specification.method(), "', known are ", knownMethods()));
  const auto make = std::any_cast<MethodMaker<Scalar, Device>>(method->read(specification));
  const PolynomialParameters polynomial =
      Polynomial<Scalar, Device>::parameterTable().read(specification);
  specification.finish(allKeys(method->parameters()));
  auto inner = specification.orFail(make);
  if (polynomial.degree == 0)
    return inner;
  if (polynomial.degree == PolynomialParameters::automatic)
    return registry<Scalar, Device>().fastest_of(withSomeDegrees<Device>(text));
  return std::make_unique<Polynomial<Scalar, Device>>(std::move(inner), polynomial);
}

template <class Scalar, class Device>
PolynomialParameters polynomialParameters(const std::string& text) {
  detail::Specification specification(text);
  return Polynomial<Scalar, Device>::parameterTable().read(specification);
}

std::string withoutPolynomial(const std::string& text) {
  detail::SpecificationText specification(text);
  for (const ParameterHelp& parameter : PolynomialParameters::table(VectorPrecision::Double).help())
    specification.remove(parameter.key);
  return specification.text();
}

template <class Scalar, class Device>
FsaiParameters<Device> fsaiParameters(const std::string& text) {
  detail::Specification specification(text);
  if (specification.method() != "fsai")
    specification.fail("the method must be fsai");
  if (Polynomial<Scalar, Device>::parameterTable().read(specification).degree != 0)
    specification.fail("the parameters of fsai have no polynomial: leave 'poly' out, or over ranks "
                       "give it a degree");
  const auto& table = Fsai<Scalar, Device>::parameterTable();
  const FsaiOptions parameters = table.read(specification);
  specification.finish(allKeys(table.help()));
  return parameters;
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template PolynomialParameters polynomialParameters<SCALAR, DEVICE>(const std::string&);          \
  template FsaiParameters<DEVICE> fsaiParameters<SCALAR, DEVICE>(const std::string&);              \
  template PreconditionerPtr<SCALAR, DEVICE> detail::makePreconditioner<SCALAR, DEVICE>(           \
      const std::string&, ParameterNames);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
