#!/usr/bin/env python3
# Fault: a line for people in front of the JSON voids it.
import json, sys

print("[guard] checking the command ...")
data = json.load(sys.stdin)
if "git push" in data["tool_input"].get("command", ""):
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no pushing"}}))
