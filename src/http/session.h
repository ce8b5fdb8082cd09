// One connection of a server: requests in, responses out, in order. Internal to this folder.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/worker_threads.h"
#include "http/body_budget.h"
#include "http/request_parser.h"
#include "http/server.h"
#include "http/transport.h"

namespace remit::http {

class Session;

/// What all sessions of a server share; outlives them.
struct SessionHost {
  const ServerOptions& options;
  const std::vector<std::string>& hosts;  ///< that may be named
  Handler& handler;
  const Clock& clock;
  WorkerThreads& workers;
  BodyBudget& bodies;
  boost::asio::io_context& io;
  std::function<void(Session&)> on_end;  ///< the session is closed; it may go away
};

/// Lives on the thread of the io_context: every function is called there. Handlers run elsewhere.
class Session : public std::enable_shared_from_this<Session> {
 public:
  /// `peer` as Request has it.
  Session(SessionHost& host, std::unique_ptr<Transport> transport, std::string peer)
      : host_(host),
        transport_(std::move(transport)),
        peer_(std::move(peer)),
        parser_(host.options.limits),
        body_(host.bodies) {}

  void start();
  /// Ends what took too long by `now`.
  void check(MonotonicTime now);
  /// No further request is read; ends at once if none is under way.
  void drain();
  /// Ends at once; a handler is asked to stop.
  void cut_off();
  /// Whether a request is being read or answered.
  [[nodiscard]] bool is_busy() const;

 private:
  enum class State : std::uint8_t {
    kShakingHands,
    kReading,
    kHandling,   // a worker has the request
    kWriting,    // the response is whole and on its way
    kStreaming,  // the response comes from a BodyStream
    kLingering,  // everything is sent; what the client still sends is dropped
    kClosed,
  };

  void read();
  void on_read(bool is_end, std::size_t size);
  void advance();
  void begin_request();
  void check_head();
  void hand_over();
  void refuse(int status, std::string_view why);
  void turn_away(std::string_view why);
  void post(std::function<Response()> job);
  void respond(Response response);
  std::string head_of(const Response& response, bool has_body);
  void send(std::string bytes);
  void write_on();
  void on_sent();
  void pump();
  void end_response();
  void linger();
  [[nodiscard]] MonotonicTime after(Duration span) const;

  SessionHost& host_;
  const std::unique_ptr<Transport> transport_;
  const std::string peer_;
  State state_ = State::kShakingHands;
  RequestParser parser_;
  BodyBudget::Share body_;  // of the request that is being read
  std::array<char, 16384> read_buffer_;
  std::string input_;  // received and not yet taken by the parser
  std::string queued_;
  std::string sending_;
  std::size_t sent_ = 0;
  bool is_reading_ = false;
  bool is_writing_ = false;
  bool is_draining_ = false;
  bool has_peer_ended_ = false;
  bool has_begun_ = false;  // a byte of the request is there
  bool is_head_checked_ = false;
  bool closes_after_ = false;  // the response
  bool is_chunked_ = false;
  bool is_head_request_ = false;
  MonotonicTime deadline_;  // of reading and lingering
  MonotonicTime request_start_;
  MonotonicTime write_deadline_;
  std::stop_source stop_{std::nostopstate};
  // Set where a worker could not say what its handler gave. Shared, so that a worker holds this and
  // not the session.
  const std::shared_ptr<std::atomic<bool>> is_lost_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<BodyStream> stream_;
};

}  // namespace remit::http
