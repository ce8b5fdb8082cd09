"""Lists the tools that `remit stdio` offers and calls both; a line for each."""
import json
import os
import subprocess
import sys

remit = subprocess.Popen([os.environ["REMIT"], "stdio", "--config", sys.argv[1]], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)


def send(message):
    remit.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    remit.stdin.flush()


def ask(number, method, params):
    send({"id": number, "method": method, "params": params})
    while True:
        answer = json.loads(remit.stdout.readline())
        if answer.get("id") == number:
            return answer.get("result") or answer["error"]


ask(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}})
send({"method": "notifications/initialized"})
print("listed", [tool["name"] for tool in ask(2, "tools/list", {})["tools"]])
for number, name in ((3, "read_file"), (4, "remove_file")):
    answer = ask(number, "tools/call", {"name": name, "arguments": {"path": "p"}})
    meta = answer.get("_meta", {})
    print(name, answer["content"][0]["text"] if not answer.get("isError") else "refused")
remit.stdin.close()
remit.wait()
