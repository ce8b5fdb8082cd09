// The life of a connection.
#include "http/session.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <ctime>
#include <utility>

#include "base/check.h"

namespace remit::http {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kWriteBytes = std::size_t{256} * 1024;  // before the deadline is renewed
constexpr std::chrono::seconds kLinger{1};

// The date as RFC 9110 section 5.6.7 wants it, whatever the locale.
std::string http_date(WallTime now) {
  static constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = now.unix_ns / 1'000'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> out{};
  (void)std::snprintf(out.data(), out.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                      kDays.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                      kMonths.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900,
                      parts.tm_hour, parts.tm_min, parts.tm_sec);
  return out.data();
}

// Whether Host names one of `hosts`, with any port.
bool names_one_of(const std::vector<std::string>& hosts, std::string_view host) {
  const std::size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    const std::string_view port = host.substr(colon + 1);
    const bool is_port = !port.empty() && port.size() <= 5 &&
                         port.find_first_not_of("0123456789") == std::string_view::npos;
    if (!is_port) return false;
    host = host.substr(0, colon);
  }
  return std::any_of(hosts.begin(), hosts.end(),
                     [&](const std::string& one) { return equal_names(one, host); });
}

std::string chunk_of(std::string_view bytes) {
  std::array<char, 20> size{};
  (void)std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return std::string(size.data()).append(bytes).append("\r\n");
}

bool has_no_body(int status) {
  return status == 204 || status == 304;
}

}  // namespace

MonotonicTime Session::after(Duration span) const {
  return host_.clock.monotonic_now() + span;
}

bool Session::is_busy() const {
  if (state_ == State::kHandling || state_ == State::kWriting || state_ == State::kStreaming) {
    return true;
  }
  return state_ == State::kReading && has_begun_;
}

void Session::start() {
  deadline_ = after(host_.options.head_timeout);
  transport_->shake_hands([self = shared_from_this()](const auto& error, std::size_t) {
    if (self->state_ == State::kClosed) return;
    if (error) return self->cut_off();
    self->state_ = State::kReading;
    self->read();
  });
}

void Session::read() {
  const bool is_full = state_ != State::kLingering && input_.size() >= kMaxReadAheadBytes;
  if (is_reading_ || is_full || has_peer_ended_ || state_ == State::kClosed) return;
  is_reading_ = true;
  transport_->read(read_buffer_.data(), read_buffer_.size(),
                   [self = shared_from_this()](const auto& error, std::size_t size) {
                     self->is_reading_ = false;
                     self->on_read(static_cast<bool>(error), size);
                   });
}

void Session::on_read(bool is_end, std::size_t size) {
  if (state_ == State::kClosed) return;
  if (is_end) {
    has_peer_ended_ = true;
    switch (state_) {
      case State::kHandling:
        // It may only have closed its half, so the answer is still tried.
        stop_.request_stop();
        closes_after_ = true;
        return;
      case State::kWriting:
        closes_after_ = true;
        return;
      default:
        return cut_off();
    }
  }
  if (state_ != State::kLingering) {
    input_.append(read_buffer_.data(), size);
    if (state_ == State::kReading) advance();
  }
  read();
}

// Takes from what was received as far as it goes.
void Session::advance() {
  while (state_ == State::kReading && !input_.empty()) {
    if (!has_begun_) begin_request();
    const std::size_t used = parser_.feed(input_);
    input_.erase(0, used);
    if (!body_.grow_to(parser_.request().body.size())) {
      is_head_request_ = parser_.request().method == "HEAD";
      closes_after_ = true;  // what is left of it is not read
      return turn_away("too much is being received at once");
    }
    if (parser_.state() == RequestParser::State::kRefused) {
      return refuse(parser_.fault().status, parser_.fault().why);
    }
    if (parser_.state() != RequestParser::State::kHead && !is_head_checked_) check_head();
    if (state_ != State::kReading) return;
    if (parser_.state() == RequestParser::State::kComplete) return hand_over();
    if (used == 0) return;
  }
}

void Session::begin_request() {
  has_begun_ = true;
  request_start_ = host_.clock.monotonic_now();
  // The first request's time runs from the connection.
  if (deadline_ > request_start_ + host_.options.head_timeout) {
    deadline_ = request_start_ + host_.options.head_timeout;
  }
}

// What a head is refused for before its body is read.
void Session::check_head() {
  is_head_checked_ = true;
  deadline_ = request_start_ + host_.options.request_timeout;
  const Request& request = parser_.request();
  if (!names_one_of(host_.hosts, *request.headers.find("Host"))) {
    return refuse(421, "another host than this server's");
  }
  const std::string* origin = request.headers.find("Origin");
  const std::vector<std::string>& allowed = host_.options.allowed_origins;
  if (origin != nullptr && std::find(allowed.begin(), allowed.end(), *origin) == allowed.end()) {
    return refuse(403, "an origin that is not allowed");
  }
  const bool waits = parser_.expects_continue() && parser_.state() == RequestParser::State::kBody &&
                     input_.empty();
  if (waits) send("HTTP/1.1 100 Continue\r\n\r\n");
}

void Session::hand_over() {
  closes_after_ = closes_after_ || !parser_.keeps_alive() || is_draining_;
  is_head_request_ = parser_.request().method == "HEAD";
  stop_ = std::stop_source{};
  auto request = std::make_shared<Request>(std::move(parser_.request()));
  request->peer = peer_;
  // The body has its share for as long as it is there.
  auto share = std::make_shared<BodyBudget::Share>(std::move(body_));
  post([&handler = host_.handler, share, request, stop = stop_.get_token()] {
    return handler.handle(*request, stop);
  });
}

void Session::refuse(int status, std::string_view why) {
  closes_after_ = true;
  is_head_request_ = parser_.request().method == "HEAD";
  stop_ = std::stop_source{};
  auto refusal = std::make_shared<Refusal>(Refusal{status, why, std::move(parser_.request())});
  refusal->head.body = {};
  refusal->head.peer = peer_;
  body_.clear();
  post([&handler = host_.handler, refusal] {
    Response response = handler.refuse(*refusal);
    response.status = refusal->status;
    return response;
  });
}

// For want of room: no call, and nobody's to record.
void Session::turn_away(std::string_view why) {
  Response full = text_response(503, why);
  full.headers.set("Retry-After", "1");
  parser_.request().body = {};
  body_.clear();
  respond(std::move(full));
}

void Session::post(std::function<Response()> job) {
  auto response = std::make_shared<Response>();
  state_ = State::kHandling;
  const bool has_room =
      host_.workers.post([self = shared_from_this(), is_lost = is_lost_, &io = host_.io, response,
                          job = std::move(job)]() mutable {
        try {
          try {
            *response = job();
          } catch (...) {  // the handler's own; nothing of it is told
            *response = text_response(500, "the handler failed");
          }
          job = nullptr;
          // The session goes back to its thread, and ends there.
          asio::post(io, [self = std::move(self), response] {
            if (self->state_ == State::kHandling) {
              self->respond(std::move(*response));
            } else if (response->stream != nullptr) {
              response->stream->close();
            }
          });
        } catch (...) {  // no memory even for that: the sweep finds it
          *is_lost = true;
        }
      });
  if (!has_room) turn_away("too many requests are waiting");
}

std::string Session::head_of(const Response& response, bool has_body) {
  std::string out = "HTTP/1.1 " + std::to_string(response.status) + " ";
  out.append(status_phrase(response.status)).append("\r\nDate: ");
  out.append(http_date(host_.clock.wall_now())).append("\r\n");
  write_fields(response.headers, out);
  if (is_chunked_) {
    out.append("Transfer-Encoding: chunked\r\n");
  } else if (has_body && response.stream == nullptr) {
    out.append("Content-Length: ").append(std::to_string(response.body.size())).append("\r\n");
  }
  if (closes_after_) {
    out.append("Connection: close\r\n");
  } else if (parser_.is_http10()) {
    out.append("Connection: keep-alive\r\n");
  }
  return out.append("\r\n");
}

void Session::respond(Response response) {
  if (response.status < 200 || response.status > 599) response.status = 500;
  const bool has_body = !has_no_body(response.status);
  const bool streams = response.stream != nullptr && has_body && !is_head_request_;
  if (response.stream != nullptr && !streams) response.stream->close();
  is_chunked_ = response.stream != nullptr && has_body && !parser_.is_http10();
  // A body that ends with its connection is all that HTTP/1.0 has for a stream.
  closes_after_ = closes_after_ || is_draining_ || (streams && !is_chunked_);
  std::string out = head_of(response, has_body);
  if (!streams) {
    if (has_body && !is_head_request_) out.append(response.body);
    state_ = State::kWriting;
    return send(std::move(out));
  }
  state_ = State::kStreaming;
  stream_ = std::move(response.stream);
  send(std::move(out));
  stream_->attach([weak = weak_from_this(), &io = host_.io] {
    asio::post(io, [weak] {
      if (const auto self = weak.lock()) self->pump();
    });
  });
  pump();
}

void Session::send(std::string bytes) {
  if (queued_.empty()) {
    queued_ = std::move(bytes);
  } else {
    queued_.append(bytes);
  }
  if (!is_writing_) write_on();
}

void Session::write_on() {
  if (sent_ == sending_.size()) {
    sending_ = std::exchange(queued_, {});
    sent_ = 0;
    if (sending_.empty()) return on_sent();
  }
  is_writing_ = true;
  write_deadline_ = after(host_.options.write_timeout);
  const std::size_t size = std::min(sending_.size() - sent_, kWriteBytes);
  transport_->write(sending_.data() + sent_, size,
                    [self = shared_from_this(), size](const auto& error, std::size_t) {
                      self->is_writing_ = false;
                      if (self->state_ == State::kClosed) return;
                      if (error) return self->cut_off();
                      self->sent_ += size;
                      self->write_on();
                    });
}

void Session::on_sent() {
  if (state_ == State::kWriting) return end_response();
  if (state_ == State::kStreaming) pump();
}

// Takes what the stream has, once the client took what it had before.
void Session::pump() {
  if (state_ != State::kStreaming || is_writing_ || stream_ == nullptr) return;
  BodyStream::Taken taken = stream_->take();
  std::string out;
  if (!taken.bytes.empty()) out = is_chunked_ ? chunk_of(taken.bytes) : std::move(taken.bytes);
  if (taken.is_end) {
    if (is_chunked_) out.append("0\r\n\r\n");
    stream_->close();
    stream_.reset();
    state_ = State::kWriting;
    if (out.empty()) return end_response();
  }
  if (!out.empty()) send(std::move(out));
}

void Session::end_response() {
  if (closes_after_ || has_peer_ended_) return linger();
  parser_.reset();
  has_begun_ = false;
  is_head_checked_ = false;
  stop_ = std::stop_source{std::nostopstate};
  state_ = State::kReading;
  deadline_ = after(host_.options.idle_timeout);
  if (is_draining_ && input_.empty()) return cut_off();
  advance();
  read();
}

// A socket that is closed with bytes unread takes the answer back from the client's hands.
void Session::linger() {
  if (has_peer_ended_) return cut_off();
  state_ = State::kLingering;
  deadline_ = after(kLinger);
  input_.clear();
  transport_->end_writing([self = shared_from_this()](const auto& error, std::size_t) {
    if (error) self->cut_off();
  });
  read();
}

void Session::check(MonotonicTime now) {
  if (is_writing_ && now > write_deadline_) return cut_off();
  switch (state_) {
    case State::kReading:
      if (now <= deadline_) return;
      if (!has_begun_) return cut_off();
      return refuse(408, "the request took too long");
    case State::kShakingHands:
    case State::kLingering:
      if (now > deadline_) cut_off();
      return;
    case State::kStreaming:
      // Nobody is left who could write or finish.
      if (stream_ != nullptr && stream_.use_count() == 1 && !is_writing_) {
        pump();
        if (state_ == State::kStreaming && !is_writing_) cut_off();
      }
      return;
    case State::kHandling:
      if (*is_lost_) cut_off();
      return;
    case State::kWriting:
    case State::kClosed:
      return;
  }
}

void Session::drain() {
  is_draining_ = true;
  if (state_ == State::kShakingHands || (state_ == State::kReading && !has_begun_)) cut_off();
}

void Session::cut_off() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  const auto self = shared_from_this();
  transport_->close();
  stop_.request_stop();
  if (stream_ != nullptr) stream_->close();
  stream_.reset();
  host_.on_end(*this);
}

}  // namespace remit::http
