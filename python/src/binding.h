#pragma once
#include "array_caster.h"
#include "callback_caster.h"

#include <nanobind/eigen/sparse.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tendril {
class DirectorSystem;
class Marker;
class Model;
struct State;
}
/// They hold lists of what cannot be copied, which the standard library does not tell.
template <> struct nanobind::detail::is_copy_constructible<tendril::DirectorSystem> : std::false_type {};
template <> struct nanobind::detail::is_copy_constructible<tendril::Model> : std::false_type {};

/// How C++ values appear in Python; what the generated bindings are written in.
///
///   numbers, texts, containers   copies
///   arrays of fixed size that are members of an object   views, which keep the object alive
///   arrays that may change their size   copies
///   objects that belong to another   references, which keep the other alive
///
/// An object that a C++ object refers to, given to its constructor or to one of its members, lives as long as that one does.
namespace tendril::python {

namespace nb = nanobind;

template <class T> inline constexpr bool isArray = nb::detail::is_eigen_plain_v<T>;
template <class T>
inline constexpr bool isFixedArray = [] {
  if constexpr (isArray<T>) return T::SizeAtCompileTime != Eigen::Dynamic;
  return false;
}();
template <class T> inline constexpr bool isObject = nb::detail::is_base_caster_v<nb::detail::make_caster<T>> && !std::is_enum_v<T>;

template <class T> struct ElementOf { using Type = void; };
template <class T, class A> struct ElementOf<std::vector<T, A>> { using Type = T; };
template <class T, std::size_t N> struct ElementOf<std::array<T, N>> { using Type = T; };
/// A list of objects, or of pointers to them.
template <class T>
inline constexpr bool isObjects =
    !std::is_void_v<typename ElementOf<T>::Type> && isObject<std::remove_cvref_t<std::remove_pointer_t<typename ElementOf<T>::Type>>>;

/// A list of the elements: copies of objects, references where the elements are pointers. Each keeps the owner alive.
template <class Container> nb::list listOf(nb::handle owner, const Container& elements) {
  nb::list list;
  for (const auto& element : elements) {
    nb::object item;
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(element)>>)
      item = nb::cast(element, nb::rv_policy::reference);
    else
      item = nb::cast(element, nb::rv_policy::copy);
    if (!item.is_none() && owner.is_valid()) nb::keep_alive_obj(item, owner);
    list.append(std::move(item));
  }
  return list;
}

/// What a function returns, as Python gets it.
template <class T> decltype(auto) give(T&& value) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (std::is_pointer_v<Value>)
    return const_cast<std::remove_cv_t<std::remove_pointer_t<Value>>*>(value);
  else if constexpr (isObject<Value> && std::is_lvalue_reference_v<T>)
    return const_cast<Value&>(value);
  else
    return Value(std::forward<T>(value));
}
template <class T> std::unique_ptr<T> give(std::unique_ptr<const T>&& value) { return std::unique_ptr<T>(const_cast<T*>(value.release())); }
template <class T, std::size_t N> std::vector<std::remove_cv_t<T>> give(std::span<T, N> values) { return {values.begin(), values.end()}; }
inline nb::object give(std::span<const double> values) {
  return nb::cast(Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), Eigen::Index(values.size()))));
}

template <class> struct MemberOf;
template <class C, class M> struct MemberOf<M C::*> {
  using Class = C;
  using Type = M;
};

/// A data member as a property.
template <auto member, class Class, class... Extra> void field(Class& bound, const char* name, const char* doc) {
  using Owner = typename Class::Type;
  using Type = typename MemberOf<decltype(member)>::Type;
  using Value = std::remove_const_t<Type>;
  constexpr bool isWritable = !std::is_const_v<Type> && std::is_copy_assignable_v<Value>;
  const auto set = [](Owner& self, const Value& value) { self.*member = value; };
  const auto property = [&](auto get, auto policy, auto... extra) {
    if constexpr (isWritable)
      bound.def_prop_rw(name, get, set, nb::for_getter(policy), nb::for_setter(extra)..., doc);
    else
      bound.def_prop_ro(name, get, policy, doc);
  };
  if constexpr (isFixedArray<Value>) {
    property([](Owner& self) { return Eigen::Map<Value>((self.*member).data()); }, nb::rv_policy::reference_internal);
  } else if constexpr (std::is_same_v<Value, std::vector<char>>) { // truth values, one by one
    bound.def_prop_rw(
        name, [](const Owner& self) { return std::vector<bool>((self.*member).begin(), (self.*member).end()); },
        [](Owner& self, const std::vector<bool>& values) { (self.*member).assign(values.begin(), values.end()); }, doc);
  } else if constexpr (std::is_pointer_v<Value> && !std::is_same_v<Value, const char*>) {
    using Target = std::remove_const_t<std::remove_pointer_t<Value>>;
    const auto assign = [](Owner& self, Target* value) { self.*member = value; };
    bound.def_prop_rw(
        name, [](Owner& self) { return const_cast<Target*>(self.*member); }, assign, nb::for_getter(nb::rv_policy::reference_internal),
        nb::for_setter(nb::keep_alive<1, 2>()), nb::for_setter(nb::arg().none()), doc);
  } else if constexpr (isObjects<Value>) {
    property([](nb::handle self) { return listOf(self, nb::cast<Owner&>(self).*member); }, nb::rv_policy::automatic,
             nb::keep_alive<1, 2>());
  } else if constexpr (isObject<Value>) {
    property([](Owner& self) -> Value& { return const_cast<Value&>(self.*member); }, nb::rv_policy::reference_internal,
             nb::keep_alive<1, 2>());
  } else {
    property([](Owner& self) -> Value { return self.*member; }, nb::rv_policy::automatic);
  }
}

/// Construction by keywords of the members: GeneralizedAlphaOptions(step=1e-4). The signature names them for stubs.
template <class Class> void keywords(Class& bound, const char* signature, const char* doc) {
  using Owner = typename Class::Type;
  if constexpr (std::is_default_constructible_v<Owner>) {
    const auto make = [](nb::handle self, const nb::kwargs& members) {
      new (nb::inst_ptr<Owner>(self)) Owner{};
      nb::inst_mark_ready(self);
      const nb::object type = nb::borrow(self.type());
      for (const auto& [name, value] : members) {
        if (!nb::hasattr(type, name)) {
          throw nb::type_error((std::string(nb::inst_name(self).c_str()) + " has no member '" + nb::cast<std::string>(name) + "'").c_str());
        }
        nb::setattr(self, name, value);
      }
    };
    bound.def(nb::init<>()); // first, since nanobind knows by the first of them whether others construct
    bound.def("__init__", make, nb::sig(signature), doc);
  }
}

template <class T> nb::class_<T> classOf() { return nb::borrow<nb::class_<T>>(nb::type<T>()); }

/// Refuses an array whose size does not fit, before C++ takes it at its word.
void requireSize(const char* name, Eigen::Index found, Eigen::Index expected);
/// Refuses a number outside of [0, bound) with an IndexError.
void requireIndex(const char* name, long index, long bound);
/// Refuses what does not hold.
void require(bool holds, const char* message);
/// Refuses a state that ends before the blocks of a marker do.
void requireReach(const Marker& marker, const State& state);
/// The submodule of that name, made at the first call.
nb::module_ submodule(nb::module_& m, const char* name);

}
