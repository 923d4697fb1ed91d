#pragma once
#include "tendril/io/run_results.h"
#include "view/chunk_buffer.h"

#include <Eigen/Geometry>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tendril {

/// One row of the results as channels see it.
struct FilmFrame {
  std::size_t row = 0;
  State state;
  /// A contact of the row, as the list `contacts` of the results holds it.
  struct Contact {
    Vector3 position, normal, impulse;
    double gap, status;
    int first, second;
  };
  std::vector<Contact> contacts;
  /// Length of the step that led here [s], NaN if it is not known.
  double step = std::numeric_limits<double>::quiet_NaN();
};

/// Numbers of some things over the frames, and what the header says of them.
struct FilmChannel {
  enum class Layout { Pose, Dense, List };
  std::string name;
  Layout layout = Layout::Dense;
  std::size_t items = 0;
  std::vector<std::string> columns;
  /// Appends the numbers of a frame.
  std::function<void(const FilmFrame&, ChunkBuffer&)> fill;
  /// Whether the positions belong to the box of the film, and by how much the items reach beyond them.
  std::function<void(const FilmFrame&, Eigen::AlignedBox3d&)> extend{};

  std::size_t bytesPerFrame() const { return items * (layout == Layout::Pose ? 20 : 4 * columns.size()); }
};

/// Something that can be coloured by: a column of a channel.
struct FilmField {
  std::string name, label, unit;
  const char* on; ///< "bodies", "nodes", "elements", "contacts"
  std::string channel;
  std::size_t column = 0;
  std::vector<std::string> categories{};
};

/// What reaches straight from one point to another: springs, joints that keep a distance, cables and muscles that are controlled, guides.
struct FilmLink {
  std::string name;
  const char* kind; ///< "spring", "distance", "cable", "muscle", "guide"
  const Marker *first, *second;
  Vector3 firstOffset = Vector3::Zero(), secondOffset = Vector3::Zero(); ///< of the ends from their markers, in the frames of these
};
std::vector<FilmLink> filmLinks(const Scene& scene);

/// What is shown of a scene; positions are relative to `origin`.
void addPoseChannels(const RunResults& results, const Vector3& origin, std::vector<FilmChannel>& channels);
/// Forces and motion: of joints, contacts, beams, bodies.
void addValueChannels(const RunResults& results, const Vector3& origin, std::vector<FilmChannel>& channels, std::vector<FilmField>& fields);

/// Numbers over the rows, or a final array, for the charts.
struct FilmSeries {
  std::string name;
  const char* group; ///< "outputs", "energy", "solver"
  SeriesInfo info;
  bool isArray = false;
  std::vector<std::string> columns;
  ResultReader::RowMatrix values;
};
/// The outputs, then what the results say of the steps.
std::vector<FilmSeries> filmSeries(const ResultReader& reader);
void addSeriesChannels(const std::vector<FilmSeries>& series, std::vector<FilmChannel>& channels);

/// Box about a part with the given pose, unbounded shapes left out.
void extendBox(const std::vector<Shape>& shapes, const Pose& part, Eigen::AlignedBox3d& box);

/// Numbers of the parts of contacts among the bodies and obstacles, -1 for none.
struct FilmPart {
  std::string name;
  int body = -1, obstacle = -1;
};
std::vector<FilmPart> filmParts(const Scene& scene);

/// Numbers of the named markers of the model.
std::vector<const Marker*> namedMarkers(const Model& model);

}
