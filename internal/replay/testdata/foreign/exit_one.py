#!/usr/bin/env python3
# Fault: exits with 1 to block, which no client but Copilot takes for a block.
import json, sys

data = json.load(sys.stdin)
if "git push" in data["tool_input"].get("command", ""):
    print("BLOCKED: no pushing", file=sys.stderr)
    sys.exit(1)
