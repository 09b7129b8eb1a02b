// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Exceptions. Every message is one sentence that names the culprit and says what to do.

#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>

namespace ainvil {

/// What the library throws is one of these; std::bad_alloc only where memory does not suffice for a
/// sentence or a name.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read or written, or whose text is not what it claims to be.
class FileError : public Error {
  using Error::Error;
};

/// An argument, option or matrix that breaks a documented precondition.
class InvalidArgument : public Error {
  using Error::Error;
};

/// A pivot that cannot be inverted, under the breakdown policy `fail`, or factors that overflow or
/// fill up, under any.
class BreakdownError : public Error {
  using Error::Error;
};

/// There is no memory for an array, on the host or on the device. The sentence tells which and how
/// large it is.
class OutOfMemory : public Error {
  using Error::Error;
};

namespace detail {

/// An argument of message(): what it is printed from, and how.
struct MessagePart {
  const void* value;
  void (*print)(std::ostream& out, const void* value);

  /// Text in quotes, of any length.
  MessagePart(const char* text)
      : value(text),
        print([](std::ostream& out, const void* t) { out << static_cast<const char*>(t); }) {}
  /// Whatever a stream takes.
  template <class T>
  MessagePart(const T& object)
      : value(&object),
        print([](std::ostream& out, const void* o) { out << *static_cast<const T*>(o); }) {}
};

/// The parts printed one after the other.
std::string concatenate(std::initializer_list<MessagePart> parts);

} // namespace detail

/// Concatenates its arguments into a message: `throw Error(message("row ", i, " is empty"))`.
template <class... Args>
std::string message(const Args&... args) {
  return detail::concatenate({detail::MessagePart(args)...});
}

} // namespace ainvil
