"""An MCP server over stdio with two tools and, as with most servers, no annotations."""
import json
import sys

TOOLS = [{"name": name, "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}},
                                        "required": ["path"]}} for name in ("read_file", "remove_file")]
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "files", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": TOOLS}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "did " + message["params"]["name"]}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
