#!/usr/bin/env python3
# Fault: blocks the end of every turn, and never looks at stop_hook_active.
import json, sys

json.load(sys.stdin)
print(json.dumps({"decision": "block", "reason": "Run the tests before you stop."}))
