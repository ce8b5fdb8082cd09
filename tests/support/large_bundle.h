// A bundle of any size on disk, for what must hold and be fast with many policies and actions.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace remit::testing {

struct LargeBundle {
  int actions = 1'000;
  int policies_per_action = 10;
};

/// Writes a bundle to `folder`: tools `tool0`, `tool1`, … on an `Invoice`, each with policies of
/// its own: `pN-0` forbids another tenant's resource, and `pN-M` permits who has the scope
/// `toolN:useM`.
inline void write_large_bundle(const std::filesystem::path& folder, const LargeBundle& size) {
  const auto write = [&](std::string_view name, const std::string& text) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  };
  std::string catalogue = "catalogue: remit.catalogue/1\ntools:\n";
  std::string schema = R"(
entity Principal { tenant: String, class: String, scopes: Set<String>, on_behalf_of?: String };
entity Invoice { tenant?: String, amount: Long };
type Context = { route: String, environment: String, now: datetime,
  approval: { state: String, id?: String }, arguments: { limit?: Long, note?: String } };
)";
  std::string policies;
  for (int action = 0; action < size.actions; ++action) {
    const std::string tool = "tool" + std::to_string(action);
    catalogue += "  - {name: " + tool + ", effect: write, scopes: [\"" + tool +
                 ":use\"], arguments: schemas/invoice.json, "
                 "resources: [{argument: /invoice, type: Invoice}]}\n";
    schema += "action \"" + tool +
              "\" appliesTo { principal: [Principal], resource: [Invoice], context: Context };\n";
    const std::string scope = "(principal, action == Action::\"" + tool + "\", resource)";
    const std::string id = "@id(\"p" + std::to_string(action) + "-";
    policies += id + "0\") @reason(\"tenant_mismatch\")\nforbid " + scope +
                "\nunless { resource has tenant && principal.tenant == resource.tenant };\n";
    for (int number = 1; number < size.policies_per_action; ++number) {
      const std::string use = std::to_string(number);
      policies += id + use + "\")\npermit " + scope + "\nwhen { principal.scopes.contains(\"" +
                  tool + ":use" + use + "\") && resource.amount < 1000000 };\n";
    }
  }
  write("bundle.yaml",
        "bundle: remit.bundle/1\nversion: large-1\nenvironment: test\n"
        "routes:\n  - {name: agent, transport: library}\n");
  write("catalogue.yaml", catalogue);
  write("schema.cedarschema", schema);
  write("policies/all.cedar", policies);
  write("schemas/invoice.json",
        R"({"type":"object","properties":{"invoice":{"type":"string"},"note":{"type":"string"},)"
        R"("limit":{"type":"integer"}},"required":["invoice"]})");
}

}  // namespace remit::testing
