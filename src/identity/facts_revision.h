// What events call the state of a principal's facts, where nobody gave it a name.
#pragma once

#include <string>

#include "access/principal.h"
#include "base/digest.h"

namespace remit::identity {

/// The SHA-256 of tenant, class and scopes in canonical form, and of the digest by `key` of whom
/// the agent acts for, where it acts for somebody. It leaves out who the subject is and has no
/// other trace of that person, because it goes into evidence as it is and short names could be
/// guessed from it. Scopes are sorted and without repeats.
std::string facts_revision(const access::Principal& principal, const DigestKey& key);

/// The principal as it is told to others: scopes sorted, repeats dropped; a revision of its own
/// stays, else it is `facts_revision`.
access::Principal with_revision(access::Principal principal, const DigestKey& key);

}  // namespace remit::identity
