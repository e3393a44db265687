#!/usr/bin/env python3
# Fault: hookSpecificOutput does not say which event it is for.
import json, sys

data = json.load(sys.stdin)
if "git push" in data["tool_input"].get("command", ""):
    json.dump({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no pushing"}}, sys.stdout)
