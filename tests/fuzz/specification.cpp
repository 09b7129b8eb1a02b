// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Fuzzes the specifications of preconditioners: an InvalidArgument, or an object. Where all
/// numbers have one digit, so that they ask for little work, the object is set up and applied.

#include "fuzz/FuzzSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Fsai.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <cctype>

namespace {

using namespace ainvil;
using fuzz::require;
using Matrix = BsrMatrix<double, DefaultDevice>;
using HostVector = Vector<double, DefaultDevice>;

bool hasLongNumbers(const std::string& text) {
  for (size_t k = 1; k < text.size(); ++k)
    if (std::isdigit(static_cast<unsigned char>(text[k - 1])) &&
        std::isdigit(static_cast<unsigned char>(text[k])))
      return true;
  return false;
}

/// A preconditioner, or nothing where the specification is refused.
template <class Scalar>
PreconditionerPtr<Scalar, DefaultDevice> create(const std::string& text) {
  try {
    auto m = createPreconditioner<Scalar, DefaultDevice>(text);
    require(!m->description().empty(), "no description");
    return m;
  } catch (const InvalidArgument& error) {
    require(std::string(error.what()).find("preconditioner") != std::string::npos, error.what());
    return nullptr;
  }
}

bool hasFsaiParameters(const std::string& text) {
  try {
    fsaiParameters<double, DefaultDevice>(text);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

void useOn(const Matrix& a, Preconditioner<double, DefaultDevice>& m) {
  try {
    m.initialize(a);
    m.compute(a);
  } catch (const Error& error) {
    fuzz::requireSentence(error.what());
    return;
  }
  const HostVector x("x", a.numPointRows()), y("y", a.numPointRows());
  Kokkos::deep_copy(x, 1.0);
  for (const Trans trans : {Trans::No, Trans::Yes})
    m.apply(DefaultDevice::execution_space(), x, y, trans);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Matrix spd = makeProblem("poisson5:3").matrix;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto m = create<double>(text);
  const auto in_float = create<float>(text);
  require(m != nullptr || in_float == nullptr, "accepted for float only");
  const bool is_fsai = m != nullptr && text.compare(0, 4, "fsai") == 0;
  const bool has_polynomial = text.find("poly=") != std::string::npos;
  require(!is_fsai || has_polynomial || hasFsaiParameters(text),
          "accepted as a preconditioner only");
  if (m != nullptr && !hasLongNumbers(text))
    useOn(spd, *m);
  return 0;
}
