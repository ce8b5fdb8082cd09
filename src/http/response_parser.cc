// Status lines, interim responses, and bodies that say where they end.
#include "http/response_parser.h"

namespace remit::http {

Error ResponseParser::error() const {
  const Fault& fault = reader_.fault();
  const bool is_bound = fault.status == 413 || fault.status == 431;
  return {is_bound ? ErrorCode::kLimitExceeded : ErrorCode::kDataLoss,
          "the response has a fault: " + std::string(fault.why)};
}

ResponseParser::State ResponseParser::state() const {
  switch (reader_.state()) {
    case MessageReader::State::kComplete:
      return State::kComplete;
    case MessageReader::State::kRefused:
      return State::kRefused;
    case MessageReader::State::kHead:
    case MessageReader::State::kBody:
      break;
  }
  return State::kUnfinished;
}

std::size_t ResponseParser::feed(std::string_view input) {
  const auto head = [this](std::string_view text, std::optional<Framing>& framing) {
    return read_head(text, framing);
  };
  const std::size_t used = reader_.feed(input, head, response_.body);
  if (state() == State::kRefused) keeps_alive_ = false;
  return used;
}

std::optional<Fault> ResponseParser::read_head(std::string_view head,
                                               std::optional<Framing>& framing) {
  const std::size_t end = head.find("\r\n");
  if (auto fault = read_status_line(head.substr(0, end))) return fault;
  if (auto fault = read_fields(head.substr(end + 2), limits_.headers, response_.headers)) {
    return fault;
  }
  if (response_.status == 101) return Fault{400, "another protocol, which nobody asked for"};
  if (response_.status >= 200) return read_framing_of_body(framing);
  response_ = {};
  if (++interim_ > kMaxInterimResponses) return Fault{431, "too many interim responses"};
  return std::nullopt;
}

std::optional<Fault> ResponseParser::read_framing_of_body(std::optional<Framing>& framing) {
  framing.emplace();
  if (auto fault = read_framing(response_.headers, is_http10_, *framing)) return fault;
  const bool is_bodiless = !has_body_ || response_.status == 204 || response_.status == 304;
  if (is_bodiless) *framing = {};
  const bool says_end =
      framing->kind != Framing::Kind::kNone || response_.headers.find("Content-Length") != nullptr;
  if (!is_bodiless && !says_end) return Fault{400, "a body that does not say where it ends"};
  const std::string* coding = response_.headers.find("Content-Encoding");
  if (coding != nullptr && !equal_names(*coding, "identity")) {
    return Fault{400, "a content coding, which nobody asked for"};
  }
  return read_connection(response_.headers, is_http10_, keeps_alive_);
}

std::optional<Fault> ResponseParser::read_status_line(std::string_view line) {
  const bool is_known = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
  if (!is_known || line.size() < 12) return Fault{400, "no status line of HTTP/1"};
  is_http10_ = line[7] == '0';
  int status = 0;
  for (const char c : line.substr(9, 3)) {
    if (c < '0' || c > '9') return Fault{400, "a status that is no number"};
    status = status * 10 + (c - '0');
  }
  const bool ends = line.size() == 12 || line[12] == ' ';
  if (!ends || status < 100 || status > 599) return Fault{400, "a status beyond 100 to 599"};
  response_.status = status;
  return std::nullopt;
}

}  // namespace remit::http
