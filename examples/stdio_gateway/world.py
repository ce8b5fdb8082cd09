"""The world of a conformance trial for `remit stdio`: bundle, configurations, stores, approvals.

A driver (remit.driver/1) that makes no calls: the runner makes them by MCP, and reads the evidence itself.
Whoever may call is pinned in a configuration; the others come with a token that is forged, expired or not there.
The openssl program signs.
TOOL_WRAPPER has words to put before the tool's command, for something that is to stand between gateway and tool.
"""

import base64
import hmac
import json
import os
import shlex
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

KEY = b"a digest key that only this example has"
SCHEMA = """
entity Principal = {"tenant": String, "class": String, "scopes": Set<String>, "on_behalf_of"?: String};
entity Server = {"tenant": String};
entity Invoice = {"tenant": String};
"""
ACTION = """
action "%s" appliesTo {principal: [Principal], resource: [Invoice], context: {"route": String,
  "environment": String, "now": datetime, "approval": {"state": String, "id"?: String}, "arguments": {}}};
"""
TENANTS = """
@id("tenant-isolation") @reason("tenant_mismatch")
forbid(principal, action, resource) unless {resource has tenant && principal.tenant == resource.tenant};
"""
PERMIT = """
@id("permit-%s") permit(principal, action in [%s], resource) when {principal.class == "%s"};
"""
CLAIMS = {"iss": "https://id.example/", "aud": "desk", "exp": 4102444800}
QUERY = "select id, tenant, revision from invoices where reference = :ref"


class World:
    def hello(self, _):
        return {"protocol": "remit.driver/1", "routes": ["agent"], "faults": [],
                "subject": {"name": "remit stdio"},
                "offers": [name[3:] for name in dir(self) if name.startswith("do_")]}

    def setup(self, request):
        self.directory, self.spy = Path(request["directory"]), request["spy"]
        self.tool = shlex.split(os.environ.get("TOOL_WRAPPER", "")) + self.spy["command"]
        self.fixture = request["fixture"]
        self.approvals = {}
        self.write("digest.key", KEY.decode())
        with sqlite3.connect(self.directory / "invoices.db") as database:
            database.execute("create table invoices (reference text primary key, id, tenant, revision)")
        (self.directory / "invoices.db").chmod(0o600)
        for name, resource in self.fixture["resources"].items():
            self.do_set_resource({"name": name, "resource": resource})
        self.write_bundle(self.fixture["policy"])
        for name, principal in self.fixture["principals"].items():
            self.do_set_principal({"name": name, "principal": principal})
        for name, approval in self.fixture["approvals"].items():
            self.approve(name, approval)
        return {"principals": {name: self.reference(name) for name in self.fixture["principals"]},
                "credentials": self.write_tokens()}

    @staticmethod
    def reference(name):
        return "hmac-sha256:" + hmac.new(KEY, name.encode(), "sha256").hexdigest()

    def write(self, name, text):
        path = self.directory / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)

    def write_bundle(self, policy):
        tools = []
        for name, tool in self.fixture["tools"].items():
            self.write(f"bundle/schemas/{name}.json", json.dumps(tool["arguments"]))
            tools.append({
                "name": name, "upstream": {"server": "spy", "tool": name}, "effect": tool["effect"],
                "scopes": tool["scopes"], "arguments": f"schemas/{name}.json",
                "resources": [{**one, "argument": "/" + one["argument"]} for one in tool["resources"]],
                "approval": tool.get("approval", "none"), "idempotency": tool.get("idempotency", "key_optional")})
        self.write("bundle/catalogue.yaml", json.dumps({"catalogue": "remit.catalogue/1", "tools": tools}))
        routes = [{"name": "agent", "transport": "stdio"}]
        self.write("bundle/bundle.yaml", json.dumps({"bundle": "remit.bundle/1", "version": policy["version"],
                                                     "environment": "test", "routes": routes}))
        self.write("bundle/schema.cedarschema",
                   SCHEMA + "".join(ACTION % name for name in self.fixture["tools"]))
        permits = [PERMIT % (who, ", ".join(f'Action::"{tool}"' for tool in tools), who)
                   for who, tools in policy["permits"].items()]
        self.write("bundle/policies/policies.cedar", TENANTS + "".join(permits))

    def write_tokens(self):
        """A key that the gateway knows and one that it does not, and what each signed, by caller."""
        ours, theirs = self.make_key("ours"), self.make_key("theirs")
        public = subprocess.run(["openssl", "pkey", "-in", ours, "-pubout", "-outform", "DER"], check=True,
                                stdout=subprocess.PIPE).stdout
        key = {"kty": "OKP", "crv": "Ed25519", "kid": "k1", "x": self.base64url(public[-32:])}
        self.write("jwks.json", json.dumps({"keys": [key]}))
        facts = {name: {"sub": name, "tenant": principal["tenant"], "class": principal["class"],
                        "scope": " ".join(principal["scopes"])}
                 for name, principal in self.fixture["principals"].items()}
        self.write_config("nobody.yaml", None, "evidence")
        return {"mallory": self.token(theirs, facts["mallory"]),
                "oscar": self.token(ours, {**facts["oscar"], "exp": 1})}

    def make_key(self, name):
        path = self.directory / f"{name}.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ED25519", "-out", path], check=True)
        return path

    @staticmethod
    def base64url(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    def token(self, key, facts):
        parts = [{"alg": "EdDSA", "kid": "k1"}, {**CLAIMS, **facts}]
        content = ".".join(self.base64url(json.dumps(part).encode()) for part in parts)
        self.write("content", content)
        signature = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key,
                                    "-in", self.directory / "content"], check=True, stdout=subprocess.PIPE).stdout
        return content + "." + self.base64url(signature)

    def write_config(self, name, principal, evidence):
        if principal and principal["state"] == "authenticated":
            facts = {key: principal[key] for key in ("tenant", "class", "scopes", "revision")}
            identity = {"pinned": {"principal": {"subject": name.split(".")[0], **facts}}}
        else:
            identity = {"jwt": {"issuer": CLAIMS["iss"], "audiences": [CLAIMS["aud"]], "keys": {"file": "jwks.json"},
                                "token_from_env": "DESK_TOKEN"}}
        self.write(name, json.dumps({
            "config": "remit.config/1", "bundle": "bundle", "identity": identity,
            "attributes": [{"type": "Invoice", "source": "invoices",
                            "sqlite": {"path": "invoices.db", "query": QUERY}}],
            "upstreams": [{"name": "spy", "stdio": {"command": self.tool}}],
            "evidence": {"directory": evidence, "digest_key": "digest.key"}, "state": {"sqlite": "state.db"}}))

    def approve(self, name, approval):
        """As it happens: the call is made and refused, and a person grants what it asked for. Of that no
        evidence is left in the trial's own directory."""
        who = approval["principal"]
        self.write_config(f"{who}.asks.yaml", self.fixture["principals"][who], "asked")
        asked = self.ask(self.directory / f"{who}.asks.yaml", approval["tool"], approval["arguments"])
        granted = self.remit("approvals", "grant", "--config", self.directory / f"{who}.yaml", asked["request"],
                             "--by", "carol", "--reason", "the case says so",
                             "--expires", "1s" if approval["state"] == "expired" else "15m")
        self.approvals[name] = (who, granted.split()[1])
        if approval["state"] == "expired":
            time.sleep(1.1)
        if approval["state"] == "revoked":
            self.do_revoke_approval({"approval": name})

    def ask(self, config, tool, arguments):
        call = {"name": tool, "arguments": arguments, "_meta": {"io.remit/idempotency-key": "asks"}}
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "w", "version": "1"}}
        with subprocess.Popen([self.spy["command"][0], "stdio", "--config", config], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as gateway:
            for line in ({"id": 1, "method": "initialize", "params": client}, {"method": "notifications/initialized"},
                         {"id": 2, "method": "tools/call", "params": call}):
                print(json.dumps({"jsonrpc": "2.0", **line}), file=gateway.stdin, flush=True)
                answer = json.loads(gateway.stdout.readline()) if "id" in line else None
            gateway.stdin.close()
        return json.loads(answer["result"]["content"][0]["text"])

    def remit(self, *words):
        return subprocess.run([self.spy["command"][0], *words], text=True, check=True, stdout=subprocess.PIPE).stdout

    def step(self, request):
        """Whatever a step returns is true where the gateway, which reads it when it starts, must start anew."""
        return {"restart": bool(getattr(self, "do_" + request["do"])(request))}

    def do_set_policy(self, request):
        self.write_bundle(request["policy"])
        return True

    def do_set_principal(self, request):
        self.write_config(request["name"] + ".yaml", request["principal"], "evidence")
        return True

    def do_set_resource(self, request):
        found = request["resource"]
        with sqlite3.connect(self.directory / "invoices.db") as database:
            database.execute("insert or replace into invoices values (?, ?, ?, ?)",
                             (request["name"], found["id"], found["tenant"], found["revision"]))

    def do_revoke_approval(self, request):
        who, granted = self.approvals[request["approval"]]
        self.remit("approvals", "revoke", "--config", self.directory / f"{who}.yaml", granted, "--by", "carol",
                   "--reason", "the case says so")

    def do_take_down(self, request):
        self.turn(request["part"], "invoices", "away")

    def do_bring_up(self, request):
        self.turn(request["part"], "away", "invoices")
        return request["part"] == "evidence"  # a log that failed stays failed

    def turn(self, part, old, new):
        if part == "resolver":
            with sqlite3.connect(self.directory / "invoices.db") as database:
                database.execute(f"alter table {old} rename to {new}")
        else:
            here, away = self.directory / "evidence", self.directory / "evidence.away"
            (here if new == "away" else away).rename(away if new == "away" else here)

    def reset(self, _):
        return {}


world = World()
for text in sys.stdin:
    asked = json.loads(text)
    try:
        reply = {"id": asked["id"], "ok": getattr(world, asked["op"])(asked)}
    except Exception as error:  # a fault of the harness, which the runner tells apart
        reply = {"id": asked["id"], "error": {"message": f"{type(error).__name__}: {error}"}}
    print(json.dumps(reply), flush=True)
