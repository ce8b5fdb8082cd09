// The servers under test and what each of their tools is called with. `mark` is a text that occurs nowhere
// else: a call that carries it cannot reach the server unseen.
import { mkdirSync, readFileSync, readdirSync, writeFileSync, existsSync } from "node:fs";
import { join } from "node:path";

// All files below a directory with their contents, as one text to compare.
function snapshot(directory) {
  const lines = [];
  for (const entry of readdirSync(directory, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    lines.push(entry.isFile() ? `${path} ${readFileSync(path, "base64")}` : path);
  }
  return lines.sort().join("\n");
}

export const servers = [
  {
    name: "filesystem",
    script: "server-filesystem/dist/index.js",
    arguments: (place) => [join(place, "files")],
    environment: () => ({}),
    prepare(place) {
      mkdirSync(join(place, "files"), { recursive: true });
      writeFileSync(join(place, "files", "a.txt"), "alpha\nbeta\n");
    },
    state: (place) => snapshot(join(place, "files")),
    calls(place, mark) {
      const at = (name) => join(place, "files", name);
      return {
        read_file: { path: at("a.txt") },
        read_text_file: { path: at("a.txt"), head: 1 },
        read_media_file: { path: at("a.txt") },
        read_multiple_files: { paths: [at("a.txt")] },
        write_file: { path: at(`${mark}.txt`), content: mark },
        edit_file: { path: at("a.txt"), edits: [{ oldText: "alpha", newText: mark }] },
        create_directory: { path: at(`${mark}-directory`) },
        list_directory: { path: at("") },
        list_directory_with_sizes: { path: at("") },
        directory_tree: { path: at("") },
        move_file: { source: at("a.txt"), destination: at(`${mark}-moved.txt`) },
        search_files: { path: at(""), pattern: `*${mark}*` },
        get_file_info: { path: at("") },
        list_allowed_directories: {},
      };
    },
  },
  {
    name: "memory",
    script: "server-memory/dist/index.js",
    arguments: () => [],
    environment: (place) => ({ MEMORY_FILE_PATH: join(place, "memory.jsonl") }),
    prepare() {},
    state: (place) => {
      const file = join(place, "memory.jsonl");
      return existsSync(file) ? readFileSync(file, "utf8") : "absent";
    },
    calls(place, mark) {
      return {
        create_entities: { entities: [{ name: mark, entityType: "thing", observations: ["one"] }] },
        create_relations: { relations: [{ from: mark, to: mark, relationType: "is" }] },
        add_observations: { observations: [{ entityName: mark, contents: ["two"] }] },
        read_graph: {},
        search_nodes: { query: mark },
        open_nodes: { names: [mark] },
        delete_observations: { deletions: [{ entityName: mark, observations: ["two"] }] },
        delete_relations: { relations: [{ from: mark, to: mark, relationType: "is" }] },
        delete_entities: { entityNames: ["nobody", mark] },
      };
    },
  },
  {
    name: "everything",
    script: "server-everything/dist/index.js",
    arguments: () => ["stdio"],
    environment: () => ({}),
    prepare() {},
    state: () => "none",
    calls(place, mark) {
      return {
        echo: { message: mark },
        "get-annotated-message": { messageType: "success" },
        "get-env": {},
        "get-resource-links": { count: 2 },
        "get-resource-reference": { resourceType: "Text", resourceId: 1 },
        "get-structured-content": { location: "Chicago" },
        "get-sum": { a: 2, b: 40 },
        "get-tiny-image": {},
        "gzip-file-as-resource": { name: `${mark}.gz`, data: "data:text/plain,hello", outputType: "resource" },
        "toggle-simulated-logging": {},
        "toggle-subscriber-updates": {},
        "trigger-long-running-operation": { duration: 0.2, steps: 2 },
        "simulate-research-query": { topic: mark },
        "get-roots-list": {},
        "trigger-elicitation-request": {},
        "trigger-sampling-request": { prompt: mark, maxTokens: 5 },
      };
    },
  },
];
