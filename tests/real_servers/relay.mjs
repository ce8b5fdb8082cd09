// An MCP server of the official SDK that passes what it is asked to the server behind it, by the SDK's client.
// Before `remit stdio` and behind it, it makes both of its neighbours real ones.
//   node relay.mjs MODULES COMMAND…
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, ...command] = process.argv.slice(2);
const sdk = (path) => import(pathToFileURL(join(resolve(modules), "@modelcontextprotocol/sdk/dist/esm", path)));
const { Client } = await sdk("client/index.js");
const { StdioClientTransport } = await sdk("client/stdio.js");
const { Server } = await sdk("server/index.js");
const { StdioServerTransport } = await sdk("server/stdio.js");
const types = await sdk("types.js");

const client = new Client({ name: "relay", version: "1.0.0" }, { capabilities: {} });
const server = new Server({ name: "relay", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(types.ListToolsRequestSchema, (request) => client.listTools(request.params));
server.setRequestHandler(types.CallToolRequestSchema, (request) => client.callTool(request.params));

// Whoever asks is told nothing that the server behind has not said: where it ends, so does the relay.
client.onclose = () => process.exit(0);
await client.connect(new StdioClientTransport({
  command: command[0], args: command.slice(1), env: process.env, stderr: "inherit",
}));
// The end comes from the front: the server behind is given time to write its record.
process.stdin.on("end", () => client.close());
await server.connect(new StdioServerTransport());
