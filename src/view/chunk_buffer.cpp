#include "view/chunk_buffer.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <zlib.h>

#include <bit>
#include <cmath>

namespace tendril {

namespace {

static_assert(std::endian::native == std::endian::little, "films are little-endian; another machine needs its bytes turned");

/// All first bytes of the numbers, then all second bytes, and so on: neighbours in space and time share their leading bytes.
template <class T> void appendPlanes(std::string& bytes, const std::vector<T>& numbers) {
  const char* from = reinterpret_cast<const char*>(numbers.data());
  std::size_t at = bytes.size();
  bytes.resize(at + numbers.size() * sizeof(T));
  for (std::size_t plane = 0; plane < sizeof(T); ++plane) {
    for (std::size_t i = 0; i < numbers.size(); ++i) bytes[at++] = from[i * sizeof(T) + plane];
  }
}

}

void ChunkBuffer::addPose(const Vector3& position, const Matrix3& rotation) {
  for (const double component : position) positions_.push_back(float(component));
  const Eigen::Quaterniond q(rotation);
  // One of the two quaternions of a rotation, so that a resting body has the same bytes in all frames.
  const double scale = (q.w() < 0 ? -32767 : 32767) / q.norm();
  for (const double component : {q.w(), q.x(), q.y(), q.z()}) rotations_.push_back(std::int16_t(std::lround(scale * component)));
}

void ChunkBuffer::clear() { positions_.clear(), values_.clear(), rotations_.clear(), counts_.clear(); }

std::string ChunkBuffer::stored(ChunkPacking packing) {
  plain_.clear();
  appendPlanes(plain_, positions_);
  appendPlanes(plain_, rotations_);
  appendPlanes(plain_, counts_);
  appendPlanes(plain_, values_);
  uLongf size = compressBound(plain_.size());
  std::string deflated(size, '\0');
  const int level = packing == ChunkPacking::Quick ? 0 : 5; // higher ones gain a percent and take twice the time
  const int status =
      compress2(reinterpret_cast<Bytef*>(deflated.data()), &size, reinterpret_cast<const Bytef*>(plain_.data()), plain_.size(), level);
  if (status != Z_OK) throw MachineFailure("out of memory while a film was compressed; use a machine with more memory");
  deflated.resize(size);
  return deflated;
}

}
