"""Makes what a replay of the airline's recorded runs needs, out of tau-bench's files.

usage: make_world.py DATA DIRECTORY

DATA holds users.json, reservations.json and trajectories.json. DIRECTORY, which is made, gets
  bundle/         the policy, a copy of the one beside this program
  fresh.db        users, payment methods, reservations and flights: the trusted store before a run
  remit.yaml      the configuration, over airline.db beside it, which each run gets anew from fresh.db
  directory.yaml  an agent for each customer: principals that a run may be given
  callers.yaml    who calls in each recorded run: the agent of the customer whom the task names
  swapped.yaml    the same runs, each with the agent of somebody else
  expected.jsonl  what the benchmark itself expects of each task, as runs of their own
  check.yaml      who calls in those
  digest.key

The benchmark's table of flights is not among its files here. Fares and seats are those that recorded searches
showed, and where none did, those that recorded bookings paid; a flight that is in neither cannot be booked in this
world.
"""

import json
import os
import re
import secrets
import shutil
import sqlite3
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
AIRLINE_TIME = timezone(timedelta(hours=-5))  # the recordings' clock: 2024-05-15 15:00:00 EST
SCOPES = ["airline:read", "airline:transfer", "airline:write"]
FREE = {"regular": (0, 1, 2), "silver": (1, 2, 3), "gold": (2, 3, 3)}
CABINS = ("basic_economy", "economy", "business")
TABLES = """
create table users (id text primary key, membership text, profile text);
create table payment_methods (id text primary key, user_id text, kind text, amount integer);
create table reservations (id text primary key, user_id text, origin text, destination text, flight_type text,
  cabin text, insurance text, created_ms integer, total_baggages integer, nonfree_baggages integer, status text,
  revision integer);
create table reservation_flights (reservation_id text, position integer, number text, date text, price integer,
  primary key (reservation_id, position));
create table passengers (reservation_id text, position integer, first_name text, last_name text, dob text,
  primary key (reservation_id, position));
create table free_baggages (membership text, cabin text, each integer, primary key (membership, cabin));
create table legs (number text primary key, origin text, destination text);
create table fares (number text, date text, cabin text, price integer, seats integer,
  primary key (number, date, cabin));
create index reservations_of on reservations (user_id);
"""
RESERVATION = """
select r.id, 'airline' as tenant, r.user_id as owner, r.cabin, r.insurance, r.created_ms, r.total_baggages,
  (select count(*) from passengers where reservation_id = r.id) *
    (select each from free_baggages f join users u on u.membership = f.membership
     where u.id = r.user_id and f.cabin = r.cabin) as free_baggages,
  (select count(*) from reservation_flights where reservation_id = r.id) as flights, {flights},
  r.revision from reservations r where r.id = :ref
"""
FLIGHT = """
  (select number from reservation_flights where reservation_id = r.id and position = {0}) as flight_{0},
  (select date from reservation_flights where reservation_id = r.id and position = {0}) as date_{0}"""
USER = """
select u.id, 'airline' as tenant, u.id as owner, u.membership,
  (select count(*) from reservations where user_id = u.id and (insurance = 'yes' or cabin = 'business'))
    as insured_or_business,
  (select coalesce(max(heads), 0) from (select count(*) as heads from passengers p join reservations r
    on r.id = p.reservation_id where r.user_id = u.id group by r.id)) as most_passengers
from users u where u.id = :ref
"""
PAYMENT = "select id, 'airline' as tenant, user_id as owner, kind from payment_methods where id = :ref"


def read(data, name):
    return json.loads((Path(data) / name).read_text(encoding="utf-8"))


def calls_of(run):
    for message in run["traj"]:
        yield from message.get("tool_calls") or []


def recorded_flights(runs):
    """What searches showed: flights with a date, prices and seats."""
    for run in runs:
        dates = {}
        for call in calls_of(run):
            if call["function"]["name"].startswith("search_"):
                dates.setdefault(call["id"], json.loads(call["function"]["arguments"]).get("date"))
        for message in run["traj"]:
            if message["role"] != "tool" or not (message.get("name") or "").startswith("search_"):
                continue
            try:
                found = json.loads(message["content"])
            except ValueError:
                continue
            for flight in (leg for way in found for leg in (way if isinstance(way, list) else [way])):
                yield flight, flight.get("date") or dates.get(message["tool_call_id"])


def recorded_fares(runs):
    """What bookings and changes came to: flights with a date and a price, and as many seats as were taken. The
    cabin is the one that was asked for: the benchmark's own tool answers a change of cabin with the old one."""
    for run in runs:
        for asked, told in zip(run["traj"], run["traj"][1:]):
            for call in asked.get("tool_calls") or []:
                if call["function"]["name"] not in ("book_reservation", "update_reservation_flights"):
                    continue
                if told["role"] != "tool" or not told["content"].startswith("{"):
                    continue
                made, cabin = json.loads(told["content"]), json.loads(call["function"]["arguments"])["cabin"]
                for flight in made["flights"]:
                    yield flight["flight_number"], flight["date"], cabin, flight["price"], len(made["passengers"])


def fill(database, users, reservations, runs):
    database.executescript(TABLES)
    put = lambda table, rows: [database.execute(  # noqa: E731
        f"insert or ignore into {table} values ({', '.join('?' * len(row))})", row) for row in rows]
    put("free_baggages", [(who, cabin, each) for who, free in FREE.items() for cabin, each in zip(CABINS, free)])
    for name, user in users.items():
        profile = {key: user[key] for key in user if key not in ("payment_methods", "reservations", "membership")}
        put("users", [(name, user["membership"], json.dumps(profile))])
        put("payment_methods", [(key, name, held["source"], held.get("amount"))
                                for key, held in user["payment_methods"].items()])
    for name, one in reservations.items():
        created = datetime.fromisoformat(one["created_at"]).replace(tzinfo=AIRLINE_TIME)
        put("reservations", [(name, one["user_id"], one["origin"], one["destination"], one["flight_type"], one["cabin"],
                              one["insurance"], int(created.timestamp() * 1000), one["total_baggages"],
                              one["nonfree_baggages"], "active", 1)])
        put("reservation_flights", [(name, at, flight["flight_number"], flight["date"], flight["price"])
                                    for at, flight in enumerate(one["flights"], 1)])
        put("passengers", [(name, at, who["first_name"], who["last_name"], who["dob"])
                           for at, who in enumerate(one["passengers"], 1)])
        put("legs", [(flight["flight_number"], flight["origin"], flight["destination"]) for flight in one["flights"]])
    for flight, date in recorded_flights(runs):
        put("legs", [(flight["flight_number"], flight["origin"], flight["destination"])])
        put("fares", [(flight["flight_number"], date, cabin, flight["prices"][cabin],
                       flight["available_seats"][cabin]) for cabin in CABINS])
    put("fares", list(recorded_fares(runs)))


def squeezed(query):
    return re.sub(r"\s+", " ", query).strip()


def configuration():
    columns = ",".join(FLIGHT.format(number) for number in (1, 2, 3, 4))
    return {
        "config": "remit.config/1", "bundle": "bundle",
        # Nobody calls but by one of the directory's names: whoever started the program is given nothing.
        "identity": {"pinned": {"principal": {"subject": "operator", "tenant": "airline", "class": "operator",
                                              "scopes": []}}, "directory": "directory.yaml"},
        "attributes": [
            {"type": kind, "source": "airline." + table, "sqlite": {"path": "airline.db", "query": squeezed(query)}}
            for kind, table, query in (("User", "users", USER), ("PaymentMethod", "payment_methods", PAYMENT),
                                       ("Reservation", "reservations", RESERVATION.format(flights=columns)))],
        "upstreams": [{"name": "airline", "stdio": {"command": [
            sys.executable, "-B", str(HERE / "server.py"), "airline.db", "spy.jsonl"]}}],
        "evidence": {"directory": "evidence", "digest_key": "digest.key"}}


def expected_run(task, actions):
    called = [{"id": f"call-{at}", "type": "function", "function": {
        "name": action["name"], "arguments": json.dumps(action["kwargs"])}} for at, action in enumerate(actions, 1)]
    return {"id": f"task-{task}", "messages": [{"role": "assistant", "content": None, "tool_calls": [call]}
                                               for call in called]}


def callers(entries):
    return {"callers": "remit.callers/1",
            "runs": [{key: value for key, value in zip(("run", "principal", "label"), entry) if value is not None}
                     for entry in entries]}


def make(data, directory):
    users, runs = read(data, "users.json"), read(data, "trajectories.json")
    directory.mkdir(mode=0o700, parents=True)
    # A checkout may be writable by a group, and such a bundle is refused.
    shutil.copytree(HERE / "bundle", directory / "bundle")
    for path in (directory / "bundle", *(directory / "bundle").rglob("*")):
        path.chmod(path.stat().st_mode & ~0o022)

    def write(name, text):
        (directory / name).write_text(text, encoding="utf-8")
        (directory / name).chmod(0o600)

    with sqlite3.connect(directory / "fresh.db") as database:
        fill(database, users, read(data, "reservations.json"), runs)
    database.close()
    for name in ("fresh.db", "airline.db"):
        (directory / name).write_bytes((directory / "fresh.db").read_bytes())
        (directory / name).chmod(0o600)
    customers = sorted({run["info"]["task"]["user_id"] for run in runs})
    other = dict(zip(customers, customers[1:] + customers[:1]))
    who = [(f"trajectories/task-{run['task_id']}/trial-{run['trial']}", run["info"]["task"]["user_id"],
            f"reward {run['reward']:g}") for run in runs]
    tasks = {run["task_id"]: run["info"]["task"] for run in runs}
    write("remit.yaml", json.dumps(configuration(), indent=1))
    write("directory.yaml", json.dumps({"directory": "remit.directory/1", "principals": [
        {"subject": "agent-of-" + name, "reference": name, "tenant": "airline", "class": "airline_agent",
         "scopes": SCOPES, "on_behalf_of": name} for name in sorted(users)]}, indent=1))
    write("callers.yaml", json.dumps(callers(who), indent=1))
    write("swapped.yaml", json.dumps(callers((run, other[user], label) for run, user, label in who), indent=1))
    write("expected.jsonl", "".join(json.dumps(expected_run(task, facts["actions"])) + "\n"
                                    for task, facts in sorted(tasks.items())))
    write("check.yaml", json.dumps(callers((f"expected/task-{task}", facts["user_id"], None)
                                           for task, facts in sorted(tasks.items())), indent=1))
    write("digest.key", secrets.token_hex(32))


if __name__ == "__main__":
    os.umask(0o077)
    make(Path(sys.argv[1]), Path(sys.argv[2]))
