# Sourced by boot.sh (namespaces) and vm-init (virtual machine): prepares the root
# tree M for the lab's systemd.  W is a writable memory folder; BOX, in namespaces
# only, is the state folder on the host.
# --- systemd: none of the host's enabled units, only what the lab names
mount -t tmpfs tmpfs "$M/etc/systemd/system"
mkdir "$W/empty"
for d in "$M"/lib/systemd/system/*.wants "$M"/etc/polkit-1/rules.d; do [ -d "$d" ] && mount --bind "$W/empty" "$d"; done
mkdir "$W/rules"; mount --bind "$W/rules" "$M/etc/polkit-1/rules.d"
U=$M/etc/systemd/system
mkdir -p "$U"/{systemd-logind,upower,polkit}.service.d "$M"/etc/systemd/{logind,journald,sleep}.conf.d
for u in modprobe@.service systemd-udevd.service systemd-sysctl.service systemd-timesyncd.service systemd-binfmt.service \
         systemd-random-seed.service systemd-tmpfiles-clean.timer systemd-update-utmp.service systemd-remount-fs.service getty@.service autovt@.service; do
  ln -s /dev/null "$U/$u"
done
cat > "$U/lab.target" <<'U'
[Unit]
Description=lidguard lab
Requires=dbus.socket
Wants=systemd-journald.service dbus.service systemd-logind.service polkit.service upower.service lab-exec.service lab-session.service
AllowIsolate=yes
U
printf '[Login]\nNAutoVTs=0\nReserveVT=0\nHandlePowerKey=ignore\nHoldoffTimeoutSec=%s\nInhibitDelayMaxSec=%s\n' \
  "${LIDLAB_HOLDOFF:-3}" "${LIDLAB_DELAY_MAX:-5}" > "$M/etc/systemd/logind.conf.d/lab.conf"
[ -z "${LIDLAB_LOGIND_CONF:-}" ] || printf '%b\n' "$LIDLAB_LOGIND_CONF" >> "$M/etc/systemd/logind.conf.d/lab.conf"
printf '[Journal]\nStorage=volatile\n' > "$M/etc/systemd/journald.conf.d/lab.conf"
[ -n "${LIDLAB_VM:-}" ] || for s in logind:systemd-logind upower:upower; do
  cat > "$U/${s#*:}.service.d/lab.conf" <<U
[Unit]
After=dbus.service
[Service]
Environment=LD_PRELOAD=/run/lidlab/evdev_shim.so LIDLAB_LID=/run/lidlab/lid SYSTEMD_DEVICE_VERIFY_SYSFS=0
BindPaths=/run/lidlab/event0-${s%:*}:/dev/input/event0
U
done

# --- one local user with an active session on seat0, for what polkit grants only there
id -u lab >/dev/null 2>&1 || chroot "${M:-/}" /usr/sbin/useradd -m -s /bin/bash -u 4242 lab
printf 'auth required pam_permit.so\naccount required pam_permit.so\nsession required pam_systemd.so\n' > "$M/etc/pam.d/lidlab"
cat > "$U/lab-session.service" <<'U'
[Unit]
After=systemd-logind.service
Wants=systemd-logind.service
[Service]
User=lab
PAMName=lidlab
Environment=XDG_SEAT=seat0 @VT@XDG_SESSION_TYPE=wayland XDG_SESSION_CLASS=user XDG_SESSION_DESKTOP=lab
ExecStart=/bin/sh -c 'echo "$XDG_SESSION_ID" > /run/lidlab/session; exec sleep infinity'
U

sed -i "s/@VT@/${LIDLAB_VM:+XDG_VTNR=1 }/" "$U/lab-session.service"   # only the virtual machine has virtual terminals
printf '[Service]\nDelegate=yes\nExecStart=/bin/sleep infinity\n' > "$U/lab-exec.service"

if [ "${LIDLAB_LOGIN1:-systemd}" = elogind ]; then
  ln -s /dev/null "$U/systemd-logind.service"; rm "$U/lab-session.service"
  printf '[Service]\nType=dbus\nBusName=org.freedesktop.login1\nExecStart=/lib/elogind/elogind\nEnvironment=LD_PRELOAD=/run/lidlab/evdev_shim.so LIDLAB_LID=/run/lidlab/lid\nBindPaths=/run/lidlab/event0-logind:/dev/input/event0\n' > "$U/lab-elogind.service"
  sed -i 's/systemd-logind.service/lab-elogind.service/; s/ lab-session.service//' "$U/lab.target"
  mkdir -p "$M/etc/elogind" "$M/lib/elogind/system-sleep"
  { cat "$M/etc/systemd/logind.conf.d/lab.conf"; printf '[Sleep]\nSuspendState=mem\n'; } | grep -v VT > "$M/etc/elogind/logind.conf"
  echo none > "$BOX/share/session"
fi

# --- what would be the machine's sleep: real systemd-sleep writes the memory file, this hook logs it
mkdir -p "$M/lib/systemd/system-sleep"
cat > "$M/lib/systemd/system-sleep/lab" <<'H'
#!/bin/sh
B=/run/lidlab F=/sys/fs/cgroup/user.slice/cgroup.freeze
log() { printf '%s %s %s state=%s\n' "$(date +%s.%N)" "$1" "$2" "$(cat /sys/power/state)" >> $B/sleep.log; }
if [ "$1" = post ] && [ -e $B/hold ]; then   # a sleep that lasts: the user's programs stand still
  if [ -e $F ]; then
    echo 1 > $F
    for _ in $(seq 100); do ! grep -q 'frozen 0' ${F%freeze}events || sleep 0.02; done   # the kernel takes its time
  fi
  : > $B/asleep; log "$@"
  while [ -e $B/hold ] && [ ! -e $B/woken ]; do sleep 0.05; done
  rm -f $B/asleep $B/woken
  [ ! -e $F ] || echo 0 > $F
else
  log "$@"
fi
[ "$1" != post ] || echo 'freeze mem disk' > /sys/power/state
exit 0
H
chmod 755 "$M/lib/systemd/system-sleep/lab"
[ ! -d "$M/lib/elogind" ] || cp "$M/lib/systemd/system-sleep/lab" "$M/lib/elogind/system-sleep/"

