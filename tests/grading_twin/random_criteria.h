// Random contracts and manifests, over the names that random runs use.
#pragma once

#include "naive_grader.h"
#include "tests/support/seeded_random.h"

namespace remit::twin {

using testing::SeededRandom;

/// A contract that is accepted, with up to three rules; every key occurs.
NaiveContract random_contract(SeededRandom& random);

/// A contract that may be refused, for any of the reasons that `refusal` knows.
NaiveContract careless_contract(SeededRandom& random);

/// A manifest that is accepted, whose facts are mostly those of random runs.
std::string random_manifest(SeededRandom& random);

/// A contract, often a manifest, and seldom expected ids.
TwinCriteria random_criteria(SeededRandom& random);

/// What random runs say of the world, by reference.
struct TruePrincipal {
  const char* ref;
  const char* principal_class;
  const char* tenant;
  const char* revision;
};
struct TrueResource {
  const char* type;
  const char* id;
  const char* tenant;
  const char* source;
  const char* revision;
};
inline constexpr TruePrincipal kPrincipals[] = {{"p1", "agent", "t1", "1"},
                                                {"p2", "admin", "t2", "2"}};
inline constexpr TrueResource kResources[] = {
    {"T", "x", "t1", "db", "1"}, {"U", "x", "t2", "db", "2"}, {"T", "y", "t2", "cache", "1"}};
inline constexpr const char* kPolicyDigest =
    "sha256:0000000000000000000000000000000000000000000000000000000000000001";

}  // namespace remit::twin
