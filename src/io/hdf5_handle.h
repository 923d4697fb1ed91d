#pragma once
#include <hdf5.h>

#include <string>
#include <utility>

namespace tendril::hdf5 {

/// An HDF5 identifier with the function that releases it.
class Handle {
 public:
  using Release = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t identifier, Release function) : id(identifier), release(function) {}
  Handle(Handle&& other) noexcept : id(std::exchange(other.id, H5I_INVALID_HID)), release(other.release) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id, other.id);
    std::swap(release, other.release);
    return *this;
  }
  ~Handle() { close(); }

  bool valid() const { return id >= 0; }
  operator hid_t() const { return id; }
  bool close() { return !valid() || release(std::exchange(id, H5I_INVALID_HID)) >= 0; }

 private:
  hid_t id = H5I_INVALID_HID;
  Release release = nullptr;
};

/// Keeps HDF5 from printing its error stack while alive; failures are reported as exceptions instead.
class QuietErrors {
 public:
  QuietErrors() {
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, function, data); }

 private:
  H5E_auto2_t function = nullptr;
  void* data = nullptr;
};

/// The innermost message of the current HDF5 error stack.
inline std::string lastError() {
  std::string text;
  const auto keepFirst = [](unsigned, const H5E_error2_t* error, void* target) -> herr_t {
    auto& message = *static_cast<std::string*>(target);
    if (message.empty() && error->desc) message = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keepFirst, &text);
  return text.empty() ? "unknown failure" : text;
}

}
