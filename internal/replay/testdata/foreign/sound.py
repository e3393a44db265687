#!/usr/bin/env python3
# No fault: refuses what it cannot read, and says why.
import json, signal, sys


def refuse(why):
    print(why, file=sys.stderr)
    sys.exit(2)


signal.signal(signal.SIGALRM, lambda *_: refuse("no payload in time"))
signal.alarm(1)
try:
    data = json.loads(sys.stdin.buffer.read())
    tool, arguments = data["tool_name"], data["tool_input"]
except Exception as problem:
    refuse(f"cannot read the payload: {type(problem).__name__}")
signal.alarm(0)
if tool == "Bash" and arguments.get("command", "").startswith("git push"):
    refuse("no pushing")
