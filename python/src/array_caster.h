#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <Eigen/Core>

#include <complex>

/// Dense matrices of Eigen as NumPy arrays. What comes from Python may be anything that NumPy makes a real array of (lists, tuples,
/// arrays of integers or single precision, not contiguous ones) with the right number of dimensions and the right fixed sizes; it is
/// copied. What goes to Python is a copy, or a view where the return policy says that it belongs to an object. (nanobind's own conversion
/// takes arrays only, no lists.)
namespace nanobind::detail {

template <class T, class = void> struct IsPlainArray : std::false_type {};
template <class T>
struct IsPlainArray<T, std::void_t<typename T::PlainObject, typename T::Scalar>>
    : std::bool_constant<std::is_base_of_v<Eigen::PlainObjectBase<T>, T>> {};
template <class T> inline constexpr bool is_eigen_plain_v = IsPlainArray<T>::value;

template <class T>
using ArrayOf = ndarray<
    typename T::Scalar, numpy,
    std::conditional_t<bool(T::IsVectorAtCompileTime), shape<T::SizeAtCompileTime>, shape<T::RowsAtCompileTime, T::ColsAtCompileTime>>,
    std::conditional_t<bool(T::IsVectorAtCompileTime) || bool(T::IsRowMajor), c_contig, f_contig>>;

/// An array of real numbers of the scalar type, or nothing, without an error left behind.
object toRealArray(handle source, const char* scalar, bool isRowMajor) noexcept;

template <class T> struct ArrayOut {
  static handle array(const T& value, rv_policy policy, cleanup_list* cleanup) noexcept {
    constexpr bool isVector = T::IsVectorAtCompileTime;
    const size_t sizes[2] = {size_t(isVector ? value.size() : value.rows()), size_t(value.cols())};
    object owner;
    if (policy == rv_policy::reference_internal) {
      if (!cleanup || !cleanup->self()) return {};
      owner = borrow(cleanup->self());
      policy = rv_policy::reference;
    } else {
      policy = rv_policy::copy;
    }
    using View =
        ndarray<typename T::Scalar, numpy, std::conditional_t<bool(T::IsVectorAtCompileTime) || bool(T::IsRowMajor), c_contig, f_contig>>;
    const int64_t outer = int64_t(T::IsRowMajor ? value.cols() : value.rows());
    const int64_t strides[2] = {isVector ? 1 : (T::IsRowMajor ? outer : 1), T::IsRowMajor ? 1 : outer};
    View view(const_cast<typename T::Scalar*>(value.data()), isVector ? 1 : 2, sizes, owner, strides);
    return make_caster<View>::from_cpp(view, policy, cleanup);
  }
};

template <class T> struct type_caster<T, enable_if_t<is_eigen_plain_v<T>>> {
  using Scalar = typename T::Scalar;
  NB_TYPE_CASTER(T, make_caster<ArrayOf<T>>::Name)

  bool from_python(handle source, uint32_t, cleanup_list* cleanup) noexcept {
    const object array = toRealArray(source, std::is_integral_v<Scalar> ? "int32" : "float64", T::IsRowMajor);
    if (!array.is_valid()) return false;
    make_caster<ArrayOf<T>> caster;
    if (!caster.from_python(array, 0, cleanup)) return false;
    const auto& found = caster.value;
    if constexpr (T::IsVectorAtCompileTime)
      value.resize(Eigen::Index(found.shape(0)));
    else
      value.resize(Eigen::Index(found.shape(0)), Eigen::Index(found.shape(1)));
    std::copy_n(found.data(), found.size(), value.data());
    return true;
  }

  template <class T2> static handle from_cpp(T2&& array, rv_policy policy, cleanup_list* cleanup) noexcept {
    policy = infer_policy<T2>(policy); // a temporary is no part of an object
    if constexpr (std::is_pointer_v<std::remove_cvref_t<T2>>)
      return ArrayOut<T>::array(*array, policy, cleanup);
    else
      return ArrayOut<T>::array(array, policy, cleanup);
  }
};

/// A view of the numbers of an object; goes to Python only.
template <class T> struct type_caster<Eigen::Map<T>> {
  using Plain = std::remove_const_t<T>;
  static constexpr auto Name = make_caster<ArrayOf<Plain>>::Name;
  template <class> using Cast = Eigen::Map<T>;
  template <class> static constexpr bool can_cast() { return true; }
  static handle from_cpp(const Eigen::Map<T>& view, rv_policy policy, cleanup_list* cleanup) noexcept {
    constexpr bool isVector = Plain::IsVectorAtCompileTime;
    if (!cleanup || !cleanup->self()) return {};
    const size_t sizes[2] = {size_t(isVector ? view.size() : view.rows()), size_t(view.cols())};
    const int64_t strides[2] = {isVector ? 1 : int64_t(view.rowStride()), int64_t(view.colStride())};
    using View = ndarray<typename Plain::Scalar, numpy>;
    View array(const_cast<typename Plain::Scalar*>(view.data()), isVector ? 1 : 2, sizes, borrow(cleanup->self()), strides);
    (void)policy;
    return make_caster<View>::from_cpp(array, rv_policy::reference, cleanup);
  }
};

}
