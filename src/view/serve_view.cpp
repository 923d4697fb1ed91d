#include "tendril/model/error.h"
#include "tendril/studies/study.h"
#include "tendril/view/film.h"
#include "view/page_writer.h"
#include "view/study_page.h"
#include "view/viewer_page.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

namespace tendril {

namespace {

using httplib::Request;
using httplib::Response;

/// Answers for one film or study. Requests come from several threads, the film takes them one by one.
class FilmServer {
 public:
  FilmServer(std::filesystem::path results, std::string_view viewer)
      : results_(std::move(results)), viewer_(viewer), isStudy_(isStudyFolder(results_)), written_(lastWrite()) {
    if (isStudy_)
      makeStudyElement(results_, 0); // tells at once if it cannot be read
    else
      film_.emplace(results_);
    server_.set_keep_alive_timeout(1);
    // The library's own options would let two servers share a port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    });
    server_.set_default_headers({{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
    server_.set_pre_routing_handler([this](const Request& request, Response& response) { return checkHost(request, response); });
    server_.set_exception_handler([](const Request&, Response& response, const std::exception_ptr& failure) { report(failure, response); });
    server_.Get("/", [this](const Request&, Response& response) { sendPage(response); });
    server_.Get("/film.json", [this](const Request&, Response& response) { sendHeader(response); });
    server_.Get(R"(/chunk/(.+)/(\d{1,9}))", [this](const Request& request, Response& response) {
      sendChunk(request.matches[1], std::stoul(request.matches[2]), response);
    });
  }

  /// Returns when `stop` says so.
  void run(int port, const std::function<void(const std::string&)>& ready, const std::function<bool()>& stop) {
    constexpr const char* loopback = "127.0.0.1";
    if (port > 0 && !server_.bind_to_port(loopback, port))
      throw MachineFailure(fmt::format("cannot listen on port {} of this machine; choose another with --port", port));
    port_ = port > 0 ? port : server_.bind_to_any_port(loopback);
    if (port_ <= 0) throw MachineFailure("cannot listen on any port of this machine");
    const Listener listener(server_);
    ready(fmt::format("http://{}:{}/", loopback, port_));
    while (!stop()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

 private:
  /// The thread that answers, from here to its end, also if that is an exception.
  class Listener {
   public:
    explicit Listener(httplib::Server& server) : server_(server), thread_([&server] { server.listen_after_bind(); }) {}
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() {
      while (!server_.is_running()) std::this_thread::yield(); // what does not run yet cannot be stopped
      server_.stop();
      thread_.join();
    }

   private:
    httplib::Server& server_;
    std::thread thread_;
  };

  /// A page of the net whose name was turned to this machine shall not read films: it would send its own name.
  httplib::Server::HandlerResponse checkHost(const Request& request, Response& response) const {
    const std::string host = request.get_header_value("Host");
    for (const char* name : {"127.0.0.1", "localhost"}) {
      if (host == fmt::format("{}:{}", name, port_)) return httplib::Server::HandlerResponse::Unhandled;
    }
    response.status = 403;
    response.set_content("This server answers to 127.0.0.1 and localhost alone.", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  }

  static void report(const std::exception_ptr& failure, Response& response) {
    response.status = 500;
    try {
      std::rethrow_exception(failure);
    } catch (const InputError& error) {
      response.status = 404;
      response.set_content(error.what(), "text/plain; charset=utf-8");
    } catch (const std::exception& error) {
      response.set_content(error.what(), "text/plain; charset=utf-8");
    }
  }

  std::filesystem::file_time_type lastWrite() const {
    std::error_code status;
    return std::filesystem::last_write_time(results_ / "results.h5", status);
  }

  /// Of a study the page holds all that there is at this moment.
  void sendPage(Response& response) const {
    const std::size_t mark = viewer_.find(filmMark);
    std::string page(viewer_.substr(0, mark));
    if (isStudy_) page += makeStudyElement(results_, mostStudyBytes).html;
    response.set_content(page.append(viewer_.substr(mark + filmMark.size())), "text/html; charset=utf-8");
  }

  /// Whoever loads the page anew sees what a run that goes on has written since.
  void sendHeader(Response& response) {
    const std::lock_guard lock(mutex_);
    if (const auto now = lastWrite(); !film_ || now != written_) {
      // Two films of one file would share what HDF5 remembers of it, and the new one would see no new rows.
      film_.reset();
      film_.emplace(results_);
      written_ = now;
    }
    response.set_content(film_->header(), "application/json");
  }

  void sendChunk(const std::string& channel, std::size_t number, Response& response) {
    const std::lock_guard lock(mutex_);
    if (!film_) throw InputError("the results could not be read again; reload the page");
    response.set_content(film_->chunk(channel, number, ChunkPacking::Quick), "application/octet-stream");
  }

  static constexpr std::uint64_t mostStudyBytes = 400'000'000;

  std::filesystem::path results_;
  std::string_view viewer_;
  bool isStudy_;
  std::mutex mutex_;
  std::filesystem::file_time_type written_;
  std::optional<Film> film_; ///< none after results that could not be read
  httplib::Server server_;
  int port_ = 0;
};

}

void serveView(const std::filesystem::path& results, std::string_view viewer, int port,
               const std::function<void(const std::string& address)>& ready, const std::function<bool()>& stop) {
  requireViewer(viewer);
  FilmServer(results, viewer).run(port, ready, stop);
}

void serveView(const std::filesystem::path& results, int port, const std::function<void(const std::string& address)>& ready,
               const std::function<bool()>& stop) {
  serveView(results, viewerPage(), port, ready, stop);
}

}
