#include "tendril/io/results.h"

#include "io/hdf5_handle.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace tendril {

namespace {

constexpr int formatVersion = 2;
constexpr hsize_t chunkBytes = 64 * 1024;
constexpr std::size_t maxBlockRows = 1024;
constexpr std::size_t blockBytes = 2 * 1024 * 1024;
/// Room for what HDF5 writes besides the rows (object headers, chunk indices), in all and per series.
constexpr std::size_t slackBytes = 64 * 1024;
constexpr std::size_t slackBytesPerSeries = 8 * 1024;

using hdf5::Handle;
using hdf5::lastError;
using hdf5::QuietErrors;

Handle textType(std::size_t length) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, std::max<std::size_t>(length, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

bool writeAttribute(hid_t object, const char* name, const std::string& text) {
  const Handle type = textType(text.size());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const std::string padded = text.empty() ? std::string(1, '\0') : text;
  return attribute.valid() && H5Awrite(attribute, type, padded.data()) >= 0;
}

std::string readAttribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  std::string text(H5Tget_size(type), '\0');
  if (H5Tis_variable_str(type) > 0 || H5Aread(attribute, type, text.data()) < 0) return {};
  text.resize(std::strlen(text.c_str()));
  return text;
}

/// Texts of any length (attributes are limited to 64 KiB), one per element.
bool writeTexts(hid_t file, const char* name, const std::vector<std::string>& texts) {
  std::size_t width = 1;
  for (const std::string& text : texts) width = std::max(width, text.size());
  std::string padded;
  for (const std::string& text : texts) padded += text + std::string(width - text.size(), '\0');
  const Handle type = textType(width);
  const hsize_t count = texts.size();
  const Handle space(count > 0 ? H5Screate_simple(1, &count, nullptr) : H5Screate(H5S_NULL), H5Sclose);
  const Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(plist, false);
  const Handle dataset(H5Dcreate2(file, name, type, space, H5P_DEFAULT, plist, H5P_DEFAULT), H5Dclose);
  return dataset.valid() && (count == 0 || H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()) >= 0);
}

std::vector<std::string> readTexts(hid_t file, const char* name) {
  if (H5Lexists(file, name, H5P_DEFAULT) <= 0) return {};
  const Handle dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
  const Handle type(H5Dget_type(dataset), H5Tclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const std::size_t width = H5Tget_size(type);
  if (count <= 0) return {};
  std::string padded(width * count, '\0');
  if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, padded.data()) < 0) return {};
  std::vector<std::string> texts;
  for (hssize_t i = 0; i < count; ++i) {
    std::string text = padded.substr(i * width, width);
    text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
    texts.push_back(std::move(text));
  }
  return texts;
}

/// The index formats of HDF5 1.10 can be read at any instant of writing (its single-writer, multiple-reader mode); without locks a run can
/// be watched while it writes.
Handle fileAccess() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_file_locking(access, false, true);
  // A reader tries again where it meets a half-written index, after pauses that double from a nanosecond; a file cut off is not waited for.
  H5Pset_metadata_read_attempts(access, 24);
  // Rows are buffered here already; HDF5 would keep another megabyte of chunks for every series.
  H5Pset_cache(access, 0, 521, 0, 0.75);
  return access;
}

/// Opens a file for writing though it carries the mark of another writer, which was killed.
Handle openMarked(const std::string& path) {
  const Handle access = fileAccess();
  const hbool_t clear = true;
  H5Pset(access, "clear_status_flags", &clear);
  return Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, access), H5Fclose);
}

Handle makeGroup(hid_t file, const char* name) {
  const Handle plist(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(plist, false);
  return Handle(H5Gcreate2(file, name, H5P_DEFAULT, plist, H5P_DEFAULT), H5Gclose);
}

/// Rows and columns of a dataset; a one-dimensional one has one column, signalled by rank 1.
struct Shape {
  int rank = 0;
  hsize_t rows = 0;
  hsize_t columns = 1;
};

Shape shapeOf(hid_t dataset) {
  const Handle space(H5Dget_space(dataset), H5Sclose);
  Shape shape;
  shape.rank = H5Sget_simple_extent_ndims(space);
  hsize_t sizes[2] = {0, 1};
  if (shape.rank == 1 || shape.rank == 2) H5Sget_simple_extent_dims(space, sizes, nullptr);
  shape.rows = sizes[0];
  shape.columns = sizes[1];
  return shape;
}

}

// ---- ResultWriter ----

struct ResultWriter::Impl {
  struct Column {
    std::string path;
    hsize_t columns = 1;
    hsize_t chunkRows = 1;
    int rank = 2;
    Handle dataset;
    std::vector<double> buffer;

    std::size_t rowBytes() const { return columns * sizeof(double); }
  };

  /// Lines that are not yet written are kept whole, and cut into columns when they are.
  struct Lines {
    Series end = -1;
    std::vector<Column> columns;
    std::size_t width = 0; ///< numbers of a line
    std::size_t written = 0;
    std::vector<double> pending;

    std::size_t count() const { return pending.size() / width; }
  };

  std::filesystem::path path;
  Handle file;
  Handle rowCount; ///< the dataset `rows`: one number at a fixed place, written in one piece
  std::chrono::duration<double> interval{};
  std::chrono::steady_clock::time_point lastFlush = std::chrono::steady_clock::now();
  std::vector<Column> series; ///< the time first
  std::vector<Lines> lists;
  std::size_t firstRow = 0;
  std::size_t written = 0;
  std::size_t buffered = 0;
  std::size_t capacity = 0; ///< rows of a block; 0 until the first step fixes it
  bool resumed = false;
  bool streaming = false; ///< in the mode in which no kill can damage the file, and no series can be added
  bool broken = false;

  [[noreturn]] void fail(const std::string& cause) {
    broken = true;
    throw MachineFailure("cannot write results to " + path.string() + ": " + cause + "; the first " + std::to_string(written) + " of " +
                         std::to_string(written + buffered) + " rows are kept; free space or choose another folder, then resume");
  }
  void require(bool succeeded) {
    if (!succeeded) fail(lastError());
  }

  void create(const RunMetadata& metadata) {
    // HDF5 hides the system's reason when it cannot create a file, so ask for it first.
    const int probe = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (probe < 0) fail(std::strerror(errno));
    ::close(probe);
    const Handle plist(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_obj_track_times(plist, false);
    file = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, plist, fileAccess()), H5Fclose);
    require(file.valid());
    std::size_t texts = metadata.scene.size();
    for (const std::string& argument : metadata.arguments) texts += argument.size() * metadata.arguments.size();
    reserve(texts);
    require(writeAttribute(file, "format", "tendril results " + std::to_string(formatVersion)) &&
            writeAttribute(file, "version", metadata.version));
    require(writeTexts(file, "scene", {metadata.scene}) && writeTexts(file, "arguments", metadata.arguments));
    require(makeGroup(file, "states").valid() && makeGroup(file, "outputs").valid() && makeGroup(file, "steps").valid());
    const Handle scalar(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle place(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(place, false);
    H5Pset_alloc_time(place, H5D_ALLOC_TIME_EARLY);
    rowCount = Handle(H5Dcreate2(file, "rows", H5T_STD_U64LE, scalar, H5P_DEFAULT, place, H5P_DEFAULT), H5Dclose);
    require(rowCount.valid());
    commitRows();
    addColumn("time", 1, 1, {"s", "Time of the step.", ""});
  }

  /// Brings all series to the disk, then the number of rows that count: a kill between the two leaves the earlier number and its rows.
  void commitRows() {
    require(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
    const auto count = static_cast<std::uint64_t>(written + buffered);
    require(H5Dwrite(rowCount, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &count) >= 0);
    require(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  }

  void reopen(std::size_t rows) {
    // That no other writer is at work, the lock of the folder sees to.
    file = openMarked(path.string());
    if (!file.valid())
      throw InputError({path.string()}, "results", "cannot continue this file: " + lastError(),
                       "check that it exists and is whole, or run without --resume");
    resumed = true;
    firstRow = written = rows;
    rowCount = Handle(H5Dopen2(file, "rows", H5P_DEFAULT), H5Dclose);
    if (!rowCount.valid()) throw InputError({path.string()}, "results", "these are not results of Tendril", "run without --resume");
    addColumn("time", 1, 1, {"s", "Time of the step.", ""});
  }

  /// Takes the room for `bytes` more and the slack, so that HDF5 never meets a full disk half-way.
  void reserve(std::size_t bytes) {
    haddr_t end = 0;
    void* descriptor = nullptr;
    require(H5Fget_eoa(file, &end) >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) >= 0);
    const std::size_t slack = slackBytes + slackBytesPerSeries * series.size();
    const int status = ::posix_fallocate(*static_cast<int*>(descriptor), 0, static_cast<off_t>(end + bytes + slack));
    // File systems that cannot reserve say so; then HDF5's own failure is all the warning there is.
    if (status != 0 && status != EINVAL && status != EOPNOTSUPP) fail(std::strerror(status));
  }

  Series addColumn(const std::string& name, int columns, int rank, const SeriesInfo& info) {
    series.push_back(makeColumn(name, columns, rank, info, firstRow));
    return static_cast<Series>(series.size()) - 1;
  }

  /// A new dataset or, in a file that is continued, the old one cut to its first rows.
  Column makeColumn(const std::string& name, int columns, int rank, const SeriesInfo& info, std::size_t rows) {
    if (capacity > 0) throw std::logic_error("the series '" + name + "' was added after the first step");
    if (columns < 0) throw std::logic_error("the series '" + name + "' has a negative number of columns");
    Column column;
    column.path = name;
    column.columns = static_cast<hsize_t>(columns);
    column.rank = rank;
    const hsize_t rowBytes = std::max<hsize_t>(column.rowBytes(), sizeof(double));
    column.chunkRows = std::clamp<hsize_t>(chunkBytes / rowBytes, 1, maxBlockRows);
    if (resumed)
      openColumn(column, rows);
    else
      createColumn(column, info);
    require(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
    return column;
  }

  List addList(const std::string& name, const std::vector<ListColumn>& columns) {
    if (!resumed) require(makeGroup(file, name.c_str()).valid());
    Lines list;
    list.end = addColumn(name + "/end", 1, 1, {"1", "Number of lines up to and with the step.", ""});
    if (resumed && firstRow > 0) list.written = std::size_t(lastOf(series.back()));
    for (const ListColumn& column : columns) {
      list.columns.push_back(makeColumn(name + "/" + column.name, column.columns, 2, column.info, list.written));
      list.width += std::size_t(column.columns);
    }
    lists.push_back(std::move(list));
    return static_cast<List>(lists.size()) - 1;
  }

  /// The last row of a column of rank one in a file that is continued.
  double lastOf(const Column& column) {
    double value = 0;
    const hsize_t first = firstRow - 1, count = 1;
    const Handle space(H5Dget_space(column.dataset), H5Sclose);
    const Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
    require(H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &count, nullptr) >= 0);
    require(H5Dread(column.dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    return value;
  }

  bool listsAreLong() const {
    std::size_t bytes = 0;
    for (const Lines& list : lists) bytes += list.pending.size() * sizeof(double);
    return bytes > blockBytes;
  }

  void createColumn(Column& column, const SeriesInfo& info) {
    if (H5Lexists(file, column.path.c_str(), H5P_DEFAULT) > 0) throw std::logic_error("the series '" + column.path + "' was added twice");
    reserve(0);
    const hsize_t sizes[2] = {0, column.columns};
    // A series without columns (no multipliers in this model) needs an extendable width to be chunked at all.
    const hsize_t limits[2] = {H5S_UNLIMITED, column.columns > 0 ? column.columns : H5S_UNLIMITED};
    const hsize_t chunk[2] = {column.chunkRows, std::clamp<hsize_t>(column.columns, 1, 1 << 17)};
    const Handle space(H5Screate_simple(column.rank, sizes, limits), H5Sclose);
    const Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(plist, column.rank, chunk);
    H5Pset_obj_track_times(plist, false);
    column.dataset = Handle(H5Dcreate2(file, column.path.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT), H5Dclose);
    require(column.dataset.valid());
    require(writeAttribute(column.dataset, "unit", info.unit) && writeAttribute(column.dataset, "description", info.description) &&
            writeAttribute(column.dataset, "frame", info.frame));
  }

  void openColumn(Column& column, std::size_t rows) {
    column.dataset = Handle(H5Dopen2(file, column.path.c_str(), H5P_DEFAULT), H5Dclose);
    const Shape shape = column.dataset.valid() ? shapeOf(column.dataset) : Shape{};
    if (shape.rank != column.rank || shape.columns != column.columns)
      throw InputError({path.string()}, column.path,
                       "the file to be continued does not hold this series with " + std::to_string(column.columns) + " columns",
                       "resume with the scene of the first run, or run without --resume");
    if (shape.rows < rows)
      throw InputError({path.string()}, column.path,
                       "the file holds only " + std::to_string(shape.rows) + " rows, the checkpoint was made after " + std::to_string(rows),
                       "resume from an older checkpoint, or run without --resume");
    extend(column, rows);
  }

  void extend(Column& column, std::size_t rows) {
    const hsize_t sizes[2] = {rows, column.columns};
    require(H5Dset_extent(column.dataset, sizes) >= 0);
  }

  /// Fixes the size of a block, after which nothing is allocated per step.
  void start() {
    std::size_t rowBytes = 0;
    for (const Column& column : series) rowBytes += column.rowBytes();
    capacity = std::clamp<std::size_t>(blockBytes / rowBytes, 1, maxBlockRows);
    for (Column& column : series) column.buffer.assign(capacity * column.columns, std::numeric_limits<double>::quiet_NaN());
  }

  void startStreaming() {
    if (streaming) return;
    require(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 && H5Fstart_swmr_write(file) >= 0);
    streaming = true;
  }

  /// Leaves the streaming mode, which only closing the file does.
  void stopStreaming() {
    if (!streaming) return;
    closeDatasets();
    require(file.close());
    file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDWR, fileAccess()), H5Fclose);
    require(file.valid());
    streaming = false;
    const auto open = [&](const std::string& name) {
      Handle dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
      require(dataset.valid());
      return dataset;
    };
    rowCount = open("rows");
    for (Column& column : series) column.dataset = open(column.path);
    for (Lines& list : lists) {
      for (Column& column : list.columns) column.dataset = open(column.path);
    }
  }

  void closeDatasets() {
    for (Column& column : series) column.dataset.close();
    for (Lines& list : lists) {
      for (Column& column : list.columns) column.dataset.close();
    }
    rowCount.close();
  }

  void writeBlock() {
    if (buffered == 0) return;
    std::size_t bytes = 0;
    for (const Column& column : series)
      bytes += (buffered / column.chunkRows + 2) * column.chunkRows * column.rowBytes() + sizeof(double) * maxBlockRows;
    for (const Lines& list : lists) {
      for (const Column& column : list.columns) bytes += (list.count() / column.chunkRows + 2) * column.chunkRows * column.rowBytes();
    }
    reserve(bytes);
    startStreaming();
    const std::size_t rows = written + buffered;
    for (Lines& list : lists) writeLines(list);
    for (Column& column : series) writeRows(column, written, buffered);
    commitRows();
    written = rows;
    buffered = 0;
    for (Column& column : series) std::fill(column.buffer.begin(), column.buffer.end(), std::numeric_limits<double>::quiet_NaN());
  }

  void writeLines(Lines& list) {
    const std::size_t count = list.count();
    std::size_t from = 0;
    for (Column& column : list.columns) {
      column.buffer.resize(count * column.columns);
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(list.pending.begin() + std::ptrdiff_t(i * list.width + from), column.columns,
                    column.buffer.begin() + std::ptrdiff_t(i * column.columns));
      }
      if (count > 0) writeRows(column, list.written, count);
      from += column.columns;
    }
    list.written += count;
    list.pending.clear();
  }

  /// The first rows of the buffer of a column, behind those that are there.
  void writeRows(Column& column, std::size_t firstNew, std::size_t rows) {
    extend(column, firstNew + rows);
    if (column.columns == 0) return;
    const hsize_t first[2] = {firstNew, 0};
    const hsize_t count[2] = {rows, column.columns};
    const Handle target(H5Dget_space(column.dataset), H5Sclose);
    const Handle source(H5Screate_simple(column.rank, count, nullptr), H5Sclose);
    require(H5Sselect_hyperslab(target, H5S_SELECT_SET, first, nullptr, count, nullptr) >= 0);
    require(H5Dwrite(column.dataset, H5T_NATIVE_DOUBLE, source, target, H5P_DEFAULT, column.buffer.data()) >= 0);
  }

  void flush() {
    if (broken) fail("an earlier block could not be written");
    const QuietErrors quiet;
    writeBlock();
    lastFlush = std::chrono::steady_clock::now();
  }

  void close() {
    if (!file.valid()) return;
    const QuietErrors quiet;
    if (!broken) flush();
    release();
  }

  /// Gives back the reserved room and closes.
  void release() {
    closeDatasets();
    haddr_t end = 0;
    void* descriptor = nullptr;
    const bool flushed = H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
    if (H5Fget_eoa(file, &end) >= 0 && H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) >= 0)
      if (::ftruncate(*static_cast<int*>(descriptor), static_cast<off_t>(end)) != 0 && !broken) fail(std::strerror(errno));
    const bool closed = file.close();
    if (!broken) require(flushed && closed);
  }
};

ResultWriter::ResultWriter(std::unique_ptr<Impl> implementation) : impl(std::move(implementation)) {}
ResultWriter::ResultWriter(ResultWriter&&) noexcept = default;
ResultWriter& ResultWriter::operator=(ResultWriter&&) noexcept = default;

ResultWriter::ResultWriter(const std::filesystem::path& file, const RunMetadata& metadata, std::chrono::duration<double> flushInterval)
    : impl(std::make_unique<Impl>()) {
  const QuietErrors quiet;
  impl->path = file;
  impl->interval = flushInterval;
  impl->create(metadata);
}

ResultWriter ResultWriter::resume(const std::filesystem::path& file, std::size_t rows, std::chrono::duration<double> flushInterval) {
  const QuietErrors quiet;
  auto impl = std::make_unique<Impl>();
  impl->path = file;
  impl->interval = flushInterval;
  impl->reopen(rows);
  return ResultWriter(std::move(impl));
}

ResultWriter::~ResultWriter() {
  if (!impl) return;
  try {
    impl->close();
  } catch (const Error&) {
    // Whoever wants to know of it calls close().
    const QuietErrors quiet;
    impl->release();
  }
}

ResultWriter::Series ResultWriter::addState(const std::string& name, int columns, const SeriesInfo& info) {
  const QuietErrors quiet;
  return impl->addColumn("states/" + name, columns, 2, info);
}

ResultWriter::Series ResultWriter::addOutput(const std::string& name, int columns, const SeriesInfo& info) {
  const QuietErrors quiet;
  return impl->addColumn("outputs/" + name, columns, 2, info);
}
ResultWriter::Series ResultWriter::addStep(const std::string& name, const SeriesInfo& info) {
  const QuietErrors quiet;
  return impl->addColumn("steps/" + name, 1, 2, info);
}

ResultWriter::List ResultWriter::addList(const std::string& name, const std::vector<ListColumn>& columns) {
  const QuietErrors quiet;
  return impl->addList(name, columns);
}

void ResultWriter::append(List index, std::span<const double> line) {
  Impl::Lines& list = impl->lists.at(index);
  if (line.size() != list.width) throw std::logic_error("a line of a list has " + std::to_string(list.width) + " numbers");
  list.pending.insert(list.pending.end(), line.begin(), line.end());
}

void ResultWriter::set(Series index, std::span<const double> row) {
  if (impl->capacity == 0) impl->start();
  Impl::Column& column = impl->series.at(index);
  if (row.size() != column.columns)
    throw std::logic_error("a row of '" + column.path + "' has " + std::to_string(column.columns) + " columns, not " +
                           std::to_string(row.size()));
  std::copy(row.begin(), row.end(), column.buffer.begin() + static_cast<std::ptrdiff_t>(impl->buffered * column.columns));
}

void ResultWriter::endStep(double time) {
  set(0, time);
  for (const Impl::Lines& list : impl->lists) set(list.end, double(list.written + list.count()));
  ++impl->buffered;
  if (impl->buffered == impl->capacity || impl->listsAreLong() || std::chrono::steady_clock::now() - impl->lastFlush > impl->interval)
    impl->flush();
}

void ResultWriter::writeArray(const std::string& name, std::span<const double> values, const SeriesInfo& info) {
  const QuietErrors quiet;
  impl->flush();
  impl->stopStreaming();
  const std::string path = "outputs/" + name;
  impl->reserve(values.size_bytes());
  if (H5Lexists(impl->file, path.c_str(), H5P_DEFAULT) > 0) impl->require(H5Ldelete(impl->file, path.c_str(), H5P_DEFAULT) >= 0);
  const hsize_t count = values.size();
  const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
  const Handle plist(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(plist, false);
  const Handle dataset(H5Dcreate2(impl->file, path.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, plist, H5P_DEFAULT), H5Dclose);
  impl->require(dataset.valid());
  if (count > 0) impl->require(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0);
  impl->require(writeAttribute(dataset, "unit", info.unit) && writeAttribute(dataset, "description", info.description) &&
                writeAttribute(dataset, "frame", info.frame));
  impl->require(H5Fflush(impl->file, H5F_SCOPE_LOCAL) >= 0);
}

void ResultWriter::flush() { impl->flush(); }
void ResultWriter::close() { impl->close(); }
std::size_t ResultWriter::rows() const { return impl->written + impl->buffered; }
std::size_t ResultWriter::rowsOnDisk() const { return impl->written; }

// ---- ResultReader ----

struct ResultReader::Impl {
  std::string path;
  Handle file;
  RunMetadata metadata;

  [[noreturn]] void refuse(const std::string& key, const std::string& message, const std::string& remedy) const {
    throw InputError({path}, key, message, remedy);
  }

  void open() {
    std::error_code status;
    if (!std::filesystem::exists(path, status)) refuse("results", "there is no such file", "name the folder that a run has written");
    file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, fileAccess()), H5Fclose);
    // Of a run that is writing, or was killed; or that has not begun to write its rows.
    if (!file.valid()) file = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, fileAccess()), H5Fclose);
    if (!file.valid() && H5Fis_hdf5(path.c_str()) > 0) openCopy();
    if (!file.valid()) refuse("results", "this is not an HDF5 file, or it is damaged (" + lastError() + ")", "run the scene again");
    const std::string format = readAttribute(file, "format");
    if (format != "tendril results " + std::to_string(formatVersion))
      refuse("results", format.empty() ? "these are not results of Tendril" : "the format is '" + format + "'",
             "read it with the version that wrote it");
    metadata.version = readAttribute(file, "version");
    const std::vector<std::string> scene = readTexts(file, "scene");
    if (!scene.empty()) metadata.scene = scene.front();
    metadata.arguments = readTexts(file, "arguments");
  }

  /// Opens a private copy of a file that no reader may open: the file itself may belong to a run that goes on.
  void openCopy() {
    std::string copy = (std::filesystem::temp_directory_path() / "tendril-results-XXXXXX").string();
    const int descriptor = mkstemp(copy.data());
    if (descriptor < 0) return;
    ::close(descriptor);
    std::error_code status;
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing, status);
    if (!status) file = openMarked(copy);
    std::filesystem::remove(copy, status); // it lives as long as it is open
  }

  std::vector<std::string> names(const char* group) const {
    std::vector<std::string> list;
    if (H5Lexists(file, group, H5P_DEFAULT) <= 0) return list;
    const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* target) -> herr_t {
      static_cast<std::vector<std::string>*>(target)->emplace_back(name);
      return 0;
    };
    H5Literate_by_name(file, group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &list, H5P_DEFAULT);
    return list;
  }

  Handle dataset(const std::string& name) const {
    const QuietErrors quiet;
    Handle found(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!found.valid()) refuse(name, "the results hold no such series", "list the names with states() and outputs()");
    return found;
  }

  /// Rows [first, first + count) of a series.
  RowMatrix read(const std::string& name, hsize_t first, hsize_t count) const {
    RowMatrix rows;
    read(name, first, count, [&](hsize_t height, hsize_t width) {
      rows.resize(Eigen::Index(height), Eigen::Index(width));
      return rows.data();
    });
    return rows;
  }

  /// The same, to where `placeFor(rows, columns)` says, row after row.
  template <class PlaceFor> void read(const std::string& name, hsize_t first, hsize_t count, PlaceFor placeFor) const {
    const QuietErrors quiet;
    const Handle data = dataset(name);
    const Shape shape = shapeOf(data);
    if (first + count > shape.rows)
      refuse(name, "there is no row " + std::to_string(first + count - 1), "there are " + std::to_string(shape.rows) + " rows");
    double* const place = placeFor(count, shape.columns);
    if (count * shape.columns == 0) return;
    const hsize_t from[2] = {first, 0};
    const hsize_t sizes[2] = {count, shape.columns};
    const Handle space(H5Dget_space(data), H5Sclose);
    const Handle memory(H5Screate_simple(shape.rank, sizes, nullptr), H5Sclose);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, nullptr, sizes, nullptr);
    if (H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, place) < 0)
      refuse(name, "the series cannot be read (" + lastError() + ")", "the file is damaged; run the scene again");
  }

  /// Rows that the writer declared complete and that every series has.
  std::size_t rows() const {
    std::uint64_t complete = 0;
    const Handle count = dataset("rows");
    if (H5Dread(count, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &complete) < 0)
      refuse("rows", "the number of rows cannot be read", "run the scene again");
    hsize_t least = std::min<hsize_t>(complete, shapeOf(dataset("time")).rows);
    for (const char* group : {"states", "outputs", "steps"})
      for (const std::string& name : names(group)) {
        const Shape shape = shapeOf(dataset(std::string(group) + "/" + name));
        if (shape.rank == 2) least = std::min(least, shape.rows);
      }
    return least;
  }

  RowMatrix readAll(const std::string& name) const {
    const Shape shape = shapeOf(dataset(name));
    return read(name, 0, shape.rank == 2 ? rows() : shape.rows);
  }

  SeriesInfo info(const std::string& name) const {
    const Handle data = dataset(name);
    return {readAttribute(data, "unit"), readAttribute(data, "description"), readAttribute(data, "frame")};
  }
};

ResultReader::ResultReader(const std::filesystem::path& file) : impl(std::make_unique<Impl>()) {
  const QuietErrors quiet;
  impl->path = file.string();
  impl->open();
}
ResultReader::ResultReader(ResultReader&&) noexcept = default;
ResultReader& ResultReader::operator=(ResultReader&&) noexcept = default;
ResultReader::~ResultReader() = default;

const RunMetadata& ResultReader::metadata() const { return impl->metadata; }
std::vector<std::string> ResultReader::states() const { return impl->names("states"); }
std::vector<std::string> ResultReader::outputs() const { return impl->names("outputs"); }
std::vector<std::string> ResultReader::steps() const { return impl->names("steps"); }
std::size_t ResultReader::rows() const { return impl->rows(); }
Eigen::VectorXd ResultReader::time() const { return impl->read("time", 0, rows()).col(0); }
ResultReader::RowMatrix ResultReader::state(const std::string& name) const { return impl->readAll("states/" + name); }
ResultReader::RowMatrix ResultReader::output(const std::string& name) const { return impl->readAll("outputs/" + name); }
ResultReader::RowMatrix ResultReader::step(const std::string& name) const { return impl->readAll("steps/" + name); }
Eigen::VectorXd ResultReader::stateRow(const std::string& name, std::size_t row) const {
  Eigen::VectorXd values;
  readStateRow(name, row, values);
  return values;
}
void ResultReader::readStateRow(const std::string& name, std::size_t row, Eigen::VectorXd& values) const {
  impl->read("states/" + name, row, 1, [&](hsize_t, hsize_t width) {
    values.resize(Eigen::Index(width));
    return values.data();
  });
}
SeriesInfo ResultReader::stateInfo(const std::string& name) const { return impl->info("states/" + name); }
SeriesInfo ResultReader::outputInfo(const std::string& name) const { return impl->info("outputs/" + name); }
SeriesInfo ResultReader::stepInfo(const std::string& name) const { return impl->info("steps/" + name); }
bool ResultReader::hasList(const std::string& name) const { return H5Lexists(impl->file, name.c_str(), H5P_DEFAULT) > 0; }
ResultReader::RowMatrix ResultReader::list(const std::string& name, const std::string& column, std::size_t row) const {
  const auto end = [&](std::size_t r) { return hsize_t(impl->read(name + "/end", r, 1)(0, 0)); };
  const hsize_t first = row > 0 ? end(row - 1) : 0;
  return impl->read(name + "/" + column, first, end(row) - first);
}
bool ResultReader::isSeries(const std::string& output) const { return shapeOf(impl->dataset("outputs/" + output)).rank == 2; }

}
