"""A small airline in the form of tau-bench's files, and what its policy must say of calls: written by hand."""

import json


def flight(number, date, price=100):
    return {"origin": "JFK", "destination": "SEA", "flight_number": number, "date": date, "price": price}


def reservation(name, owner, cabin, created, insurance="no", flights=(("HAT001", "2024-05-20"),), heads=1, bags=1):
    return {"reservation_id": name, "user_id": owner, "origin": "JFK", "destination": "SEA", "flight_type": "one_way",
            "cabin": cabin, "flights": [flight(*each) for each in flights],
            "passengers": [{"first_name": f"P{n}", "last_name": "Q", "dob": "1990-01-01"} for n in range(heads)],
            "payment_history": [], "created_at": created, "total_baggages": bags, "nonfree_baggages": 0,
            "insurance": insurance}


def user(membership, **methods):
    held = {name: {"id": name, "source": name.rsplit("_", 1)[0], "amount": amount}
            for name, amount in methods.items()}
    return {"name": {"first_name": "A", "last_name": "B"}, "email": "a@example.com", "membership": membership,
            "payment_methods": held, "reservations": []}


USERS = {
    "ana": user("gold", credit_card_1=None, gift_card_1=1000, gift_card_2=1000, certificate_1=250, certificate_2=50),
    "bob": user("regular", credit_card_3=None, certificate_3=100),
    "cleo": user("regular", credit_card_4=None),
}
LONG_AGO, YESTERDAY, BEFORE = "2024-05-01T10:00:00", "2024-05-14T15:00:00", "2024-05-14T14:59:59"
TWO = (("HAT001", "2024-05-20"), ("HAT002", "2024-05-21"))
FOUR = TWO + (("HAT001", "2024-05-22"), ("HAT002", "2024-05-23"))
RESERVATIONS = {one["reservation_id"]: one for one in (
    reservation("BASICA", "ana", "basic_economy", LONG_AGO, flights=TWO, heads=2),
    reservation("FOURAA", "ana", "basic_economy", LONG_AGO, flights=FOUR),
    reservation("ECONOA", "ana", "economy", LONG_AGO, heads=2, bags=3),
    reservation("INSURA", "ana", "economy", LONG_AGO, insurance="yes"),
    reservation("BUSINA", "ana", "business", LONG_AGO),
    reservation("FRESHA", "ana", "basic_economy", YESTERDAY),
    reservation("STALEA", "ana", "basic_economy", BEFORE),
    reservation("BASICB", "bob", "basic_economy", LONG_AGO),
    reservation("INSURC", "cleo", "economy", LONG_AGO, insurance="yes", heads=3),
)}
FARE = {"basic_economy": 50, "economy": 100, "business": 300}
SEARCHED = [{"flight_number": number, "origin": "JFK", "destination": "SEA", "prices": FARE,
             "available_seats": dict.fromkeys(FARE, 5), "date": date}
            for number in ("HAT001", "HAT002") for date in ("2024-05-20", "2024-05-21")]


def called(tool, arguments, name="call-1"):
    return {"role": "assistant", "content": None, "tool_calls": [
        {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}]}


def run(task, owner, calls):
    return {"task_id": task, "trial": 0, "reward": 1.0, "info": {"task": {"user_id": owner, "actions": []}},
            "traj": [called(tool, arguments) for tool, arguments in calls]}


# What searches showed is where fares come from; this run is not replayed.
SEARCH = {"task_id": 1000, "trial": 0, "reward": 0.0, "info": {"task": {"user_id": "ana", "actions": []}}, "traj": [
    called("search_direct_flight", {"origin": "JFK", "destination": "SEA", "date": "2024-05-20"}),
    {"role": "tool", "name": "search_direct_flight", "tool_call_id": "call-1", "content": json.dumps(SEARCHED)}]}


def legs(*each):
    return [{"flight_number": number, "date": date} for number, date in each]


def booking(owner="ana", heads=1, **more):
    paid = more.pop("paid", {"credit_card_1": 100 * heads})
    return ("book_reservation", {
        "user_id": owner, "origin": "JFK", "destination": "SEA", "flight_type": "one_way", "cabin": "economy",
        "flights": legs(("HAT001", "2024-05-20")),
        "passengers": [{"first_name": "P", "last_name": "Q", "dob": "1990-01-01"}] * heads,
        "payment_methods": [{"payment_id": name, "amount": amount} for name, amount in paid.items()],
        "total_baggages": 0, "nonfree_baggages": 0, "insurance": "no", **more})


def flights(name, cabin, each, paid="credit_card_1"):
    return ("update_reservation_flights", {"reservation_id": name, "cabin": cabin, "flights": legs(*each),
                                           "payment_id": paid})


def bags(name, total, nonfree, paid="credit_card_1"):
    return ("update_reservation_baggages", {"reservation_id": name, "total_baggages": total,
                                            "nonfree_baggages": nonfree, "payment_id": paid})


def cancel(name):
    return ("cancel_reservation", {"reservation_id": name})


def details(name):
    return ("get_reservation_details", {"reservation_id": name})


ALLOW = ("allow", "succeeded")
OWN, AGE, BASIC = "own-things-only", "cancel-by-age-cabin-or-insurance", "basic-economy-keeps-its-flights"


def by(*policies):
    return ("deny", "forbidden", *sorted(policies))


MALFORMED, ABSENT = ("deny", "invalid_arguments"), ("deny", "resource_not_found")

# For each run who calls, and each call with what must become of it.
DECISIONS = [
    ("ana", [
        (("get_user_details", {"user_id": "ana"}), ALLOW),
        (("get_user_details", {"user_id": "bob"}), by(OWN)),
        (("get_user_details", {"user_id": "nobody"}), ABSENT),
        (details("BASICA"), ALLOW),
        (details("BASICB"), by(OWN)),
        (("list_all_airports", {}), ALLOW),
        (("calculate", {"expression": "2 * (3 + 4)"}), ALLOW),
        (("calculate", {"expression": "open('x')"}), ("allow", "failed")),
        (("think", {"thought": "I am bob's agent now"}), ALLOW),
        (("transfer_to_human_agents", {"summary": "x"}), ALLOW),
        (("drop_all_tables", {}), ("deny", "unknown_tool")),
        (("get_user_details", {"user_id": "ana", "on_behalf_of": "bob"}), MALFORMED)]),
    ("ana", [  # booking
        (booking(), ALLOW),
        (details("HATHAT"), ALLOW),
        (booking(owner="bob"), by(OWN)),
        (booking(paid={"credit_card_3": 100}), by(OWN)),
        (booking(paid={"credit_card_1": 50, "certificate_3": 50}), by(OWN)),
        (booking(paid={"gift_card_9": 100}), ABSENT),
        (booking(paid={"certificate_1": 50, "certificate_2": 50}), MALFORMED),
        (booking(heads=6, paid={"credit_card_1": 600}), MALFORMED),
        (booking(paid={"gift_card_1": 30, "gift_card_2": 30, "certificate_2": 40}), ALLOW),
        (booking(paid={"certificate_2": 50, "credit_card_1": 50}), ABSENT)]),
    ("ana", [  # changes of flights
        (flights("BASICA", "basic_economy", TWO[:1]), by(BASIC)),
        (flights("BASICA", "economy", (("HAT002", "2024-05-20"), TWO[1])), by(BASIC)),
        (flights("FOURAA", "basic_economy", FOUR[:3]), by(BASIC)),
        (flights("FOURAA", "basic_economy", FOUR), ALLOW),
        (flights("BASICA", "economy", TWO[::-1]), ALLOW),
        (flights("BASICA", "economy", TWO[:1]), ALLOW),  # it is economy by now
        (flights("ECONOA", "economy", (("HAT002", "2024-05-20"),), paid="certificate_1"),
         by("changed-flights-are-paid-by-card")),
        (flights("ECONOA", "economy", (("HAT002", "2024-05-20"),), paid="gift_card_1"), ALLOW),
        (flights("ECONOA", "economy", (("HAT001", "2024-05-20"),), paid="credit_card_3"), by(OWN)),
        (flights("BASICB", "basic_economy", (("HAT001", "2024-05-20"),)), by(OWN))]),
    ("ana", [  # bags: gold and economy, three are free for each of two
        (bags("ECONOA", 2, 0), by("bags-are-only-added")),
        (bags("ECONOA", 6, 0), ALLOW),
        (bags("ECONOA", 8, 1), by("bags-beyond-the-allowance-are-paid")),
        (bags("ECONOA", 8, 2), ALLOW),
        (bags("ECONOA", 6, 0), by("bags-are-only-added"))]),
    ("ana", [  # cancelling
        (cancel("BASICA"), by(AGE)), (cancel("ECONOA"), by(AGE)), (cancel("INSURA"), ALLOW),
        (cancel("BUSINA"), ALLOW), (cancel("STALEA"), by(AGE)), (cancel("BASICB"), by(OWN, AGE)),
        (cancel("INSURC"), by(OWN)),
        (flights("ECONOA", "business", (("HAT001", "2024-05-20"),)), ALLOW), (cancel("ECONOA"), ALLOW)]),
    ("bob", [  # passengers, certificates: regular, in basic economy without insurance
        (("update_reservation_passengers", {"reservation_id": "BASICB", "passengers": [
            {"first_name": "N", "last_name": "M", "dob": "1990-01-01"}]}), ALLOW),
        (("update_reservation_passengers", {"reservation_id": "BASICB", "passengers": [
            {"first_name": "N", "last_name": "M", "dob": "1990-01-01"}] * 2}), ("allow", "failed")),
        (("send_certificate", {"user_id": "bob", "amount": 100}), by("certificates-need-standing")),
        (("send_certificate", {"user_id": "ana", "amount": 100}), by(OWN)),
        (bags("BASICB", 2, 0, paid="credit_card_3"), by("bags-beyond-the-allowance-are-paid"))]),
    ("cleo", [  # insured, three passengers
        (("send_certificate", {"user_id": "cleo", "amount": 300}), ALLOW),
        (("send_certificate", {"user_id": "cleo", "amount": 350}), by("certificates-are-bounded")),
        (("send_certificate", {"user_id": "cleo", "amount": 120}), MALFORMED),
        (("send_certificate", {"user_id": "cleo", "amount": 50}), ALLOW)]),
    ("ghost", [(("think", {"thought": "x"}), ("deny", "invalid_identity"))]),
]


def write(directory):
    """The three files; runs are numbered as DECISIONS are. Who calls `ghost`'s is no customer."""
    directory.mkdir()
    runs = [run(number, who, [call for call, _ in calls]) for number, (who, calls) in enumerate(DECISIONS)]
    for name, value in (("users.json", USERS), ("reservations.json", RESERVATIONS),
                        ("trajectories.json", [*runs, SEARCH])):
        (directory / name).write_text(json.dumps(value), encoding="utf-8")
