#!/bin/sh
# Fault: looks for the tool in the environment; the payload only comes on stdin.
case "$TOOL_NAME:$TOOL_INPUT" in
Bash:*"git push"*) echo "no pushing" >&2; exit 2 ;;
esac
exit 0
