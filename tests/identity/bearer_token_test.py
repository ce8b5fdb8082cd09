"""Who calls is who a token says (spec/identity.md), through `remit stdio`.

usage: bearer_token_test.py BINARIES

Keys, certificates and signatures are made by the openssl program and put together here, so that nothing of
ours has a hand in them. The issuer is Python's server behind Python's TLS. No test measures time: each waits for
what is to come.
"""

import base64
import contextlib
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

BINARIES = Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None
STDIO = Path(__file__).resolve().parents[1] / "stdio"
PATIENCE = 120
ISSUER = "https://id.example/"


def openssl(*words, given=None):
    return subprocess.run(["openssl", *map(str, words)], input=given, check=True, capture_output=True).stdout


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def json_part(value):
    return base64url(json.dumps(value).encode())


class Key:
    """The private key of an issuer, in a file."""

    def __init__(self, folder, algorithm, kid):
        self.algorithm, self.kid = algorithm, kid
        self.file = Path(folder) / f"{kid}.pem"
        kind = {"RS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
                "ES256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
                "EdDSA": ["ED25519"]}[algorithm]
        openssl("genpkey", "-algorithm", *kind, "-out", self.file)

    def jwk(self):
        named = {"kid": self.kid, "alg": self.algorithm, "use": "sig"}
        public = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")
        if self.algorithm == "EdDSA":
            return {**named, "kty": "OKP", "crv": "Ed25519", "x": base64url(public[-32:])}
        if self.algorithm == "ES256":
            return {**named, "kty": "EC", "crv": "P-256", "x": base64url(public[-64:-32]),
                    "y": base64url(public[-32:])}
        modulus = openssl("rsa", "-in", self.file, "-noout", "-modulus").decode().strip().split("=")[1]
        return {**named, "kty": "RSA", "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}

    def sign(self, data):
        if self.algorithm == "EdDSA":
            with tempfile.NamedTemporaryFile() as file:
                file.write(data)
                file.flush()
                return openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", file.name)
        signature = openssl("dgst", "-sha256", "-sign", self.file, given=data)
        return raw_pair(signature) if self.algorithm == "ES256" else signature

    def token(self, **changes):
        claims = {"iss": ISSUER, "aud": ["desk"], "sub": "ana", "exp": int(time.time()) + 3600, "tenant": "tenant-a",
                  "class": "support_agent", "scope": "act note:read", "jti": "t-1", **changes}
        content = json_part({"alg": self.algorithm, "kid": self.kid, "typ": "JWT"}) + "." + json_part(claims)
        return content + "." + base64url(self.sign(content.encode()))


def raw_pair(der):
    """R and S side by side, of an ECDSA signature in DER."""
    out, at = b"", 2
    for _ in range(2):
        size = der[at + 1]
        number = int.from_bytes(der[at + 2:at + 2 + size], "big")
        out += number.to_bytes(32, "big")
        at += 2 + size
    return out


class Issuer:
    """A server of keys over TLS, with a certificate of an authority of its own; does what `mode` says."""

    def __init__(self, folder):
        self.folder, self.mode, self.keys, self.asked = Path(folder), "good", [], 0
        self.ending = threading.Event()
        name = self.folder / "authority"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=authority", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        self.authority = Path(f"{name}.pem")
        (self.folder / "names").write_text("subjectAltName=DNS:localhost\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server",
                "-keyout", self.folder / "server.key", "-out", self.folder / "server.csr")
        openssl("x509", "-req", "-in", self.folder / "server.csr", "-CA", self.authority, "-CAkey", f"{name}.key",
                "-CAcreateserial", "-days", "2", "-extfile", self.folder / "names", "-out",
                self.folder / "server.pem")
        issuer = self

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                issuer.answer(self)

            def log_message(self, *_):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a client that left

        self.server = Quiet(("127.0.0.1", 0), Answers)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.pem", self.folder / "server.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.ending.set()
        self.server.shutdown()
        self.server.server_close()

    def url(self):
        return f"https://localhost:{self.server.server_port}/jwks.json"

    def answer(self, request):
        self.asked += 1
        mode = self.mode
        body = json.dumps({"keys": [key.jwk() for key in self.keys]}).encode()
        if mode == "hang":
            self.ending.wait()
            return
        if mode == "lie":
            body = body[:-2]
        if mode == "page":
            body = b"<!doctype html><title>Log in</title>"
        if mode == "huge":
            body = body[:-1] + b" " * (4 << 20) + b"}"
        if mode == "moved":
            request.send_response(302)
            request.send_header("Location", self.url())
        else:
            request.send_response(500 if mode == "broken" else 200)
        request.send_header("Content-Type", "application/jwk-set+json")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body[:20] if mode == "cut" else body)
        request.close_connection = True


class Session:
    """A client of `remit stdio` with a token in its environment."""

    def __init__(self, folder, token):
        environment = {k: v for k, v in os.environ.items() if k != "DESK_TOKEN"}
        if token is not None:
            environment["DESK_TOKEN"] = token
        self.folder, self.number = folder, 0
        self.errors = open(folder / "errors", "w+")
        self.remit = subprocess.Popen([BINARIES / "remit", "stdio", "--config", "remit.yaml"], cwd=folder, text=True,
                                      env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=self.errors)
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "c", "version": "1"}})

    def ask(self, method, params):
        self.number += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        self.remit.stdin.write(line + "\n")
        self.remit.stdin.flush()
        while True:
            answer = json.loads(self.remit.stdout.readline())
            if answer.get("id") == self.number:
                return answer["result"]

    def call(self, tool="fake.act", **arguments):
        """`done`, or the recorded reason of the denial."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments or {"do": "echo"}})
        if not result.get("isError"):
            return "done"
        reason = [event["reason"] for event in self.events() if "reason" in event][-1]
        told = result["structuredContent"]["code"]
        assert told == ("unauthenticated" if reason.endswith("_identity") else reason), (told, reason)
        return reason

    def tools(self):
        return sorted(tool["name"] for tool in self.ask("tools/list", {})["tools"])

    def end(self):
        self.remit.stdin.close()
        assert self.remit.wait(PATIENCE) == 0, self.told()
        self.remit.stdout.close()
        self.errors.close()

    def told(self):
        return (self.folder / "errors").read_text()

    def events(self):
        out = []
        for path in sorted((self.folder / "evidence").glob("writer-*/*.jsonl")):
            out += [json.loads(line) for line in path.read_text().splitlines()]
        return out


class BearerTokens(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="remit-jwt.")))
        self.keys = self.folder / "keys"
        self.keys.mkdir()
        self.key = Key(self.keys, "ES256", "k1")
        self.world = self.folder / "world"
        shutil.copytree(STDIO / "world", self.world)
        command = json.dumps(["/usr/bin/env", "python3", str(STDIO / "fake_server.py")])
        text = (self.world / "remit.yaml").read_text().replace("@LIMITS@", "")
        self.config = text.replace("@UPSTREAMS@", f"  - {{name: fake, stdio: {{command: {command}}}}}")
        self.put("digest.key", "0123456789abcdef0123456789abcdef")

    def put(self, name, text):
        (self.world / name).write_text(text)
        for path in [self.world, *self.world.rglob("*")]:
            path.chmod(path.stat().st_mode & ~0o077)

    def identity(self, keys, more=""):
        lines = self.config.splitlines(keepends=True)
        at = lines.index("identity:\n")
        jwt = f'  jwt: {{issuer: "{ISSUER}", audiences: [desk], token_from_env: DESK_TOKEN, keys: {keys}{more}}}\n'
        self.put("remit.yaml", "".join(lines[:at + 1]) + jwt + "".join(lines[at + 3:]))

    def key_file(self, *keys):
        self.put("jwks.json", json.dumps({"keys": [key.jwk() for key in keys]}))

    def remote(self, timeout_ms=60_000):
        issuer = Issuer(self.keys)
        self.addCleanup(issuer.close)
        issuer.keys = [self.key]
        shutil.copy(issuer.authority, self.world / "ca.pem")
        self.identity(f'{{url: "{issuer.url()}", trust: ca.pem, timeout_ms: {timeout_ms}}}')
        return issuer

    @contextlib.contextmanager
    def session(self, token):
        session = Session(self.world, token)
        try:
            yield session
        finally:
            session.end()
        if token and len(token) > 8:
            self.assertNotIn(token, session.told())

    def comes_to(self, session, wanted):
        until = time.monotonic() + PATIENCE
        while session.call() != wanted:
            self.assertLess(time.monotonic(), until, f"never {wanted}: {session.told()}")
            time.sleep(0.05)

    def test_each_kind_of_key(self):
        """REQ-ID-002, REQ-ID-020: and no trace of the token in evidence."""
        keys = [self.key, Key(self.keys, "RS256", "k2"), Key(self.keys, "EdDSA", "k3")]
        self.key_file(*keys)
        self.identity("{file: jwks.json}")
        for key in keys:
            token = key.token(act={"sub": "agent-7"})
            with self.session(token) as session:
                self.assertEqual(session.call(), "done")
                self.assertEqual(session.call("note.read", note="mine"), "done")
                self.assertNotIn("note.write", session.tools())
                self.assertEqual(session.call("note.write", note="mine"), "missing_scope")
                self.assertIn('scopes are given in the token, "scope"', session.told())
        lines = "".join(path.read_text() for path in (self.world / "evidence").rglob("*.jsonl"))
        for trace in [token, *token.split("."), "t-1", "agent-7", '"ana"', ISSUER]:
            self.assertNotIn(trace, lines)
        decided = [event for event in session.events() if "principal_revision" in event]
        revisions = {event["principal_revision"] for event in decided}
        self.assertEqual(len(revisions), 3, "one for each key")
        self.assertTrue(all(revision.startswith("sha256:") for revision in revisions))
        self.assertEqual({event["principal_tenant"] for event in decided}, {"tenant-a"})

    def test_tokens_that_are_none(self):
        """REQ-ID-015, REQ-ID-030."""
        self.key_file(self.key)
        self.identity("{file: jwks.json}")
        stranger = Key(self.folder, "ES256", "k1")
        for token, code in [(None, "missing_identity"), ("", "missing_identity"), ("x", "invalid_identity"),
                            (stranger.token(), "invalid_identity"),
                            (self.key.token(iss=ISSUER + "x"), "invalid_identity"),
                            (self.key.token(aud="other"), "invalid_identity"),
                            (self.key.token(exp=str(int(time.time()) + 60)), "invalid_identity"),
                            (self.key.token(exp=int(time.time()) - 60), "expired_identity")]:
            with self.session(token) as session:
                self.assertEqual(session.call(), code, token)
                self.assertEqual(session.tools(), [])
        told = session.told().splitlines()
        self.assertTrue(told[0].startswith('remit: calls are denied for the token in "DESK_TOKEN": expired: '), told)

    def test_what_is_taken_back_counts_on_the_next_call(self):
        """REQ-ID-014, REQ-ID-020."""
        self.key_file(self.key)
        self.put("revoked.yaml", "revocations: remit.revocations/1\n")
        self.identity("{file: jwks.json}", ", revocations: revoked.yaml")
        with self.session(self.key.token()) as session:
            self.assertEqual(session.call(), "done")
            self.put("revoked.yaml", "revocations: remit.revocations/1\ntokens: [t-1]\n")
            self.assertEqual(session.call(), "expired_identity")
            self.put("revoked.yaml", "revocations: remit.revocations/1\ntokens: [t-2]\n")
            self.assertEqual(session.call(), "done")
            self.put("jwks.json", '{"keys": []}')
            self.assertEqual(session.call(), "invalid_identity")
            self.key_file(self.key)
            self.assertEqual(session.call(), "done")

    def test_an_issuer_over_tls(self):
        """REQ-ID-021."""
        issuer = self.remote()
        with self.session(self.key.token()) as session:
            for _ in range(5):
                self.assertEqual(session.call(), "done")
            self.assertEqual(issuer.asked, 1)

    def test_an_issuer_that_fails_at_first(self):
        """REQ-ID-021: denied until it answers, told to the operator, and asked again."""
        issuer = self.remote(timeout_ms=3000)  # for the mode that hangs
        for mode in ["broken", "moved", "lie", "page", "huge", "cut", "hang"]:
            with self.subTest(mode):
                issuer.mode = mode
                with self.session(self.key.token()) as session:
                    self.assertEqual(session.call(), "invalid_identity")
                    self.assertIn('calls are denied for the token in "DESK_TOKEN": invalid: ', session.told())
                    issuer.mode = "good"
                    self.comes_to(session, "done")

    def test_an_issuer_whom_nobody_vouches_for(self):
        issuer = self.remote()
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", "/CN=other", "-keyout", self.keys / "other.key", "-out", self.world / "ca.pem")
        self.put("notes", "")
        with self.session(self.key.token()) as session:
            self.assertEqual(session.call(), "invalid_identity")
            self.assertIn("the certificate is not trusted", session.told())
        self.assertEqual(issuer.asked, 0)

    def test_a_key_that_is_new(self):
        """REQ-ID-022: the first token of a new key makes the set be fetched."""
        issuer = self.remote()
        issuer.keys = [Key(self.keys, "EdDSA", "k0")]
        with self.session(self.key.token()) as session:
            self.assertEqual(session.call(), "invalid_identity")
            issuer.keys.append(self.key)
            self.comes_to(session, "done")
            self.assertEqual(issuer.asked, 2)

    def test_deferred_work_has_names_and_no_token(self):
        """REQ-QU-041: a token is nobody's who is not there; the directory says who is."""
        issuer = self.remote()
        (self.world / "remit.yaml").write_text((self.world / "remit.yaml").read_text().replace(
            "identity:\n", "state: {sqlite: state.db}\nidentity:\n  directory: directory.yaml\n"))
        bundle = self.world / "bundle" / "bundle.yaml"
        bundle.write_text(bundle.read_text() + "".join(
            f"  - {{name: {name}, transport: queue}}\n" for name in ("queued", "scheduled", "retry")))
        self.put("directory.yaml", "directory: remit.directory/1\nprincipals:\n  - {subject: nightly, "
                                   "tenant: tenant-a, class: batch, scopes: [act]}\n")
        self.put("arguments.json", '{"do": "echo"}')

        def queue(*words):
            return subprocess.run([BINARIES / "remit", "queue", *words, "--config", "remit.yaml"], cwd=self.world,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)

        def enqueue(name):
            return queue("enqueue", "--tool", "fake.act", "--arguments", "arguments.json", "--principal", name)

        self.assertNotEqual(enqueue("ana").returncode, 0)
        row = enqueue("nightly")
        self.assertEqual(row.returncode, 0, row.stderr)
        worked = queue("work", "--until-idle")
        self.assertEqual(worked.returncode, 0, worked.stderr)
        shown = json.loads(queue("show", row.stdout.strip(), "--format", "json").stdout)
        self.assertEqual(shown["state"], "succeeded", shown)
        self.assertEqual(issuer.asked, 0, "nobody asks for keys where there is no token")

    def test_configurations_that_cannot_work(self):
        self.key_file(self.key)
        for keys, told in [('{url: "http://localhost/jwks.json"}', "keys are fetched over https:// alone"),
                           ('{url: "https://u:p@localhost/"}', "remit.yaml:4:"), ("{file: digest.key}", "digest.key"),
                           ("{file: gone.json}", "gone.json")]:
            self.identity(keys)
            ran = subprocess.run([BINARIES / "remit", "stdio", "--config", "remit.yaml"], cwd=self.world, text=True,
                                 env={**os.environ, "DESK_TOKEN": "x"}, stdin=subprocess.DEVNULL,
                                 capture_output=True, timeout=PATIENCE)
            self.assertNotEqual(ran.returncode, 0, keys)
            self.assertIn(told, ran.stderr)
            self.assertFalse((self.world / "evidence").exists(), "nothing is written before all is right")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[1:])
