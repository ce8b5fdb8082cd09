// Reading OpenTelemetry's JSON on one core, beside a plain loop on simdjson over the same bytes.
//
// The plain loop does what a script does: it walks to each attribute and looks at its key. The
// reader translates what it finds into events, decodes them, keeps places and refuses what is no
// JSON. Times are those of the processor, so that other work on the machine counts little.
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "bench/run_size.h"
#include "bench/text_file.h"
#include "event/event.h"
#include "trace/event_reader.h"

namespace {

constexpr std::size_t kTraceBytes = std::size_t{200} << 20U;
constexpr int kRounds = 5;

std::string attribute(std::string_view key, std::string_view value) {
  return fmt::format(R"({{"key":"{}","value":{{"stringValue":"{}"}}}})", key, value);
}

// What an agent's exporter writes: mostly spans of HTTP and of the model with its prompt.
std::string plain_span(std::size_t number) {
  return fmt::format(
      R"({{"traceId":"{:032x}","spanId":"{:016x}","parentSpanId":"{:016x}","name":"POST /v1/chat",)"
      R"("kind":3,"startTimeUnixNano":"{}","endTimeUnixNano":"{}","attributes":[{},{},{},)"
      R"({{"key":"http.response.status_code","value":{{"intValue":"200"}}}},{},{}],)"
      R"("droppedAttributesCount":0,"status":{{"code":1}}}})",
      number / 8 + 1, number + 1, number, 1'700'000'000'000'000'000 + number,
      1'700'000'000'000'001'000 + number, attribute("http.request.method", "POST"),
      attribute("url.full", "https://models.example/v1/chat/completions"),
      attribute("gen_ai.operation.name", "chat"),
      attribute("gen_ai.request.model", "some-model-2026-08"),
      attribute("gen_ai.input.messages", std::string(R"([{\"role\":\"user\",\"content\":\")") +
                                             std::string(300, 'x') + R"(\"}])"));
}

std::string event_span(std::size_t number) {
  return fmt::format(
      R"({{"traceId":"{:032x}","spanId":"{:016x}","name":"decide","attributes":[{},{},{},{},{},{},)"
      R"({{"key":"remit.seq","value":{{"intValue":"{}"}}}}]}})",
      number / 8 + 1, number + 1, attribute("remit.event", "tool.request"),
      attribute("remit.invocation_id", fmt::format("inv-{}", 10'000'000 + number)),
      attribute("remit.writer", "gateway-1"), attribute("remit.run_id", "run-2026-11-30"),
      attribute("remit.route", "agent"), attribute("remit.tool", "invoice.read"), number + 1);
}

// Lines of the collector's file exporter, 64 spans each, one of eight an event of ours.
std::string make_trace(std::size_t bytes, std::size_t& spans, std::size_t& events) {
  std::string out;
  while (out.size() < bytes) {
    out += R"({"resourceSpans":[{"resource":{"attributes":[)" + attribute("service.name", "agent") +
           R"(]},"scopeSpans":[{"scope":{"name":"bench"},"spans":[)";
    for (int i = 0; i < 64; ++i) {
      const bool is_event = i % 8 == 0;
      out += is_event ? event_span(events) : plain_span(spans);
      out += i == 63 ? "" : ",";
      events += is_event ? 1 : 0;
      ++spans;
    }
    out += "]}]}]}\n";
  }
  return out;
}

std::size_t read_events(std::string_view text) {
  using remit::trace::Item;
  remit::PosixFileSystem files;
  const remit::trace::Input input =
      remit::trace::Input::of_stream("bench", std::make_unique<remit::bench::TextFile>(text));
  remit::event::Decoder decoder;
  remit::trace::EventReader reader(files, input, decoder);
  std::size_t events = 0;
  for (;;) {
    const remit::Result<Item> item = reader.next();
    if (!item || *item == Item::kMalformed) std::abort();
    if (*item == Item::kEnd) return events;
    events += *item == Item::kEvent ? 1 : 0;
  }
}

std::size_t walk_plainly(simdjson::dom::parser& parser, std::string_view padded, std::size_t size) {
  std::size_t events = 0;
  std::size_t begin = 0;
  while (begin < size) {
    const std::size_t end = padded.find('\n', begin);
    simdjson::dom::element document;
    if (parser.parse(padded.data() + begin, end - begin, false).get(document)) std::abort();
    for (const auto resource : document["resourceSpans"].get_array()) {
      for (const auto scope : resource["scopeSpans"].get_array()) {
        for (const auto span : scope["spans"].get_array()) {
          for (const auto attribute : span["attributes"].get_array()) {
            events += std::string_view(attribute["key"]) == "remit.event" ? 1U : 0U;
          }
        }
      }
    }
    begin = end + 1;
  }
  return events;
}

template <typename Work>
double best_seconds(std::size_t wanted, Work&& work) {
  double best = 1e9;
  for (int i = 0; i < kRounds; ++i) {
    const std::clock_t begin = std::clock();
    if (work() != wanted) std::abort();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const remit::bench::RunSize run(argc, argv);
  std::size_t spans = 0;
  std::size_t events = 0;
  std::string text = make_trace(run.of<std::size_t>(kTraceBytes, 1U << 16U), spans, events);
  const std::size_t size = text.size();
  text.append(simdjson::SIMDJSON_PADDING, ' ');
  const std::string_view whole = std::string_view(text).substr(0, size);
  const double ours = best_seconds(events, [&] { return read_events(whole); });
  simdjson::dom::parser parser;
  const double plain = best_seconds(events, [&] { return walk_plainly(parser, text, size); });
  const auto print = [&](const char* name, double seconds) {
    std::printf("%-28s %6.2f GB/s %6.2f M spans/s\n", name,
                static_cast<double>(size) / seconds / 1e9,
                static_cast<double>(spans) / seconds / 1e6);
  };
  std::printf("%zu MiB, %zu spans, %zu events\n", size >> 20U, spans, events);
  print("trace::EventReader", ours);
  print("plain loop on simdjson", plain);
  return 0;
}
