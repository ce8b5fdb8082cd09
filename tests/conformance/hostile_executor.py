"""An executor that writes without end, dies or refuses as its argument says.

usage: hostile_executor.py mcp|http MODE DIRECTORY
"""

import http.server
import json
import os
import sys

protocol, mode, directory = sys.argv[1:4]
NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}


def say(message):
    print(json.dumps(message), flush=True)


def flood():
    number = 0
    while True:
        number += 1
        if mode == "bytes":
            os.write(1, b"x" * 65536)
        elif mode == "pings":
            say({"jsonrpc": "2.0", "id": number, "method": "ping"})
        else:
            os.write(1, (json.dumps(NOTE) + "\n").encode() * 100)


class Desk(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if mode == "prints":
            for _ in range(64):
                os.write(1, b"x" * 65536)
        body = b"go away\x1b[31m" if mode == "refuses" else b""
        self.send_response(418 if mode == "refuses" else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        if mode == "dies":  # whoever is asked next is another, elsewhere
            self.wfile.flush()
            os._exit(0)

    def log_message(self, *_):
        pass


if protocol == "http":
    server = http.server.HTTPServer(("127.0.0.1", 0), Desk)
    with open(directory + "/url.new", "w") as file:
        file.write(f"http://127.0.0.1:{server.server_port}\n")
    os.rename(directory + "/url.new", directory + "/url")
    server.serve_forever()
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request or "method" not in request:
        continue
    if request["method"] == "tools/call" and mode == "refuses":
        say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32050, "message": "go away\x1b[31m"}})
        continue
    if request["method"] == "tools/call":
        flood()
    result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
              "serverInfo": {"name": "hostile", "version": "1"}} if request["method"] == "initialize" else {"tools": []}
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})
