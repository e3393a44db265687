#!/usr/bin/env python3
# Fault: the decision stands at the top of the answer, where Claude Code ignores it.
import json, sys

data = json.load(sys.stdin)
cmd = data.get("tool_input", {}).get("command", "")
if "git push" in cmd:
    print(json.dumps({"permissionDecision": "deny", "permissionDecisionReason": "pushing is not allowed"}))
