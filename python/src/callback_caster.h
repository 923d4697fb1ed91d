#pragma once
#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

/// Callables of Python as std::function. What C++ keeps of them is hidden from Python's collector, which so cannot free an object whose
/// callback knows the object, be it through the module in which both stand; when the interpreter ends, all callables are let go.
/// (nanobind's own conversion keeps them, and then reports the objects as leaked.)
namespace nanobind::detail {

/// A callable that C++ keeps; null once the interpreter has ended. Copies of a std::function share it.
class KeptCallable {
 public:
  explicit KeptCallable(PyObject* callable);
  KeptCallable(const KeptCallable&) = delete;
  KeptCallable& operator=(const KeptCallable&) = delete;
  ~KeptCallable();
  /// With the interpreter's lock held.
  PyObject* get() const { return callable_; }

  /// Lets all go; called as the interpreter ends.
  static void releaseAll();

 private:
  PyObject* callable_;
};

template <class Return, class... Arguments> struct type_caster<std::function<Return(Arguments...)>> {
  using ReturnCaster = make_caster<std::conditional_t<std::is_void_v<Return>, void_type, Return>>;
  NB_TYPE_CASTER(std::function<Return(Arguments...)>, const_name("collections.abc.Callable[[") + concat(make_caster<Arguments>::Name...) +
                                                          const_name("], ") + ReturnCaster::Name + const_name("]"))

  struct Call {
    std::shared_ptr<const KeptCallable> kept;

    Return operator()(Arguments... arguments) const {
      const gil_scoped_acquire lock;
      if (!lock.is_valid() || !kept->get()) raise("a callback was called while the interpreter ends");
      return cast<Return>(handle(kept->get())((forward_t<Arguments>)arguments...));
    }
  };

  bool from_python(handle source, uint32_t flags, cleanup_list*) noexcept {
    if (source.is_none()) return (flags & cast_flags::convert) != 0;
    if (!PyCallable_Check(source.ptr())) return false;
    value = Call{std::make_shared<KeptCallable>(source.ptr())};
    return true;
  }

  static handle from_cpp(const Value& function, rv_policy policy, cleanup_list*) noexcept {
    if (const Call* call = function.template target<Call>()) return handle(call->kept->get() ? call->kept->get() : Py_None).inc_ref();
    if (policy == rv_policy::none) return {};
    return function ? cpp_function(function).release() : none().release();
  }
};

}
