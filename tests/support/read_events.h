// Everything that a reader of events yields, as text that a test can compare.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/memory_file.h"
#include "trace/event_reader.h"

namespace remit::testing {

/// Reads `text` as an input of the name `name`: `OFFSET LINE` for an event (as it is encoded),
/// `OFFSET! MESSAGE` for a mistake, `! MESSAGE` for the error that ended it.
inline std::vector<std::string> read_events(std::string text, trace::Form form = trace::Form::kAuto,
                                            std::string name = "trace.json",
                                            std::size_t piece_bytes = SIZE_MAX) {
  PosixFileSystem files;
  trace::Input input = trace::Input::of_stream(
      std::move(name), std::make_unique<MemoryFile>(std::move(text), piece_bytes));
  input.form = form;
  event::Decoder decoder;
  trace::EventReader reader(files, input, decoder);
  std::vector<std::string> out;
  for (;;) {
    const Result<trace::Item> item = reader.next();
    if (!item) {
      out.push_back("! " + item.error().to_string());
      return out;
    }
    switch (*item) {
      case trace::Item::kEnd:
        return out;
      case trace::Item::kSource:
        break;
      case trace::Item::kEvent: {
        std::string line = std::to_string(reader.line().offset) + " ";
        event::encode(reader.event(), line);
        line.pop_back();
        out.push_back(std::move(line));
        break;
      }
      case trace::Item::kMalformed:
        out.push_back(std::to_string(reader.error_offset()) + "! " + reader.error().message);
        break;
    }
  }
}

}  // namespace remit::testing
