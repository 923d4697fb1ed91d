#include "tendril/view/film.h"
#include "tendril/control/optimal_control.h"
#include "tendril/model/error.h"
#include "view/film_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

namespace tendril {

namespace {

using Json = nlohmann::json;

constexpr int formatNumber = 1;
/// Plain bytes of a chunk of the largest channel, and bounds of its number of frames.
constexpr std::size_t chunkBytes = 4 << 20;
constexpr std::size_t fewestFrames = 4, mostFrames = 64;
/// Frames that are looked at for ranges when no chunk of a channel was made.
constexpr std::size_t sampledFrames = 9;

Json toJson(const Vector3& x) { return {x[0], x[1], x[2]}; }

/// Row of frame i of n among `rows` rows: evenly, the first and the last always.
std::size_t rowOf(std::size_t i, std::size_t n, std::size_t rows) {
  return n < 2 ? 0 : std::size_t(std::llround(double(i) * double(rows - 1) / double(n - 1)));
}

}

struct Film::Impl {
  struct Range {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    void include(float value) {
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    }
  };
  /// What was seen of a channel.
  struct Seen {
    std::vector<char> chunks;
    std::size_t bytes = 0;
    std::vector<Range> columns;
    Eigen::AlignedBox3d box;
    bool isWhole() const { return std::find(chunks.begin(), chunks.end(), 0) == chunks.end(); }
    bool isNew() const { return std::find(chunks.begin(), chunks.end(), 1) == chunks.end(); }
  };

  Impl(const std::filesystem::path& folder, std::size_t maxFrames);

  std::size_t chunks() const { return (rows.size() + framesPerChunk - 1) / framesPerChunk; }
  void readState(std::size_t frame, State& state) const;
  void read(std::size_t number, FilmFrame& frame) const;
  void readContacts(FilmFrame& frame) const;
  std::span<const FilmFrame> framesOf(std::size_t chunk);
  std::string encode(std::size_t channel, std::size_t chunk, ChunkPacking packing);
  void noteColumns(std::size_t channel);
  void sample();
  void placeOrigin(const State& state);
  bool isPlanar() const;
  Json fieldsJson() const;
  Json channelsJson() const;
  std::size_t rowAt(double time) const;
  std::size_t frameOfRow(std::size_t row) const;
  void mark(double at, std::size_t row, const std::string& label, Json& header) const;
  std::vector<const FilmSeries*> seriesOf(std::string_view measure) const;
  void markStability(Json& header) const;
  void markEvents(Json& header) const;
  void markPhases(Json& header) const;
  void markBranches(Json& header) const;
  std::string header();

  RunResults results;
  std::vector<FilmSeries> series;
  Eigen::VectorXd stepSizes;     ///< of the steps that led to the rows of the results; empty if they are not known
  std::vector<std::size_t> rows; ///< of the results, one a frame
  std::size_t framesPerChunk = 1;
  Vector3 origin = Vector3::Zero();
  double extent = 1;
  std::vector<FilmChannel> channels;
  std::vector<FilmField> fields;
  std::vector<Seen> seen;
  int parts = 0;
  // Kept from chunk to chunk for their memory: of large models it takes longer to get some from the system than to fill it.
  std::optional<std::size_t> loaded; ///< chunk whose frames are in memory
  std::vector<FilmFrame> frames;
  ChunkBuffer buffer;
};

Film::Impl::Impl(const std::filesystem::path& folder, std::size_t maxFrames) : results(folder), series(filmSeries(results.reader())) {
  const std::vector<std::string> steps = results.reader().steps();
  if (std::find(steps.begin(), steps.end(), "step_size") != steps.end()) stepSizes = results.reader().step("step_size").col(0);
  const std::size_t total = std::max<std::size_t>(results.rows(), 1), count = std::min(total, std::max<std::size_t>(maxFrames, 2));
  for (std::size_t i = 0; i < count; ++i) rows.push_back(rowOf(i, count, total));
  parts = int(filmParts(results.scene()).size());
  placeOrigin(results.scene().mechanism().model->initialState());
  addPoseChannels(results, origin, channels);
  addValueChannels(results, origin, channels, fields);
  addSeriesChannels(series, channels);
  std::size_t most = 1;
  for (const FilmChannel& channel : channels) most = std::max(most, channel.bytesPerFrame());
  framesPerChunk = std::clamp(chunkBytes / most, fewestFrames, mostFrames);
  for (const FilmChannel& channel : channels)
    seen.push_back({std::vector<char>(chunks(), 0), 0, std::vector<Range>(channel.columns.size()), Eigen::AlignedBox3d()});
}

/// Far from the inertial origin, single precision needs positions relative to a point near by.
void Film::Impl::placeOrigin(const State& state) {
  const Scene& scene = results.scene();
  Eigen::AlignedBox3d moving, fixed;
  FilmFrame frame;
  frame.state = state;
  std::vector<FilmChannel> poses;
  addPoseChannels(results, Vector3::Zero(), poses);
  for (const FilmChannel& channel : poses) channel.extend(frame, channel.name == "obstacles" ? fixed : moving);
  const Eigen::AlignedBox3d& box = moving.isEmpty() ? fixed : moving;
  extent = box.isEmpty() ? 0 : box.sizes().norm();
  if (!(extent > 0)) extent = scene.mechanism().model->characteristicLength();
  if (!box.isEmpty() && box.center().norm() > 10 * extent) origin = box.center();
}

// ---- frames ----------------------------------------------------------------------------------------------------------------------------

/// Results without rows have one frame, the initial state.
void Film::Impl::readState(std::size_t number, State& state) const {
  if (results.rows() > 0) return results.readState(rows[number], state);
  state = results.scene().mechanism().model->initialState();
  state.lambda = VectorX::Zero(results.scene().mechanism().model->nc());
}

void Film::Impl::read(std::size_t number, FilmFrame& frame) const {
  frame.row = rows[number];
  readState(number, frame.state);
  frame.contacts.clear();
  frame.step = std::numeric_limits<double>::quiet_NaN();
  if (results.rows() == 0) return;
  if (Eigen::Index(frame.row) < stepSizes.size()) frame.step = stepSizes[Eigen::Index(frame.row)];
  if (results.reader().hasList("contacts")) readContacts(frame);
}

void Film::Impl::readContacts(FilmFrame& frame) const {
  const auto column = [&](const char* name) { return results.reader().list("contacts", name, frame.row); };
  const auto position = column("position"), normal = column("normal"), impulse = column("impulse"), gap = column("gap"),
             status = column("status"), pair = column("parts");
  for (Eigen::Index i = 0; i < position.rows(); ++i) {
    const int first = int(pair(i, 0)), second = int(pair(i, 1));
    if (first < 0 || second < 0 || first >= parts || second >= parts)
      throw InputError({(results.folder() / "results.h5").string()}, "contacts/parts",
                       fmt::format("row {} names a part that the scene does not have", frame.row), "run the scene again");
    frame.contacts.push_back({position.row(i), normal.row(i), impulse.row(i), gap(i, 0), status(i, 0), first, second});
  }
}

std::span<const FilmFrame> Film::Impl::framesOf(std::size_t chunk) {
  const std::size_t first = chunk * framesPerChunk, count = std::min(framesPerChunk, rows.size() - first);
  if (loaded != chunk) {
    loaded.reset();
    frames.resize(std::max(frames.size(), count));
    for (std::size_t i = 0; i < count; ++i) read(first + i, frames[i]);
    loaded = chunk;
  }
  return {frames.data(), count};
}

std::string Film::Impl::encode(std::size_t channel, std::size_t chunk, ChunkPacking packing) {
  buffer.clear();
  for (const FilmFrame& frame : framesOf(chunk)) {
    channels[channel].fill(frame, buffer);
    if (channels[channel].extend) channels[channel].extend(frame, seen[channel].box);
  }
  noteColumns(channel);
  std::string bytes = buffer.stored(packing);
  if (!seen[channel].chunks[chunk]) seen[channel].bytes += bytes.size();
  seen[channel].chunks[chunk] = 1;
  return bytes;
}

/// Takes the ranges of what the buffer holds.
void Film::Impl::noteColumns(std::size_t channel) {
  std::vector<Range>& ranges = seen[channel].columns;
  const std::vector<float>& values = buffer.values();
  for (std::size_t i = 0; i < values.size(); i += ranges.size()) {
    for (std::size_t k = 0; k < ranges.size(); ++k) ranges[k].include(values[i + k]);
  }
}

/// Looks at some frames of the channels of which nothing was made yet.
void Film::Impl::sample() {
  std::vector<std::size_t> unseen;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    if (seen[c].isNew() && !channels[c].name.starts_with("series/")) unseen.push_back(c);
  }
  const std::size_t count = std::min(sampledFrames, rows.size());
  FilmFrame frame;
  for (std::size_t i = 0; i < count && !unseen.empty(); ++i) {
    read(rowOf(i, count, rows.size()), frame);
    for (const std::size_t c : unseen) {
      buffer.clear();
      channels[c].fill(frame, buffer);
      noteColumns(c);
      if (channels[c].extend) channels[c].extend(frame, seen[c].box);
    }
  }
}

// ---- header ----------------------------------------------------------------------------------------------------------------------------

Json Film::Impl::fieldsJson() const {
  Json list = Json::array();
  for (const FilmField& field : fields) {
    const std::size_t c = std::size_t(
        std::find_if(channels.begin(), channels.end(), [&](const FilmChannel& channel) { return channel.name == field.channel; }) -
        channels.begin());
    const Range& range = seen[c].columns[field.column];
    const bool isKnown = range.low <= range.high;
    Json entry{{"name", field.name}, {"label", field.label}, {"unit", field.unit}, {"on", field.on}, {"channel", field.channel}};
    entry["column"] = field.column;
    entry["range"] = {isKnown ? range.low : 0, isKnown ? range.high : 0};
    entry["isSampled"] = !seen[c].isWhole() && rows.size() > sampledFrames;
    if (!field.categories.empty()) entry["categories"] = field.categories;
    list.push_back(std::move(entry));
  }
  return list;
}

Json Film::Impl::channelsJson() const {
  constexpr std::array<const char*, 3> layouts{"pose", "dense", "list"};
  Json map = Json::object();
  for (std::size_t c = 0; c < channels.size(); ++c) {
    const FilmChannel& channel = channels[c];
    map[channel.name] = {
        {"layout", layouts[std::size_t(channel.layout)]}, {"items", channel.items}, {"columns", channel.columns}, {"bytes", seen[c].bytes}};
  }
  return map;
}

/// Everything that moves stays in a plane z = const about which nothing turns out of it, and gravity lies in it.
bool Film::Impl::isPlanar() const {
  const Model& model = *results.scene().mechanism().model;
  if (std::abs(model.gravity().g[2]) > 0) return false;
  const std::size_t count = std::min(sampledFrames, rows.size());
  std::optional<double> height;
  State state;
  for (std::size_t i = 0; i < count; ++i) {
    readState(rowOf(i, count, rows.size()), state);
    for (const Block& block : model.blocks()) {
      if (block.kind != Block::Kind::Pose) continue;
      const Pose pose = loadPose(state.q.data() + block.q);
      if (!height) height = pose.x[2];
      const bool turnsInPlane = pose.R.row(2).cwiseAbs().maxCoeff() > 1 - 1e-6;
      if (!turnsInPlane || std::abs(pose.x[2] - *height) > 1e-6 * extent) return false;
    }
  }
  return height.has_value();
}

/// The row nearest to a time.
std::size_t Film::Impl::rowAt(double time) const {
  std::size_t row = 0;
  while (row + 1 < results.rows() && std::abs(results.time(row + 1) - time) < std::abs(results.time(row) - time)) ++row;
  return row;
}

/// The first frame that shows the row or a later one.
std::size_t Film::Impl::frameOfRow(std::size_t row) const {
  return std::min(std::size_t(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin()), rows.size() - 1);
}

void Film::Impl::mark(double at, std::size_t row, const std::string& label, Json& header) const {
  header["marks"].push_back({{"at", at}, {"frame", frameOfRow(row)}, {"label", label}});
}

/// The series of the outputs that measure something.
std::vector<const FilmSeries*> Film::Impl::seriesOf(std::string_view measure) const {
  std::vector<const FilmSeries*> list;
  for (const Node& output : results.scene().document().root().sequence("outputs")) {
    if (output.text("measure", "") != measure) continue;
    const std::string name = output.text("name");
    for (const FilmSeries& one : series) {
      if (one.name == name) list.push_back(&one);
    }
  }
  return list;
}

/// Where the stability of equilibria changes along a branch.
void Film::Impl::markStability(Json& header) const {
  const std::vector<std::string> states = results.reader().states();
  if (std::find(states.begin(), states.end(), "stable") == states.end()) return;
  const ResultReader::RowMatrix stable = results.reader().state("stable");
  const auto known = [&](Eigen::Index row) { return std::isfinite(stable(row, 0)); };
  const Json& breaks = header["breaks"];
  for (Eigen::Index row = 1; row < std::min(stable.rows(), Eigen::Index(results.rows())); ++row) {
    const bool goesOn = std::find(breaks.begin(), breaks.end(), frameOfRow(std::size_t(row))) == breaks.end();
    if (goesOn && known(row) && known(row - 1) && stable(row, 0) != stable(row - 1, 0))
      mark(results.time(std::size_t(row)), std::size_t(row), stable(row, 0) > 0 ? "stable from here" : "unstable from here", header);
  }
}

/// Impacts, slips and so on that an event-driven run located and the scene asks for.
void Film::Impl::markEvents(Json& header) const {
  constexpr Eigen::Index most = 200;
  for (const FilmSeries* one : seriesOf("event times")) {
    if (!one->isArray || one->info.unit != "s") continue;
    for (Eigen::Index i = 0; i < std::min(one->values.size(), most); ++i)
      mark(one->values(i, 0), rowAt(one->values(i, 0)), one->name, header);
  }
}

/// Where the contacts of a controlled path land and leave. The path is shown when it is found, from its first node to the last.
void Film::Impl::markPhases(Json& header) const {
  const OptimalControlOptions* manoeuvre = results.scene().manoeuvre();
  if (!manoeuvre || results.rows() < 2) return;
  const int last = manoeuvre->intervals;
  const auto markNode = [&](int node, const std::string& label) {
    const double at = results.time(results.rows() - 1) * node / last;
    if (node > 0 && node < last) mark(at, rowAt(at), label, header);
  };
  for (const PathContact& contact : manoeuvre->contacts) {
    markNode(contact.first, contact.name + " lands");
    markNode(contact.last, contact.name + " leaves");
  }
}

/// Where the path of equilibria leaves one branch for another, if the scene asks for their numbers.
void Film::Impl::markBranches(Json& header) const {
  for (const FilmSeries* one : seriesOf("branch")) {
    if (one->isArray) continue;
    const auto& branch = one->values;
    for (Eigen::Index row = 1; row < std::min(branch.rows(), Eigen::Index(results.rows())); ++row) {
      if (branch(row, 0) == branch(row - 1, 0)) continue;
      mark(results.time(std::size_t(row)), std::size_t(row), fmt::format("branch {:g}", branch(row, 0)), header);
      header["breaks"].push_back(frameOfRow(std::size_t(row)));
    }
    return; // one says it all
  }
}

std::string Film::Impl::header() {
  sample();
  const Model& model = *results.scene().mechanism().model;
  Json header{{"format", formatNumber}, {"notices", Json::array()}};
  describeScene(results.scene(), header);
  describeRun(results, header);
  describeSeries(series, header);
  if (rows.size() < results.rows())
    header["notices"].push_back(
        fmt::format("{} of {} frames are shown, to keep the page small. All: tendril view --serve, or a larger --max-size.", rows.size(),
                    results.rows()));
  for (const std::size_t row : rows) header["times"].push_back(results.rows() > 0 ? results.time(row) : 0);
  header["rows"] = rows;
  header["totalRows"] = results.rows();
  header["framesPerChunk"] = framesPerChunk;
  Eigen::AlignedBox3d box;
  for (const Seen& channel : seen) box.extend(channel.box);
  if (box.isEmpty()) box = Eigen::AlignedBox3d(Vector3::Constant(-extent / 2), Vector3::Constant(extent / 2));
  const bool planar = isPlanar();
  const Vector3& g = model.gravity().g;
  header["origin"] = toJson(origin);
  header["bounds"] = {toJson(box.min()), toJson(box.max())};
  header["extent"] = extent;
  header["up"] = toJson(g.norm() > 0 ? Vector3(-g.normalized()) : planar ? Vector3::UnitY() : Vector3::UnitZ());
  header["planar"] = planar;
  header["channels"] = channelsJson();
  header["fields"] = fieldsJson();
  header["marks"] = header["breaks"] = Json::array();
  markBranches(header);
  markStability(header);
  markEvents(header);
  markPhases(header);
  return pageText(header);
}

Film::Film(const std::filesystem::path& results, std::size_t maxFrames) : impl(std::make_unique<Impl>(results, maxFrames)) {}
Film::Film(Film&&) noexcept = default;
Film& Film::operator=(Film&&) noexcept = default;
Film::~Film() = default;

std::size_t Film::frames() const { return impl->rows.size(); }
std::size_t Film::totalRows() const { return impl->results.rows(); }
std::size_t Film::framesPerChunk() const { return impl->framesPerChunk; }
std::size_t Film::chunks() const { return impl->chunks(); }
std::vector<std::string> Film::channels() const {
  std::vector<std::string> names;
  for (const FilmChannel& channel : impl->channels) names.push_back(channel.name);
  return names;
}

std::string Film::chunk(const std::string& channel, std::size_t number, ChunkPacking packing) {
  for (std::size_t c = 0; c < impl->channels.size(); ++c) {
    if (impl->channels[c].name == channel && number < chunks()) return impl->encode(c, number, packing);
  }
  throw InputError(fmt::format("the film has no chunk {} of a channel '{}'", number, channel));
}

std::string Film::header() { return impl->header(); }

}
