// Handoff bundles: for each invocation that failed or stays undetermined, what its owner needs to
// begin (REQ-RP-050 to 056).
#pragma once

#include <string>
#include <string_view>

#include "base/file_system.h"
#include "base/random.h"
#include "base/result.h"
#include "grading/grade.h"

namespace remit::report {

/// Writes one JSON document (`remit.handoff/1`) and one page for each such invocation of a grade
/// whose records were kept, and an index of both kinds, into `directory`, which is new or empty.
/// The directory is filled beside its place, under a name that nobody else has, and renamed: it is
/// there whole or not at all. Errors: `already_exists` where something is in it, and those of
/// writing, after which nothing of ours is left.
Status write_handoff(FileSystem& files, Random& random, const std::string& directory,
                     const grading::Grade& grade, std::string_view version);

}  // namespace remit::report
