#!/usr/bin/env python3
# Fault: an observer that prints what it saw, and fails on what it cannot read.
import json, sys

data = json.load(sys.stdin)
print("saw", data["hook_event_name"])
