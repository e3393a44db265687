#!/bin/bash
# Runs as the first process of the lab's own mount, pid, net, uts, ipc and
# cgroup namespaces (login1-real.sh starts it), builds the root there and then
# becomes systemd.  Arguments: BOX (state folder shared with the host), then
# the host folders to show inside.
set -euo pipefail
BOX=$1; shift
HERE=$(cd "$(dirname "$0")" && pwd)
[ "$$" = 1 ] || { echo "boot.sh: not pid 1 of a new pid namespace" >&2; exit 1; }
mount --make-rprivate /

# --- root: the host's / read through an overlay whose writes stay in memory
W=$BOX/root; mkdir -p "$W"
mount -t tmpfs -o mode=755 tmpfs "$W"
mkdir "$W/up" "$W/work" "$W/m"
mount -t overlay -o "lowerdir=/,upperdir=$W/up,workdir=$W/work" overlay "$W/m"
M=$W/m
for d in "$BOX/debs"/*.deb; do
  [ -e "$d" ] && dpkg-deb --fsys-tarfile "$d" | tar -x --keep-directory-symlink -C "$M"
done

mount -t proc proc "$M/proc"
for f in sys sysrq-trigger irq bus; do
  [ -e "$M/proc/$f" ] || continue
  mount --bind "$M/proc/$f" "$M/proc/$f"; mount -o remount,bind,ro "$M/proc/$f"
done
mount -t tmpfs -o mode=755 tmpfs "$M/run"
mkdir -p "$M/run/lidlab" "$M/run/udev/data" "$M/run/udev/tags/power-switch" "$M/run/lock"
mount --bind "$BOX/share" "$M/run/lidlab"
: > "$M/run/utmp"; : > "$M/run/udev/control"

mount -t tmpfs -o mode=755 tmpfs "$M/dev"
for n in null zero full random urandom tty; do : > "$M/dev/$n"; mount --bind "/dev/$n" "$M/dev/$n"; done
mkdir "$M/dev/pts" "$M/dev/shm" "$M/dev/input"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$M/dev/pts"
ln -s pts/ptmx "$M/dev/ptmx"; ln -s /proc/self/fd "$M/dev/fd"
mount -t tmpfs -o mode=1777 tmpfs "$M/dev/shm"
: > "$M/dev/input/event0"

# The way to each shown folder is made passable for the lab's user, in the lab's
# memory only: so before any of them is mounted (a checkout may lie below /root).
for d in "$@"; do
  mkdir -p "$M$d"
  for ((up = 1; up; )); do d=${d%/*}; [ -n "$d" ] && chmod a+x "$M$d" || up=0; done
done
for d in "$@"; do mount --rbind "$d" "$M$d"; done

# --- sysfs: a memory file system; nothing here reaches the kernel's power files
S=$M/sys
mount -t tmpfs -o mode=755 tmpfs "$S"
mkdir -p "$S"/{fs/cgroup,power,kernel,module,bus,dev/char,firmware,block,devices/system,devices/virtual}
mkdir -p "$S"/class/{input,power_supply,drm,thermal,hwmon,backlight}
mount -t cgroup2 cgroup2 "$S/fs/cgroup"
for d in kernel devices/system; do mount --rbind "/sys/$d" "$S/$d"; mount -o remount,bind,ro "$S/$d"; done
echo 'freeze mem disk'           > "$S/power/state"
echo 's2idle [deep]'             > "$S/power/mem_sleep"
echo '[platform] shutdown reboot' > "$S/power/disk"
[ "$(stat -f -c %T "$S/power")" = tmpfs ] || { echo "boot.sh: $S/power is not a memory file system" >&2; exit 1; }

# device SUBSYSTEM DEVPATH KEY=VALUE...: one device with its uevent file and class link
device() {
  local sub=$1 path=$2 up; shift 2
  mkdir -p "$S$path"
  up=$(dirname "$path/x" | sed 's#[^/]\+#..#g; s#^/##')
  ln -sfn "$up/class/$sub" "$S$path/subsystem"
  ln -sfn "../..$path" "$S/class/$sub/$(basename "$path")"
  printf '%s\n' "$@" > "$S$path/uevent"
  printf 'I:1\nE:ID_LAB=1\nV:1\n' > "$M/run/udev/data/+$sub:$(basename "$path")"
}
attr() { local f; for f in "${@:2}"; do printf '%s\n' "${f#*=}" > "$S$1/${f%%=*}"; done; }

P=/devices/platform/lab
device input $P/lid/input/input0 'PRODUCT=19/0/5/0' 'NAME="Lid Switch"' EV=21 SW=1
mkdir -p "$S$P/lid/input/input0/capabilities"
attr $P/lid/input/input0 'name=Lid Switch' capabilities/ev=21 capabilities/sw=1 capabilities/key=0
device input $P/lid/input/input0/event0 MAJOR=13 MINOR=64 DEVNAME=input/event0
ln -s "../..$P/lid/input/input0/event0" "$S/dev/char/13:64"
printf 'I:1\nE:ID_INPUT=1\nE:ID_INPUT_SWITCH=1\nG:seat\nG:power-switch\nQ:seat\nQ:power-switch\nV:1\n' > "$M/run/udev/data/c13:64"
: > "$M/run/udev/tags/power-switch/c13:64"

device power_supply $P/power_supply/AC POWER_SUPPLY_NAME=AC POWER_SUPPLY_TYPE=Mains POWER_SUPPLY_ONLINE=1
attr $P/power_supply/AC type=Mains online=1
device power_supply $P/power_supply/BAT0 POWER_SUPPLY_NAME=BAT0 POWER_SUPPLY_TYPE=Battery
attr $P/power_supply/BAT0 type=Battery present=1 status=Full capacity=100 scope=System \
  technology=Li-ion energy_full_design=60000000 energy_full=50000000 energy_now=50000000 \
  power_now=0 voltage_now=12000000 manufacturer=Lab model_name=LAB-BAT serial_number=1

G=/devices/pci0000:00/0000:00:02.0/drm/card0
device drm $G MAJOR=226 MINOR=0 DEVNAME=dri/card0 DEVTYPE=drm_minor
for c in eDP-1:connected:enabled:On HDMI-A-1:disconnected:disabled:Off DP-1:disconnected:disabled:Off; do
  IFS=: read -r n st en dp <<<"$c"
  device drm $G/card0-$n DEVTYPE=drm_connector
  attr $G/card0-$n status=$st enabled=$en dpms=$dp modes= edid=
done
device thermal /devices/virtual/thermal/thermal_zone0
attr /devices/virtual/thermal/thermal_zone0 type=x86_pkg_temp temp=45000 mode=enabled trip_point_0_temp=95000 trip_point_0_type=critical
device hwmon $P/hwmon/hwmon0
attr $P/hwmon/hwmon0 name=coretemp temp1_input=45000 temp1_label='Package id 0' temp1_max=100000 temp1_crit=105000

# --- systemd units, the local user, the sleep log
W=$W M=$M BOX=$BOX . "$HERE/units.sh"

# --- leave the host's tree for good
cd "$M"; mkdir -p .old; pivot_root . .old; umount -l .old; rmdir .old 2>/dev/null || true
exec env -i container=lidlab PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  setpriv --bounding-set=-sys_module,-sys_time,-sys_rawio \
  /lib/systemd/systemd --unit=lab.target --log-target=console --log-level=notice --show-status=0 </dev/null
