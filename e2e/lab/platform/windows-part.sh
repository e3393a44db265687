#!/bin/bash
# The part of ./test that is Windows: installs wine (windows.sh) and runs the tests of
# Windows' own calls under it.  Run as root.  Where this machine has no way to install
# wine it writes why to the file $1 and ends with 3; where it has one, and in CI, that
# is a failure.
set -euo pipefail
wine=$(dirname "$(realpath "$0")")/windows.sh
# wine may have a bad day, and so may a mirror: a failure counts if it comes twice.
twice() { "$@" || { printf '\n== once more\n'; "$@"; }; }
in_wine() { twice "$wine" test -count=1 "$@"; }

if ! "$wine" install; then
  if [ "${CI:-}" != true ] && why=$("$wine" barred); then
    echo "Windows' own calls, since $why" | tee "$1"
    exit 3
  fi
  "$wine" install || { echo "windows: wine could not be installed (see above), and nothing here stands against it" >&2; exit 1; }
fi
trap '"$wine" stop' EXIT
in_wine ./internal/platform/{notice,sleep,lid,display,thermal,battery,audio,atlogin,lasting,proc,network,alarm}
in_wine ./internal/smallfile
in_wine -run 'WinMachine|OpenSystem|Clocks' ./internal/daemon
in_wine -run Command_windowsInCmd ./internal/install
