#!/usr/bin/env python3
# Fault: whatever goes wrong is taken for "fine", so a broken payload passes.
import json, sys

try:
    data = json.load(sys.stdin)
    if "git push" in data["tool_input"]["command"]:
        print("no pushing", file=sys.stderr)
        sys.exit(2)
except Exception:
    pass
sys.exit(0)
