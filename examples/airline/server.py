"""The airline as an MCP server over stdio: what an allowed call does to reservations, users and flights.

usage: server.py DATABASE SPY

It believes whoever calls it and checks no rule of the airline's policy: whose a reservation is and whether it may
be cancelled is the boundary's to say. What it refuses is what cannot be done: no seat, no such flight, a balance
that is too small. Each call that reaches it is a line in SPY, `effect.observed` under the invocation id that came
with it, written before anything is done.
"""

import ast
import json
import operator
import sqlite3
import sys
from pathlib import Path

NOW = "2024-05-15T15:00:00"
NOW_MS = 1715803200000
BAG, INSURANCE = 50, 30
NEW_RESERVATIONS = ("HATHAT", "HATHAU", "HATHAV")
NEW_CERTIFICATES = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
SCHEMAS = Path(__file__).parent / "bundle" / "schemas"
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
              ast.USub: operator.neg, ast.UAdd: operator.pos}


class Refused(Exception):
    """What cannot be done; nothing of it is."""


class Airline:
    def __init__(self, path):
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.row_factory = sqlite3.Row

    def rows(self, query, *values):
        return [dict(row) for row in self.database.execute(query, values)]

    def one(self, query, *values):
        found = self.rows(query, *values)
        if not found:
            raise Refused("nothing of that name")
        return found[0]

    # What only reads.

    def get_user_details(self, user_id):
        user = self.one("select id, membership, profile from users where id = ?", user_id)
        held = self.rows("select id, kind, amount from payment_methods where user_id = ?", user_id)
        return {**json.loads(user["profile"]), "membership": user["membership"], "payment_methods": held,
                "reservations": [row["id"] for row in
                                 self.rows("select id from reservations where user_id = ?", user_id)]}

    def get_reservation_details(self, reservation_id):
        return {**self.one("select * from reservations where id = ?", reservation_id),
                "flights": self.flights_of(reservation_id), "passengers": self.passengers_of(reservation_id)}

    def search_direct_flight(self, origin, destination, date):
        return self.rows("select distinct legs.number, date from legs join fares on legs.number = fares.number"
                         " where origin = ? and destination = ? and date = ?", origin, destination, date)

    def search_onestop_flight(self, origin, destination, date):
        return self.rows("select first.number, second.number as then_number, first.destination as by"
                         " from legs first join legs second on first.destination = second.origin"
                         " where first.origin = ? and second.destination = ? and exists (select 1 from fares"
                         " where number = first.number and date = ?)", origin, destination, date)

    def list_all_airports(self):
        return [row["origin"] for row in self.rows("select distinct origin from legs order by origin")]

    def calculate(self, expression):
        def value(node):
            if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
                return node.value
            if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
                return OPERATIONS[type(node.op)](value(node.left), value(node.right))
            if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
                return OPERATIONS[type(node.op)](value(node.operand))
            raise Refused("no sum")

        try:
            return value(ast.parse(expression, mode="eval").body)
        except (SyntaxError, ZeroDivisionError) as error:
            raise Refused("no sum") from error

    def think(self, thought):
        return ""

    def transfer_to_human_agents(self, summary):
        return "Transfer successful"

    # What writes.

    def book_reservation(self, user_id, cabin, flights, passengers, payment_methods, total_baggages,
                         nonfree_baggages, insurance, origin, destination, flight_type):
        self.one("select id from users where id = ?", user_id)
        heads = len(passengers)
        priced = [self.fare(flight, cabin, heads) for flight in flights]
        total = heads * (sum(priced) + (INSURANCE if insurance == "yes" else 0)) + BAG * nonfree_baggages
        paid = sum(method["amount"] for method in payment_methods)
        for method in payment_methods:
            self.covers(method["payment_id"], method["amount"])
        if paid != total:
            raise Refused(f"payment amount does not add up, total price is {total}, but paid {paid}")
        for method in payment_methods:
            self.take(method["payment_id"], method["amount"])
        new = self.unused(NEW_RESERVATIONS, "reservations")
        self.database.execute("insert into reservations values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', 1)",
                              (new, user_id, origin, destination, flight_type, cabin, insurance, NOW_MS,
                               total_baggages, nonfree_baggages))
        self.set_flights(new, zip(flights, priced))
        self.set_passengers(new, passengers)
        return self.get_reservation_details(new)

    def cancel_reservation(self, reservation_id):
        self.touch(reservation_id, status="cancelled")
        return self.get_reservation_details(reservation_id)

    def update_reservation_flights(self, reservation_id, cabin, flights, payment_id):
        old = self.one("select * from reservations where id = ?", reservation_id)
        heads = len(self.passengers_of(reservation_id))
        before = {(row["number"], row["date"]): row["price"] for row in self.flights_of(reservation_id)}
        priced = []
        for flight in flights:
            kept = before.get((flight["flight_number"], flight["date"]))
            priced.append(kept if kept is not None and cabin == old["cabin"] else self.fare(flight, cabin, heads))
        self.charge(payment_id, heads * (sum(priced) - sum(before.values())))
        self.touch(reservation_id, cabin=cabin)
        self.set_flights(reservation_id, zip(flights, priced))
        return self.get_reservation_details(reservation_id)

    def update_reservation_baggages(self, reservation_id, total_baggages, nonfree_baggages, payment_id):
        old = self.one("select * from reservations where id = ?", reservation_id)
        self.charge(payment_id, BAG * max(0, nonfree_baggages - old["nonfree_baggages"]))
        self.touch(reservation_id, total_baggages=total_baggages, nonfree_baggages=nonfree_baggages)
        return self.get_reservation_details(reservation_id)

    def update_reservation_passengers(self, reservation_id, passengers):
        if len(passengers) != len(self.passengers_of(reservation_id)):
            raise Refused("number of passengers does not match")
        self.touch(reservation_id)
        self.set_passengers(reservation_id, passengers)
        return self.get_reservation_details(reservation_id)

    def send_certificate(self, user_id, amount):
        new = self.unused(NEW_CERTIFICATES, "payment_methods")
        self.database.execute("insert into payment_methods values (?, ?, 'certificate', ?)", (new, user_id, amount))
        return f"Certificate {new} added to user {user_id} with amount {amount}."

    # The parts of both.

    def flights_of(self, reservation):
        return self.rows("select number, date, price from reservation_flights where reservation_id = ?"
                         " order by position", reservation)

    def passengers_of(self, reservation):
        return self.rows("select first_name, last_name, dob from passengers where reservation_id = ?"
                         " order by position", reservation)

    def set_flights(self, reservation, priced):
        self.database.execute("delete from reservation_flights where reservation_id = ?", (reservation,))
        self.database.executemany("insert into reservation_flights values (?, ?, ?, ?, ?)",
                                  [(reservation, at, flight["flight_number"], flight["date"], price)
                                   for at, (flight, price) in enumerate(priced, 1)])

    def set_passengers(self, reservation, passengers):
        self.database.execute("delete from passengers where reservation_id = ?", (reservation,))
        self.database.executemany("insert into passengers values (?, ?, ?, ?, ?)",
                                  [(reservation, at, one["first_name"], one["last_name"], one["dob"])
                                   for at, one in enumerate(passengers, 1)])

    def touch(self, reservation, **columns):
        for name, value in {**columns}.items():
            self.database.execute(f"update reservations set {name} = ? where id = ?", (value, reservation))
        self.database.execute("update reservations set revision = revision + 1 where id = ?", (reservation,))

    def fare(self, flight, cabin, heads):
        found = self.rows("select price, seats from fares where number = ? and date = ? and cabin = ?",
                          flight["flight_number"], flight["date"], cabin)
        if not found:
            raise Refused(f"flight {flight['flight_number']} not available on date {flight['date']}")
        if found[0]["seats"] < heads:
            raise Refused(f"not enough seats on flight {flight['flight_number']}")
        return found[0]["price"]

    def covers(self, payment, amount):
        held = self.one("select kind, amount from payment_methods where id = ?", payment)
        if held["kind"] != "credit_card" and held["amount"] < amount:
            raise Refused(f"not enough balance in payment method {payment}")

    def take(self, payment, amount):
        """A gift card keeps the rest, a certificate does not, and a credit card has no balance here."""
        self.database.execute("delete from payment_methods where id = ? and kind = 'certificate'", (payment,))
        self.database.execute("update payment_methods set amount = amount - ? where id = ? and kind = 'gift_card'",
                              (amount, payment))

    def charge(self, payment, amount):
        self.covers(payment, amount)
        if amount != 0:
            self.take(payment, amount)

    def unused(self, names, table):
        taken = {row["id"] for row in self.rows(f"select id from {table}")}
        for name in names:
            if name not in taken:
                return name
        raise Refused("no more of these can be made")


def tools():
    return [{"name": path.stem, "description": path.stem.replace("_", " "),
             "inputSchema": json.loads(path.read_text())} for path in sorted(SCHEMAS.glob("*.json"))]


def observe(spy, params):
    meta = params.get("_meta", {})
    event = {"event": "effect.observed",
             "invocation_id": meta.get("io.remit/invocation-id", f"unasked-{spy.tell()}"),
             "run_id": meta.get("io.remit/run-id"), "case_id": meta.get("io.remit/case-id"),
             "tool": params["name"], "source": "airline.spy", "effects": 1}
    spy.write(json.dumps({key: value for key, value in event.items() if value is not None}) + "\n")
    spy.flush()


def called(airline, spy, params):
    observe(spy, params)
    airline.database.execute("begin immediate")
    try:
        result = getattr(airline, params["name"])(**params.get("arguments", {}))
    except Refused as error:
        airline.database.execute("rollback")
        return {"content": [{"type": "text", "text": f"Error: {error}"}], "isError": True}
    airline.database.execute("commit")
    return {"content": [{"type": "text", "text": json.dumps(result)}]}


def answer(airline, spy, message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "airline", "version": "1"}}
    if method == "tools/list":
        return {"tools": tools()}
    if method == "tools/call":
        return called(airline, spy, params)
    return {}


def main(path, spy_path):
    airline = Airline(path)
    with open(spy_path, "a", encoding="utf-8") as spy:
        for line in sys.stdin:
            message = json.loads(line)
            if "id" in message:
                print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                                  "result": answer(airline, spy, message)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
