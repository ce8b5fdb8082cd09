// Closing.
#include "base/file_descriptor.h"

#include <unistd.h>

namespace remit {

void FileDescriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

}  // namespace remit
