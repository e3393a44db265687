#!/bin/sh
# Fault: looks for words in the whole payload, so that texts about pushing are blocked
# and a quote in the middle of the word passes.
if grep -q 'git push'; then
  echo "no pushing" >&2
  exit 2
fi
