// Real MCP servers behind `remit stdio`, driven by the official TypeScript client: each listed tool is called
// once allowed and once denied; no byte of a denied call reaches the server; the events grade clean.
//   node run.mjs REMIT MODULES WORK_DIRECTORY
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { servers } from "./servers.mjs";

const [remit, modules, work] = process.argv.slice(2).map((path) => resolve(path));
const sdk = (path) => import(pathToFileURL(join(modules, "@modelcontextprotocol/sdk/dist/esm", path)));
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const types = await sdk("types.js");
const tap = fileURLToPath(new URL("./tap.mjs", import.meta.url));

async function connect(command, environment) {
  const client = new Client(
    { name: "real-servers-test", version: "1.0.0" },
    { capabilities: { sampling: {}, elicitation: {}, roots: {} } },
  );
  client.setRequestHandler(types.CreateMessageRequestSchema, () => ({
    role: "assistant", model: "scripted", content: { type: "text", text: "forty-two" },
  }));
  client.setRequestHandler(types.ElicitRequestSchema, () => ({ action: "decline" }));
  client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots: [] }));
  await client.connect(new StdioClientTransport({
    command: command[0], args: command.slice(1), env: { ...process.env, ...environment }, stderr: "inherit",
  }));
  return client;
}

async function toolNames(client) {
  const names = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    names.push(...page.tools.map((tool) => tool.name));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return names.sort();
}

// What a call gave, whatever form it came in.
async function call(client, name, args) {
  try {
    const result = await client.request(
      { method: "tools/call", params: { name, arguments: args } }, types.CallToolResultSchema, { timeout: 30000 });
    return { result, denied: isDenial(result) };
  } catch (error) {
    return { error, denied: false };
  }
}

function isDenial(result) {
  if (result.isError !== true) return false;
  try {
    return JSON.parse(result.content[0].text).status === "denied";
  } catch {
    return false;
  }
}

function edit(file, change) {
  const before = readFileSync(file, "utf8");
  const after = change(before);
  assert.notEqual(before, after, `${file} was not changed`);
  writeFileSync(file, after);
}

function manifest(name, tools) {
  const quoted = (tool) => JSON.stringify(tool);
  const entries = (tail) => tools.map((tool) => `      - {tool: ${quoted(tool)}, route: agent, ${tail}}`).join("\n");
  return [
    "manifest: remit.manifest/1",
    "environment: local",
    'policies: [{version: "1"}, {version: "2"}]',
    "cases:",
    "  - id: allowed",
    "    kind: task",
    `    allowed_requests: [${tools.map(quoted).join(", ")}]`,
    "    expect:",
    entries("decision: allow"),
    "  - id: denied",
    "    kind: security",
    "    expect:",
    entries("decision: deny, reason: forbidden, effects: 0"),
    "",
  ].join("\n");
}

async function exercise(server) {
  const place = join(work, server.name);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true, mode: 0o700 });
  server.prepare(place);
  const log = join(place, "tap.bytes");
  const bare = [process.execPath, join(modules, "@modelcontextprotocol", server.script), ...server.arguments(place)];
  const variables = Object.entries(server.environment(place)).map(([key, value]) => `${key}=${value}`);
  const tapped = [process.execPath, tap, log, ...(variables.length ? ["/usr/bin/env", ...variables] : []), ...bare];

  const direct = await connect(bare, server.environment(place));
  const listed = await toolNames(direct);
  await direct.close();

  const guarded = join(place, "guarded");
  execFileSync(remit, ["init", "--directory", guarded, "--server", server.name, "--", ...tapped],
    { stdio: ["ignore", "ignore", "inherit"] });
  const config = join(guarded, "remit.yaml");
  edit(config, (text) => text.replace(/scopes: \[[^\]]*\]/,
    `scopes: ["${server.name}:read", "${server.name}:write", "${server.name}:destructive"]`));
  const stdio = (caseId) => [remit, "stdio", "--config", config, "--run-id", server.name, "--case-id", caseId];

  // Allowed: everything is answered by the server itself.
  const calls = server.calls(place, `mark-${server.name}`);
  const client = await connect(stdio("allowed"), {});
  const governed = await toolNames(client);
  assert.ok(governed.length > 0, "no tool is listed");
  for (const tool of governed) assert.ok(listed.includes(tool), `${tool} is listed and the server has none`);
  const unlisted = listed.filter((tool) => !governed.includes(tool));
  for (const tool of governed) {
    assert.ok(tool in calls, `no arguments are written down for ${tool}`);
    const { result, error, denied } = await call(client, tool, calls[tool]);
    assert.ok(!denied, `${tool} was denied: ${JSON.stringify(result)}`);
    const seen = readFileSync(log, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
    assert.ok(seen.some((message) => message.method === "tools/call" && message.params.name === tool),
      `${tool} did not reach the server: ${error}`);
  }
  await client.close();

  // Denied: the same calls under a policy that forbids them all.
  writeFileSync(join(guarded, "bundle/policies/deny-all.cedar"),
    '@id("deny-all")\nforbid (principal, action, resource);\n', { mode: 0o600 });
  edit(join(guarded, "bundle/bundle.yaml"), (text) => text.replace('version: "1"', 'version: "2"'));
  rmSync(log, { force: true });
  const state = server.state(place);
  const refused = await connect(stdio("denied"), {});
  assert.deepEqual(await toolNames(refused), governed);
  const marked = server.calls(place, `denied-${server.name}`);
  for (const tool of governed) {
    const { result, error, denied } = await call(refused, tool, marked[tool]);
    assert.ok(denied, `${tool} was not denied: ${JSON.stringify(result ?? error)}`);
  }
  await refused.close();
  const bytes = existsSync(log) ? readFileSync(log, "utf8") : "";
  assert.ok(bytes.includes('"initialize"'), "the tap saw nothing at all: it is not in the way");
  for (const trace of ["tools/call", `denied-${server.name}`]) {
    assert.ok(!bytes.includes(trace), `bytes of a denied call reached the server: ${trace}`);
  }
  assert.equal(server.state(place), state, "a denied call had an effect");

  writeFileSync(join(place, "manifest.yaml"), manifest(server.name, governed));
  const grade = JSON.parse(execFileSync(remit,
    ["grade", join(guarded, "evidence"), "--manifest", join(place, "manifest.yaml"), "--format", "json"]));
  assert.equal(grade.gate, "passed");
  for (const [name, verdict] of Object.entries(grade.verdicts)) assert.equal(verdict.value, "passed", name);
  assert.equal(grade.population.allowed, governed.length);
  assert.equal(grade.population.denied, governed.length);
  const rest = unlisted.length ? ` (not listed through the boundary: ${unlisted.join(", ")})` : "";
  console.log(`${server.name}: ${governed.length} tools, each allowed once and denied once${rest}`);
}

for (const server of servers) await exercise(server);
console.log(`${servers.length} passed, 0 failed`);
