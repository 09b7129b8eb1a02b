// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a solver may know of the operators that are Ainvil's.

namespace ainvil {
namespace tpetra {

/// A base of Ainvil's Tpetra::Operators, whose apply() takes any alpha and beta.
class OwnOperator {
public:
  virtual ~OwnOperator() = default;
  /// True if apply() is the same linear map every time, which plain GMRES and CG rely on.
  virtual bool isFixed() const { return true; }
};

} // namespace tpetra
} // namespace ainvil
