"""The driver of the Python executor, whose events of one kind lack one field. usage: forgetful_driver.py EVENT FIELD"""

import json
import subprocess
import sys
from pathlib import Path

DRIVER = Path(__file__).resolve().parent.parent.parent / "examples" / "python_executor" / "driver.py"
kind, field = sys.argv[1:]


def forget(text):
    event = json.loads(text)
    if event["event"] == kind:
        event.pop(field, None)
    return json.dumps(event)


with subprocess.Popen([sys.executable, "-B", DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                      text=True) as driver:
    for line in sys.stdin:
        driver.stdin.write(line)
        driver.stdin.flush()
        answer = json.loads(driver.stdout.readline())
        if "events" in answer.get("ok", {}):
            answer["ok"]["events"] = [forget(text) for text in answer["ok"]["events"]]
        print(json.dumps(answer), flush=True)
    driver.stdin.close()
