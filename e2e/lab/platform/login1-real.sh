#!/bin/bash
# The distribution's own systemd, systemd-logind, polkitd and upowerd, booted in
# namespaces on fake hardware (lid switch, AC, battery, displays, temperature).
# Nothing in it can put this machine to sleep.  Run as root.  See README.md.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
LAB=${LIDLAB_DIR:-/run/lidlab/real}
CACHE=${LIDLAB_CACHE:-/var/cache/lidlab}
EXEC=/system.slice/lab-exec.service   # the control group that commands run in
die() { echo "login1-real: $*" >&2; exit 1; }
usage() { cat >&2 <<'U'
usage: login1-real.sh COMMAND
  install                     the Debian packages that this needs
  start [--bind DIR]...       boot (about 3 s); shows the current folder and $TMPDIR inside, and each DIR
  exec [--user lab [--no-session]] [--] CMD...   run CMD inside, in the current folder
  lid closed|open             move the lid switch
  ac on|off                   plug or unplug the charger
  battery PERCENT [Charging|Discharging|Full]
  display NAME connected|disconnected            e.g. HDMI-A-1
  temp MILLIDEGREES           thermal zone 0 and hwmon 0
  polkit-rule FILE            add a rule file (polkitd reloads by itself)
  sleeps                      what would have put the machine to sleep: time, pre/post, verb
  hold | wake                 let sleeps last, with the user's programs standing still; end that
  rouse                       end the sleep that is going on, later ones last again
  journal [ARGS]              journalctl inside
  check                       prove that all of this works (about 40 s)
  status | stop
U
exit 2; }

init_pid() { [ -s "$LAB/init.pid" ] && p=$(<"$LAB/init.pid") && [ "$(cat "/proc/$p/comm" 2>/dev/null)" = systemd ] && echo "$p"; }
need() { I=$(init_pid) || die "not running (start it first)"; }
inside() { local c=$1; shift; [ -d "$(<"$LAB/cgroup")$c" ] || die "no $c inside"; bash -c 'echo 0 > "$1/cgroup.procs"; shift; exec "$@"' _ "$(<"$LAB/cgroup")$c" \
  nsenter -t "$I" -m -u -i -n -p -C -r "$@"; }
uevent() { inside $EXEC /usr/bin/python3 /run/lidlab/labdev.py uevent "$@"; }
put() { printf '%s\n' "$2" > "/proc/$I/root/sys$1"; }

case ${1:-} in
install)
  apt-get install -y --no-install-recommends systemd libpam-systemd dbus dbus-user-session polkitd python3-minimal gcc libc6-dev util-linux procps passwd
  ;;
start)
  shift
  [ "$(id -u)" = 0 ] || die "needs root"
  ! init_pid >/dev/null || die "already running"
  for c in unshare nsenter setpriv cc pivot_root dpkg-deb /usr/bin/python3 /lib/systemd/systemd-logind /usr/lib/polkit-1/polkitd; do
    command -v "$c" >/dev/null || die "missing: $c (try: $0 install)"
  done
  binds=("$PWD" "${TMPDIR:-/tmp}")
  while [ $# -gt 0 ]; do [ "$1" = --bind ] || usage; binds+=("$(realpath "$2")"); shift 2; done
  t0=$(date +%s%N)
  rm -rf "$LAB"; mkdir -p "$LAB/share" "$LAB/debs" "$CACHE"
  cc -O1 -shared -fPIC -o "$LAB/share/evdev_shim.so" "$HERE/lib/evdev_shim.c"
  cp "$HERE/lib/labdev.py" "$LAB/share/"
  echo 0 > "$LAB/share/lid"; : > "$LAB/share/sleep.log"; : > "$LAB/share/session"; chmod 666 "$LAB/share/session"
  mkfifo -m 666 "$LAB/share/event0-logind" "$LAB/share/event0-upower"; chmod 666 "$LAB/share"/event0-*
  # packages only unpacked in the lab's memory: the machine stays as it is
  debs=(); [ -x /usr/libexec/upowerd ] || debs=(upower libupower-glib3 libgudev-1.0-0)
  [ "${LIDLAB_LOGIN1:-systemd}" != elogind ] || debs+=(elogind libelogind0)
  for p in "${debs[@]}"; do
    ls "$CACHE/${p}"_*.deb >/dev/null 2>&1 || (cd "$CACHE" && apt-get -qq download "$p" 2>/dev/null)
    cp "$CACHE/${p}"_*.deb "$LAB/debs/"
  done
  root=$(findmnt -nro TARGET -t cgroup2 | head -1)
  if [ -z "$root" ]; then root=$LAB/cgroup2; mkdir "$root"; mount -t cgroup2 cgroup2 "$root"; fi
  cg=$root$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's#/$##')/lidlab.$$
  mkdir "$cg"; echo "$cg" > "$LAB/cgroup"
  bash -c 'echo $$ > "$1/cgroup.procs"; shift; exec setsid unshare --mount --pid --fork --cgroup --uts --ipc --net --kill-child=KILL "$@"' _ \
    "$cg" "$HERE/lib/boot.sh" "$LAB" "${binds[@]}" > "$LAB/boot.log" 2>&1 < /dev/null \
    8<> "$LAB/share/event0-logind" 9<> "$LAB/share/event0-upower" &   # held open, or their readers would see the end of file
  outer=$!
  for _ in $(seq 1200); do
    sleep 0.1
    kill -0 $outer 2>/dev/null || { cat "$LAB/boot.log" >&2; die "did not boot"; }
    pgrep -P $outer > "$LAB/init.pid" || continue
    I=$(init_pid) || continue
    [ -s "$LAB/share/session" ] || continue
    [ -d "$cg$EXEC" ] || continue
    inside $EXEC busctl --system list 2>/dev/null | grep -q '^org.freedesktop.UPower ' && break
  done
  I=$(init_pid) || die "did not boot, see $LAB/boot.log"
  [ "$(stat -f -c %T "/proc/$I/root/sys/power")" = tmpfs ] || { kill -KILL "$I"; die "not inert, stopped"; }
  echo "ready in $(( ($(date +%s%N) - t0) / 1000000 )) ms"
  ;;
exec)
  shift; need; user=; session=1
  while [ $# -gt 0 ]; do case $1 in
    --user) user=$2; shift 2;; --no-session) session=; shift;; --) shift; break;; *) break;; esac; done
  [ $# -gt 0 ] || usage
  e=(env -u XDG_SESSION_ID -u DBUS_SESSION_BUS_ADDRESS -u XDG_RUNTIME_DIR "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/run/dbus/system_bus_socket" LIDLAB=real); c=$EXEC; id=()
  if [ -n "$user" ]; then
    case $1 in */go-build*/*) w=${1#*/go-build}; chmod a+rx "${1%%/go-build*}/go-build${w%%/*}";; esac   # go test's folder is root's alone
    id=(setpriv --reuid "$user" --regid "$user" --init-groups --inh-caps=-all --)
    u=$(inside $c id -u "$user")
    e+=("HOME=/home/$user" "USER=$user" "LOGNAME=$user")
    if [ -n "$session" ]; then
      s=$(<"$LAB/share/session"); c=/user.slice/user-$u.slice/session-$s.scope
      e+=("XDG_SESSION_ID=$s" "XDG_RUNTIME_DIR=/run/user/$u" "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/$u/bus")
    fi
  fi
  inside "$c" --wdns="$PWD" "${id[@]}" "${e[@]}" "$@"
  ;;
lid) need; case ${2:-} in closed) v=1;; open) v=0;; *) usage;; esac
  inside $EXEC /usr/bin/python3 /run/lidlab/labdev.py lid $v ;;
ac) need; case ${2:-} in on) v=1;; off) v=0;; *) usage;; esac
  put /class/power_supply/AC/online $v
  put /class/power_supply/AC/uevent "POWER_SUPPLY_NAME=AC
POWER_SUPPLY_TYPE=Mains
POWER_SUPPLY_ONLINE=$v"
  [ $v = 1 ] && put /class/power_supply/BAT0/status Charging || put /class/power_supply/BAT0/status Discharging
  uevent change /class/power_supply/AC; uevent change /class/power_supply/BAT0 ;;
battery) need; [ -n "${2:-}" ] || usage
  put /class/power_supply/BAT0/capacity "$2"; put /class/power_supply/BAT0/energy_now $(( 500000 * $2 ))
  [ -z "${3:-}" ] || put /class/power_supply/BAT0/status "$3"
  uevent change /class/power_supply/BAT0 ;;
display) need; c=/class/drm/card0-${2:?}; [ -d "/proc/$I/root/sys$c" ] || die "no such connector: $2"
  put "$c/status" "${3:?}"
  case $3 in connected) put "$c/enabled" enabled; put "$c/dpms" On;; *) put "$c/enabled" disabled; put "$c/dpms" Off;; esac
  uevent change /class/drm/card0 HOTPLUG=1 ;;
temp) need; put /class/thermal/thermal_zone0/temp "${2:?}"; put /class/hwmon/hwmon0/temp1_input "$2" ;;
polkit-rule) need; f=/proc/$I/root/etc/polkit-1/rules.d/50-$(basename "${2:?}" .rules).rules; install -m 644 "$2" "$f.new"; mv "$f.new" "$f" ;;
sleeps) cat "$LAB/share/sleep.log" ;;
hold) need; : > "$LAB/share/hold" ;;
wake) rm -f "$LAB/share/hold" ;;
rouse) need; [ ! -e "$LAB/share/asleep" ] || : > "$LAB/share/woken"
  while [ -e "$LAB/share/asleep" ]; do sleep 0.05; done ;;
journal) shift; need; inside $EXEC journalctl --no-pager "$@" ;;
check) need; exec "$HERE/lib/check-real.sh" "$HERE/login1-real.sh" ;;
status) if I=$(init_pid); then echo "running, init $I"; inside $EXEC systemctl --no-pager list-units --type=service; else echo stopped; exit 3; fi ;;
stop)
  if I=$(init_pid); then kill -KILL "$I"
    # It ends once every process inside is reaped. One that was started from outside and not
    # waited for stays a zombie until its parent ends, and that may be our caller: no endless wait.
    for _ in $(seq 100); do [ -d "/proc/$I" ] || break; sleep 0.05; done
  fi
  if [ -s "$LAB/cgroup" ]; then
    for _ in $(seq 20); do find "$(<"$LAB/cgroup")" -depth -type d -exec rmdir {} + 2>/dev/null || true; [ -d "$(<"$LAB/cgroup")" ] || break; sleep 0.1; done
  fi
  mountpoint -q "$LAB/cgroup2" && umount "$LAB/cgroup2"
  rm -rf "$LAB"
  ;;
*) usage ;;
esac
