// A tap on a server's standard input: writes every byte down before the server can see it.
//   node tap.mjs LOG COMMAND ARGUMENT...
import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [log, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"] });
process.stdin.on("data", (bytes) => {
  appendFileSync(log, bytes);
  child.stdin.write(bytes);
});
process.stdin.on("end", () => child.stdin.end());
child.stdin.on("error", () => {});
child.on("exit", (code, signal) => process.exit(signal ? 1 : code));
for (const name of ["SIGTERM", "SIGINT"]) process.on(name, () => child.kill(name));
