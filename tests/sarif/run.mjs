// Every golden case graded anew as SARIF and held against the schema of SARIF 2.1.0 (REQ-RP-020), and against what
// the schema cannot say: indices that lead where they should, levels that go with their kinds.
//   node run.mjs GOLDEN_CASES REMIT MODULES
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [golden, remit, modules] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(pathToFileURL(join(modules, "anchor.js")));
const Ajv = require("ajv");
const schemas = join(modules, "@microsoft/jest-sarif/lib/schemas");
const [name] = readdirSync(schemas).filter((file) => file.startsWith("sarif-2.1.0"));
const schema = JSON.parse(readFileSync(join(schemas, name), "utf8"));
const ajv = new Ajv({ schemaId: "auto", allErrors: true, unknownFormats: "ignore" });
if (schema.$schema?.includes("draft-04")) {
  ajv.addMetaSchema(require("ajv/lib/refs/json-schema-draft-04.json"));
}
const isValid = ajv.compile(schema);

function sarifOf(directory) {
  const traces = readdirSync(directory).filter((file) => file.endsWith(".jsonl")).sort();
  const words = ["grade", ...traces, "--format", "sarif"];
  if (existsSync(join(directory, "manifest.yaml"))) words.push("--manifest", "manifest.yaml");
  if (existsSync(join(directory, "expect.txt"))) words.push("--expect-file", "expect.txt");
  if (existsSync(join(directory, "contract.yaml"))) words.push("--contract", "contract.yaml");
  const ran = spawnSync(remit, words, { cwd: directory, encoding: "utf8", maxBuffer: 1 << 28 });
  assert.ok(ran.status <= 2, `${directory}: exit ${ran.status}: ${ran.stderr}`);
  return { log: JSON.parse(ran.stdout), status: ran.status };
}

function check(directory, { log, status }) {
  assert.ok(isValid(log), `${directory}: ${JSON.stringify(isValid.errors, null, 1)}`);
  const [run] = log.runs;
  assert.equal(run.invocations[0].exitCode, status);
  for (const result of run.results) {
    assert.equal(run.tool.driver.rules[result.ruleIndex].id, result.ruleId);
    assert.ok(result.kind === "fail" ? result.level !== "none" : result.level === "none", directory);
    for (const location of [...(result.locations ?? []), ...(result.relatedLocations ?? [])]) {
      const { artifactLocation, region } = location.physicalLocation;
      const artifact = run.artifacts[artifactLocation.index].location;
      assert.equal(artifact.uri, artifactLocation.uri);
      assert.ok(region.startLine >= 1 && region.byteOffset >= 0);
      const bytes = readFileSync(join(directory, decodeURIComponent(artifact.uri)));
      const before = bytes.subarray(0, region.byteOffset);
      const newlines = before.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0);
      assert.equal(newlines + 1, region.startLine, `${directory}: ${result.ruleId}`);
      const text = bytes.subarray(region.byteOffset, region.byteOffset + (region.byteLength ?? 0));
      assert.ok(!text.includes(10), `${directory}: a region of one line`);
    }
  }
  for (const notice of run.invocations[0].toolExecutionNotifications) {
    assert.equal(run.tool.driver.notifications[notice.descriptor.index].id, notice.descriptor.id);
  }
}

const cases = readdirSync(golden).sort();
let results = 0;
for (const one of cases) {
  const directory = join(golden, one);
  // What verification of a directory found is given to the golden test by hand.
  if (existsSync(join(directory, "altered.txt"))) continue;
  const graded = sarifOf(directory);
  check(directory, graded);
  results += graded.log.runs[0].results.length;
}
const broken = sarifOf(join(golden, "start_after_deny")).log;
broken.runs[0].results[0].kind = "nonsense";
assert.ok(!isValid(broken), "the validator must refuse what is wrong");
assert.ok(results > cases.length / 2);
console.log(`${cases.length} cases, ${results} results: valid`);
