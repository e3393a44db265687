package gate

import (
	"slices"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// systemPrograms judges programs that change the machine itself.
func (j *judge) systemPrograms(c *call, name string) bool {
	argv := c.argv()
	all := strings.Join(argv, " ")
	ops := c.plain("")
	first := ""
	if len(ops) > 0 {
		first = ops[0]
	}
	add := func(e Effect, s Scope, rule string) { j.add(c, e, s, rule, all) }
	switch {
	case strings.HasPrefix(name, "mkfs"), strings.HasPrefix(name, "newfs"):
		if len(ops) > 0 && !c.short("n") && !j.image(c) {
			add(Disk, AnyScope, "disk-format")
		}
		return true
	}
	switch name {
	case "git", "hub":
		j.git(c)
	case "hash":
		// hash -p PROGRAM NAME: the next NAME runs PROGRAM.
		if c.short("p") && len(ops) > 1 {
			add(EnvHijack, AnyScope, "environment-hijack")
		}
	case "enable":
		// enable -f LIBRARY NAME loads code into the shell.
		if c.short("f") && !strings.HasPrefix(first, "/usr/lib/") && !strings.HasPrefix(first, "/usr/local/lib/") {
			add(EnvHijack, AnyScope, "environment-hijack")
		}

	case "mke2fs", "mkswap", "mkdosfs", "mkntfs", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "cfdisk", "gdisk", "fdisk", "parted", "hdparm", "nvme", "badblocks",
		"sg_format", "mkdosfs.fat", "mkexfatfs", "fsfreeze", "partprobe", "growpart", "partx", "e2image":
		if c.has("--dump", "--print", "--list", "--no-act") || name != "hdparm" && name != "nvme" && name != "sgdisk" && c.short("l") || name == "sgdisk" && c.short("p") && !c.short("Zzo") && !c.has("--zap-all", "--zap", "--clear") ||
			name == "sfdisk" && c.short("dl") || name == "wipefs" && (c.short("n") || !c.short("aof") && !c.optionFits("--al~l|--of~fset|--fo~rce")) {
			return true
		}
		switch name {
		case "hdparm":
			if !c.has("--security-erase", "--security-erase-enhanced", "--trim-sector-ranges", "--write-sector", "--make-bad-sector", "--dco-restore", "--fwdownload") {
				return true
			}
		case "nvme":
			if first != "format" && first != "sanitize" && first != "write" && first != "delete-ns" && first != "write-zeroes" && !strings.HasPrefix(first, "fw-") {
				return true
			}
		case "badblocks":
			if !c.short("wn") {
				return true
			}
		case "parted":
			if len(ops) < 2 || ops[len(ops)-1] == "print" || ops[1] == "print" {
				return true
			}
		case "fdisk", "gdisk", "cfdisk":
			if c.l.Stdin.Kind == shell.InputInherit && len(ops) == 0 {
				return true
			}
		}
		if len(ops) == 0 && name != "nvme" || j.image(c) {
			return true
		}
		add(Disk, AnyScope, "disk-format")
	case "lvremove", "vgremove", "pvremove", "lvreduce", "vgreduce", "lvresize", "pvmove", "vgcfgrestore", "lvconvert", "thin_repair":
		if !c.has("--test") && !c.short("t") {
			add(Disk, AnyScope, "volume-remove")
		}
	case "zpool", "zfs":
		switch first {
		case "destroy", "labelclear", "rollback", "detach", "offline", "replace":
			if !c.short("n") {
				add(Disk, AnyScope, "volume-remove")
			}
		}
	case "btrfs":
		if len(ops) > 1 && (ops[1] == "delete" || ops[1] == "resize") || first == "device" && len(ops) > 1 && ops[1] == "remove" {
			add(Disk, AnyScope, "volume-remove")
		}
	case "mdadm":
		if c.has("--zero-superblock", "--stop", "--remove", "--fail", "--create", "--grow") || c.short("SC") {
			add(Disk, AnyScope, "volume-remove")
		}
	case "cryptsetup":
		if strings.HasPrefix(strings.ToLower(first), "lukserase") || strings.HasPrefix(strings.ToLower(first), "luksformat") || first == "erase" || first == "reencrypt" || first == "luksKillSlot" || first == "luksRemoveKey" {
			add(Disk, AnyScope, "disk-format")
		}
	case "diskutil":
		low := strings.ToLower(first)
		if strings.HasPrefix(low, "erase") || strings.HasPrefix(low, "partition") || low == "secureerase" || low == "zerodisk" || low == "randomdisk" || low == "reformat" ||
			low == "resetfusion" || len(ops) > 1 && strings.HasPrefix(strings.ToLower(ops[1]), "delete") || low == "unmountdisk" && c.has("force") {
			add(Disk, AnyScope, "disk-format")
		}
	case "hdiutil":
		if first == "erasekeys" {
			add(Disk, AnyScope, "disk-format")
		}
	case "tmutil":
		if first == "delete" || first == "deletelocalsnapshots" || first == "disable" {
			add(Disk, AnyScope, "backup-delete")
		}
	case "asr":
		if c.has("--erase", "-erase") {
			add(Disk, AnyScope, "disk-format")
		}
	case "losetup", "dmsetup":
		if name == "dmsetup" && (first == "remove" || first == "remove_all" || first == "wipe_table") {
			add(Disk, AnyScope, "volume-remove")
		}
	case "umount", "swapoff", "swapon", "mount":
		if name == "umount" && (c.short("af") || c.has("--all", "--force")) || name == "swapoff" {
			add(Service, AnyScope, "unmount")
		}
		if name == "mount" && strings.Contains(all, "remount") {
			add(Service, AnyScope, "unmount")
		}

	case "grub-install", "update-grub", "grub-mkconfig", "grub2-install", "grub2-mkconfig", "efibootmgr", "bootctl", "kexec", "lilo", "bless", "nvram", "update-initramfs", "dracut",
		"mkinitcpio", "grubby", "fwupdmgr", "flashrom", "bcdedit", "bootrec", "bootsect", "systemsetup", "extlinux", "mokutil":
		switch name {
		case "efibootmgr":
			if len(argv) == 1 || c.short("v") && len(argv) == 2 {
				return true
			}
		case "systemsetup":
			if len(argv) > 1 && (strings.HasPrefix(strings.ToLower(argv[1]), "-get") || strings.HasPrefix(strings.ToLower(argv[1]), "-list")) {
				return true
			}
		case "bootctl":
			if first == "" || first == "status" || first == "list" || first == "is-installed" {
				return true
			}
		case "bcdedit":
			if len(argv) == 1 || strings.EqualFold(argv[1], "/enum") {
				return true
			}
		case "nvram":
			if c.short("p") {
				return true
			}
		case "fwupdmgr":
			if strings.HasPrefix(first, "get-") {
				return true
			}
		case "grub-mkconfig", "grub2-mkconfig":
			if !c.short("o") {
				return true
			}
		case "mokutil":
			if strings.HasPrefix(strings.Join(argv[1:], " "), "--list") || c.has("--sb-state", "--test-key") {
				return true
			}
		}
		add(Boot, AnyScope, "boot")

	case "shutdown", "reboot", "halt", "poweroff", "pm-hibernate", "pm-suspend", "pm-suspend-hybrid", "shutdown.exe":
		if c.short("c") || c.has("/a", "-a", "--show") && name == "shutdown" || c.short("w") && name != "shutdown" {
			return true
		}
		add(Power, AnyScope, "power")
	case "init", "telinit":
		if first == "0" || first == "6" || first == "1" || first == "s" || first == "S" {
			add(Power, AnyScope, "power")
		}
	case "pmset":
		if first == "sleepnow" || c.short("abc") && len(ops) > 0 {
			add(Power, AnyScope, "power")
		}
	case "rtcwake":
		add(Power, AnyScope, "power")
	case "loginctl":
		switch first {
		case "poweroff", "reboot", "suspend", "hibernate", "halt", "hybrid-sleep":
			add(Power, AnyScope, "power")
		case "terminate-user", "kill-user", "terminate-session", "kill-session", "terminate-seat":
			add(KillAll, AnyScope, "kill-all")
		}
	case "systemctl":
		j.systemctl(c, all)
	case "service", "rc-service", "invoke-rc.d":
		if len(ops) > 1 && (ops[1] == "stop" || ops[1] == "disable") {
			add(Service, AnyScope, "service-stop")
		}
	case "update-rc.d", "chkconfig", "rc-update", "sysv-rc-conf":
		if len(ops) > 0 && !c.has("--list") {
			if strings.Contains(all, "remove") || strings.Contains(all, "disable") || strings.Contains(all, " off") || strings.Contains(all, " del") {
				add(Service, AnyScope, "service-stop")
			} else {
				add(Persistence, AnyScope, "service-unit")
			}
		}
	case "launchctl":
		switch first {
		case "load", "bootstrap", "enable", "submit", "setenv":
			add(Persistence, AnyScope, "launch-agent")
		case "unload", "bootout", "disable", "remove", "stop", "kill", "reboot":
			add(Service, AnyScope, "service-stop")
		}
	case "sc":
		if len(ops) > 0 && (first == "stop" || first == "delete" || first == "config" || first == "failure") {
			add(Service, AnyScope, "service-stop")
		} else if first == "create" {
			add(Persistence, AnyScope, "service-unit")
		}
	case "net", "net1":
		if len(ops) > 1 && first == "stop" {
			add(Service, AnyScope, "service-stop")
		}
		if len(ops) > 1 && (first == "user" || first == "localgroup") && (strings.Contains(strings.ToLower(all), "/add") || strings.Contains(strings.ToLower(all), "/del") || len(ops) > 2) {
			add(UserAccount, AnyScope, "user-account")
		}
	case "schtasks":
		low := strings.ToLower(all)
		if strings.Contains(low, "/create") || strings.Contains(low, "/change") {
			add(Persistence, AnyScope, "scheduled-task")
		} else if strings.Contains(low, "/delete") {
			add(Service, AnyScope, "service-stop")
		}
	case "at", "batch":
		if !c.short("lrdcq") && (len(argv) > 1 || name == "batch") {
			add(Persistence, AnyScope, "scheduled-task")
		}
	case "systemd-run":
		for _, t := range argv {
			if strings.HasPrefix(t, "--on-") || t == "--timer-property" {
				add(Persistence, AnyScope, "scheduled-task")
				break
			}
		}

	case "kill", "pkill", "killall", "killall5", "xkill", "taskkill", "skill", "fuser":
		j.kill(c, name, all)

	case "useradd", "userdel", "usermod", "adduser", "deluser", "groupadd", "groupdel", "groupmod", "addgroup", "delgroup", "passwd", "chpasswd", "chage", "gpasswd", "groupmems", "vipw", "vigr",
		"visudo", "sysadminctl", "dscl", "dseditgroup", "newusers", "chsh", "chfn", "pwconv", "grpconv", "pwunconv", "grpunconv", "lchsh", "lchfn", "chpass", "smbpasswd", "ldappasswd", "faillock", "pam-auth-update", "authselect":
		if name == "passwd" && c.short("S") || name == "chage" && c.short("l") || name == "visudo" && c.short("c") || name == "dscl" && (strings.Contains(all, "-read") || strings.Contains(all, "-list") || strings.Contains(all, " read ")) ||
			name == "chsh" && c.short("l") || c.elsewhere() {
			return true
		}
		add(UserAccount, AnyScope, "user-account")

	case "setenforce", "aa-disable", "aa-teardown", "aa-complain", "apparmor_parser", "spctl", "csrutil", "fdesetup", "ufw", "iptables", "ip6tables", "nft", "firewall-cmd", "pfctl",
		"auditctl", "netsh", "tccutil", "semanage", "setsebool", "wevtutil", "auditpol", "sestatus", "getenforce", "iptables-restore", "ebtables", "firewalld", "socketfilterfw":
		j.guards(c, name, all, first)
	case "sysctl":
		if c.short("wp") || c.has("--write", "--load", "--system") || strings.Contains(all, "=") {
			add(TrustDown, System, "kernel-setting")
		}
	case "modprobe", "insmod", "rmmod", "depmod", "kextload", "kextunload", "kmutil", "dkms", "bpftool", "setcap":
		if name == "modprobe" && (c.short("nDc") || c.has("--dry-run", "--show-depends", "--showconfig")) || name == "dkms" && first == "status" || name == "kmutil" && first != "load" && first != "unload" {
			return true
		}
		if name == "bpftool" && !strings.Contains(all, " load") && !strings.Contains(all, " attach") {
			return true
		}
		add(TrustDown, System, "kernel-module")

	case "vssadmin", "wbadmin", "wmic":
		low := strings.ToLower(all)
		if name != "wmic" && strings.Contains(low, "delete") || strings.Contains(low, "shadowcopy") && (strings.Contains(low, "delete") || strings.Contains(low, "call")) || strings.Contains(low, "resize shadowstorage") {
			add(Disk, AnyScope, "backup-delete")
		}
		if name == "wmic" && strings.Contains(low, "process call create") {
			add(Opaque, Unknown, "unknown-command-text")
		}
	case "diskpart":
		if c.l.Stdin.Kind != shell.InputInherit || len(argv) > 1 {
			add(Disk, AnyScope, "disk-format")
		}
	case "format", "format.com":
		if j.f.Dialect == shell.Cmd || j.f.Dialect == shell.PowerShell || drive(strings.ToUpper(first)) {
			add(Disk, AnyScope, "disk-format")
		}
	case "cipher":
		for _, t := range argv {
			if strings.HasPrefix(strings.ToLower(t), "/w") {
				add(Disk, AnyScope, "disk-write")
			}
		}
	case "takeown", "icacls", "cacls", "attrib":
		j.windowsRights(c, name, all)
	case "rd", "rmdir", "del", "erase":
		if j.f.Dialect == shell.Cmd || name == "rd" || name == "erase" {
			j.cmdDelete(c, name)
		}
	case "move", "copy", "xcopy", "robocopy", "ren", "rename":
		j.cmdCopy(c, name)
	case "history":
		if c.short("c") || c.short("w") && len(ops) > 0 && ops[len(ops)-1] == "/dev/null" {
			add(TrustDown, AnyScope, "history-clear")
		}
	case "set", "shopt":
		for i, o := range argv[1:] {
			if (o == "+o" || name == "shopt" && strings.HasPrefix(o, "-u")) && argv[len(argv)-1] == "history" && i+3 >= len(argv) {
				add(TrustDown, AnyScope, "history-clear")
			}
		}
	case "log":
		if first == "erase" { // of macOS
			add(Delete, System, "delete-system")
		}
	case "mdutil":
		if o := c.opt("-i"); o != nil && o.Text == "off" || c.short("E") {
			add(Service, AnyScope, "service-stop")
		}
	case "kickstart":
		if c.has("-activate", "-configure") {
			add(Persistence, AnyScope, "authorized-keys")
		}
	case "dmesg":
		if c.short("Cc") || c.has("--clear", "--read-clear") {
			add(TrustDown, AnyScope, "history-clear")
		}
	case "unset":
		for _, o := range ops {
			if o == "HISTFILE" {
				add(TrustDown, AnyScope, "history-clear")
			}
		}
	case "logrotate", "journalctl":
		if name == "journalctl" && c.optionFits("--va~cuum-time|--va~cuum-size|--va~cuum-files|--rot~ate") {
			add(Delete, Outside, "delete-outside")
		}
	case "defaults":
		switch low := strings.ToLower(all); {
		case first == "write" && (strings.Contains(low, "loginhook") || strings.Contains(low, "logouthook")):
			add(Persistence, AnyScope, "launch-agent")
		case first == "write" && (strings.Contains(low, "lsquarantine") || strings.Contains(low, "com.apple.alf")):
			add(TrustDown, System, "guard-off")
		case first == "delete", first == "write" && strings.Contains(low, "loginwindow"):
			add(Service, AnyScope, "system-defaults")
		}
	case "xattr":
		if c.short("c") || c.short("d") && c.has("com.apple.quarantine") {
			add(TrustDown, AnyScope, "guard-off")
		}
	case "pre-commit", "lefthook", "husky":
		if first == "uninstall" {
			add(TrustDown, AnyScope, "git-trust-down")
		}
	case "security":
		switch first {
		case "find-generic-password", "find-internet-password", "dump-keychain", "export", "find-key":
			add(SecretRead, AnyScope, "secret-tool")
		case "delete-keychain", "delete-generic-password", "delete-internet-password", "delete-certificate":
			add(Delete, Home, "delete-home")
		case "add-trusted-cert", "authorizationdb", "unlock-keychain", "set-keychain-settings":
			add(TrustDown, System, "certificate-store")
		}
	case "update-ca-certificates", "trust", "certmgr", "keytool":
		if name == "trust" && first == "anchor" || name == "keytool" && c.has("-delete") {
			add(TrustDown, AnyScope, "certificate-store")
		}
	case "apt", "apt-get", "aptitude", "dpkg", "yum", "dnf", "zypper", "pacman", "apk", "rpm", "snap", "flatpak", "port", "choco", "scoop", "winget", "brew", "emerge", "xbps-remove", "pkg", "nix-env", "tdnf", "eopkg", "microdnf":
		j.systemPackages(c, name, c.plain(" -o --option -c --config-file -t --target-release --default-release --setopt --enablerepo --disablerepo --repo --repoid --releasever --installroot -R --root "), all)
	case "lidguard", "lidguard-hook":
		j.ourselves(c, ops, all)
	case "claude", "codex", "copilot", "gemini", "opencode", "cursor-agent", "aider", "goose", "amp":
		j.agents(c, ops, all)
	default:
		return false
	}
	return true
}

func (j *judge) systemctl(c *call, all string) {
	first := ""
	ops := c.plain(" -H --host -M --machine -t --type --state -p --property -n --lines -o --output --root --image -s --signal --kill-whom --job-mode --what ")
	if len(ops) > 0 {
		first = ops[0]
	}
	switch first {
	case "poweroff", "reboot", "halt", "suspend", "hibernate", "hybrid-sleep", "suspend-then-hibernate", "kexec", "soft-reboot", "exit", "emergency", "rescue", "isolate":
		j.add(c, Power, AnyScope, "power", all)
	case "stop", "disable", "mask", "kill", "revert", "set-default", "clean", "freeze":
		if slices.ContainsFunc(ops[1:], func(unit string) bool { return strings.Contains(unit, "lidguard") }) {
			j.add(c, AgentConfig, AnyScope, "agent-config", all)
		}
		j.add(c, Service, AnyScope, "service-stop", all)
	case "enable", "link", "edit", "preset", "preset-all", "import-environment", "set-environment", "add-wants", "add-requires":
		j.add(c, Persistence, AnyScope, "service-unit", all)
	}
}

// kill judges the ending of processes: one's own pid is day work, everybody's is
// not.
func (j *judge) kill(c *call, name, all string) {
	argv := c.argv()
	if name == "killall5" {
		j.add(c, KillAll, AnyScope, "kill-all", all)
		return
	}
	words := argv[1:]
	for i := range c.l.Argv { // kill $(pgrep lidguard)
		for _, v := range c.l.Argv[i].Each() {
			for _, h := range v.Holes {
				if (name == "kill" || name == "skill") && j.listsAll(h.From) {
					j.add(c, KillAll, AnyScope, "kill-all", all)
					return
				}
				for from := h.From.From; from < h.From.To && from < len(j.f.Leaves); from++ {
					switch l := &j.f.Leaves[from]; l.Name {
					case "pgrep", "pidof", "ps", "grep":
						for k := range l.Argv {
							if strings.Contains(l.Argv[k].Text, "lidguard") {
								j.add(c, AgentConfig, AnyScope, "agent-config", all)
								return
							}
						}
					}
				}
			}
		}
	}
	for i, t := range words {
		switch name {
		case "kill", "skill":
			if (t == "-1" || t == "--" && i+1 < len(words) && words[i+1] == "-1") && (i > 0 || len(words) == 1 || t == "--") {
				j.add(c, KillAll, AnyScope, "kill-all", all)
			}
			if (t == "1" || t == "0") && (i == len(words)-1 || i > 0) && !(i > 0 && (words[i-1] == "-s" || words[i-1] == "-n")) {
				if t == "0" && i > 0 && words[i-1] == "-0" {
					continue
				}
				if t == "1" {
					j.add(c, KillAll, AnyScope, "kill-init", all)
				}
			}
		case "pkill", "killall":
			low := strings.ToLower(strings.TrimSuffix(t, ".exe"))
			switch low {
			case "systemd", "init", "launchd", "sshd", "dbus-daemon", "xorg", "gdm", "sddm", "lightdm", "windowserver", "loginwindow", "finder", "dock", "gnome-shell", "kwin_x11", "kwin_wayland", "plasmashell", "networkmanager", "logind", "systemd-logind", "kernel_task", "cron", "crond", "rsyslogd", "auditd", "wpa_supplicant", "containerd", "dockerd", "clamd", "falcon-sensor", "osqueryd", "wazuh-agentd", "fail2ban-server", "bash", "zsh", "explorer", "polkitd":
				j.add(c, ProcessKill, System, "kill-system-process", all)
			case "lidguard", "lidguard-hook", "claude", "codex", "copilot", "opencode":
				j.add(c, AgentConfig, AnyScope, "agent-config", all)
			case ".", ".*", "", "*", "^":
				if t == "" || t != "" && t[0] != '-' {
					j.add(c, KillAll, AnyScope, "kill-all", all)
				}
			}
			if (t == "-u" || t == "-U" || t == "--euid" || t == "--user") && len(c.operands(" -u -U --user --euid -s --signal ")) == 0 {
				j.add(c, KillAll, AnyScope, "kill-all", all)
			}
			if t == "-v" && name == "pkill" || t == "--inverse" {
				j.add(c, KillAll, AnyScope, "kill-all", all)
			}
		case "taskkill":
			low := strings.ToLower(t)
			switch low {
			case "svchost.exe", "csrss.exe", "wininit.exe", "winlogon.exe", "lsass.exe", "services.exe", "smss.exe", "explorer.exe", "dwm.exe", "system":
				j.add(c, ProcessKill, System, "kill-system-process", all)
			case "*":
				j.add(c, KillAll, AnyScope, "kill-all", all)
			}
			if strings.HasPrefix(low, "lidguard") {
				j.add(c, AgentConfig, AnyScope, "agent-config", all)
			}
		case "fuser":
			if strings.Contains(t, "k") && strings.HasPrefix(t, "-") && len(c.operands("")) > 0 && c.short("m") {
				j.add(c, ProcessKill, System, "kill-system-process", all)
			}
		}
	}
	if name == "killall" && (c.short("9") || c.has("-KILL", "-SIGKILL")) || name == "pkill" && (c.short("9") || c.has("-KILL", "-SIGKILL", "--signal")) && !c.short("fxPp") && !c.has("--full", "--exact", "--parent") {
		j.add(c, ProcessKill, AnyScope, "kill-by-name", all)
	}
}

// listsAll reports whether a pipeline gives the number of every process: a ps of
// all of them, with nothing behind it that picks some.
func (j *judge) listsAll(s shell.Span) bool {
	lists := false
	for depth := 0; depth < 12 && s.From < len(j.f.Leaves); depth++ { // to where the pipeline starts
		in := &j.f.Leaves[s.From].Stdin
		if in.Kind != shell.InputPipe || in.From.From >= s.From {
			break
		}
		s.From = in.From.From
	}
	for i := s.From; i < s.To && i < len(j.f.Leaves); i++ {
		from := call{j: j, i: i, l: &j.f.Leaves[i]}
		all := strings.Join(from.argv(), " ")
		switch from.name() {
		case "ps":
			lists = from.short("eA") || strings.Contains(all, " aux") || strings.Contains(all, " ax")
			if from.has("-C", "-p", "--ppid", "-u", "-U", "-t", "-g") {
				return false
			}
		case "awk", "gawk", "mawk":
			if strings.ContainsAny(all, "/~") || strings.Contains(all, "==") {
				return false
			}
		case "cut", "tr", "xargs", "sort", "cat", "uniq":
		case "sed":
			if !strings.Contains(all, "1d") {
				return false
			}
		case "tail":
			if !strings.Contains(all, "+2") {
				return false
			}
		default:
			return false
		}
	}
	return lists
}

func (j *judge) guards(c *call, name, all, first string) {
	low := strings.ToLower(all)
	hit := false
	switch name {
	case "setenforce":
		hit = first == "0" || strings.EqualFold(first, "permissive")
	case "aa-disable", "aa-teardown", "aa-complain":
		hit = true
	case "apparmor_parser":
		hit = c.short("R")
	case "spctl":
		hit = strings.Contains(low, "disable") || strings.Contains(low, "--add")
	case "csrutil", "fdesetup":
		hit = first == "disable" || first == "clear" || first == "authenticated-root" && strings.Contains(low, "disable")
	case "iptables-restore":
		hit = !c.has("-t", "--test")
	case "ufw":
		hit = strings.Contains(low, "disable") || strings.Contains(low, "reset") || strings.Contains(low, "delete") || strings.Contains(low, "default allow")
	case "iptables", "ip6tables", "ebtables":
		hit = c.short("FXDPZ") || c.optionFits("--fl~ush|--delete-~chain|--del~ete|--pol~icy")
	case "nft":
		hit = strings.Contains(low, " flush") || strings.Contains(low, " delete")
	case "firewall-cmd":
		hit = strings.Contains(low, "--remove") || strings.Contains(low, "--panic") || strings.Contains(low, "--set-default-zone")
	case "pfctl":
		hit = c.short("dF")
	case "auditctl":
		hit = c.short("D") || strings.Contains(low, "-e 0")
	case "netsh":
		hit = strings.Contains(low, "firewall") && (strings.Contains(low, "off") || strings.Contains(low, "delete") || strings.Contains(low, "disable") || strings.Contains(low, "reset") || strings.Contains(low, "enable=no"))
	case "tccutil":
		hit = first == "reset"
	case "semanage", "setsebool":
		hit = true
	case "wevtutil":
		hit = strings.EqualFold(first, "cl") || strings.EqualFold(first, "clear-log")
	case "auditpol":
		hit = strings.Contains(low, "/clear") || strings.Contains(low, "/remove") || strings.Contains(low, "disable")
	case "socketfilterfw":
		hit = strings.Contains(low, "off")
	}
	if hit {
		j.add(c, TrustDown, System, "guard-off", all)
	}
}

func (j *judge) systemPackages(c *call, name string, ops []string, all string) {
	first := ""
	if len(ops) > 0 {
		first = ops[0]
	}
	if c.has("--dry-run", "--simulate", "--just-print", "--assumeno", "--print") || name != "brew" && name != "pacman" && c.short("s") && (name == "apt" || name == "apt-get") {
		return
	}
	switch {
	case first == "remove" || first == "purge" || first == "autoremove" || first == "uninstall" || first == "erase" || first == "rm" || first == "del" || first == "zap" || name == "xbps-remove",
		name == "dpkg" && (c.short("rP") || c.has("--remove", "--purge")),
		name == "rpm" && (c.short("e") || c.has("--erase")),
		name == "pacman" && len(c.argv()) > 1 && strings.HasPrefix(c.argv()[1], "-R"),
		name == "emerge" && (c.has("--unmerge", "--depclean") || c.short("C")):
		j.add(c, GlobalInstall, One, "system-package-remove", all)
	case name == "apt" || name == "apt-get":
		if c.has("--allow-unauthenticated", "--force-yes") {
			j.add(c, TrustDown, AnyScope, "unsigned-package", all)
		}
	}
}

// ourselves judges lidguard's own commands: an agent may look and have its work
// tracked, not switch off, and not speak for its client.
func (j *judge) ourselves(c *call, ops []string, all string) {
	if len(ops) == 0 {
		return
	}
	words := strings.Join(ops[:min(len(ops), 2)], " ") + " "
	for _, reads := range [...]string{"start ", "status ", "live-status ", "can-close ", "why ", "away-report ", "doctor ", "demo ", "current-", "suspend-history ", "preview-", "simulate ", "hook-status ",
		"hook-events ", "claude-hooks ", "codex-hooks ", "copilot-hooks ", "opencode-hooks ", "mcp-status ", "provider-mcp-status ", "completion ", "version ", "help ",
		"linux-permission status", "linux-permission check", "macos-permission status", "macos-permission check",
		"hooks explain", "hooks list", "hooks why", "hooks panes", "hooks run-check", "hooks events", "hooks lint", "hooks replay", "hooks audit", "hooks bench", "hooks adapt", "hooks new", "hooks help"} {
		if strings.HasPrefix(words, reads) {
			return
		}
	}
	switch argv := c.argv(); ops[0] {
	case "settings": // shows them, unless it is given one
		if len(ops) == 1 && !slices.ContainsFunc(argv[1:], func(t string) bool { return t != "settings" && t != "--json" }) {
			return
		}
	case "hooks":
		if len(ops) == 1 || ops[1] == "build" && slices.Contains(argv, "--check") {
			return
		}
	case "setup", "uninstall", "hook-install", "hook-remove", "mcp-install", "mcp-remove", "provider-mcp-install", "provider-mcp-remove":
		if slices.Contains(argv, "--dry-run") {
			return
		}
	case "mcp-server", "provider-mcp-server":
		if c.l.Stdin.Kind == shell.InputInherit {
			return // nobody asks it for anything
		}
	}
	j.add(c, AgentConfig, AnyScope, "agent-config", all)
}

// agents judges commands of agents that start one without its guards, or change
// what agents may do and what runs beside them.
func (j *judge) agents(c *call, ops []string, all string) {
	for _, t := range c.argv() {
		switch t {
		case "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--yolo", "--dangerously-bypass-hook-trust",
			"--allow-all-tools", "--allow-all-paths", "--allow-all", "--full-auto", "--yes-always", "danger-full-access", "--sandbox=danger-full-access", "bypassPermissions", "--permission-mode=bypassPermissions", "--dangerously-allow-all":
			j.add(c, TrustDown, System, "agent-without-guards", all)
		}
		if low := strings.ToLower(t); strings.Contains(low, "disableallhooks") || strings.Contains(low, "features.hooks") || strings.HasPrefix(low, "hooks.") {
			j.add(c, TrustDown, System, "agent-without-guards", all)
		}
	}
	if c.l.Name == "cursor-agent" && (c.short("f") || c.has("--force")) {
		j.add(c, TrustDown, System, "agent-without-guards", all)
	}
	if a := c.opt("--disable"); a != nil && a.Text == "hooks" {
		j.add(c, TrustDown, System, "agent-without-guards", all)
	}
	if len(ops) < 2 {
		return
	}
	switch ops[0] + " " + ops[1] {
	case "config set", "config add", "config remove", "mcp add", "mcp add-json", "mcp add-from-claude-desktop", "mcp remove", "mcp reset-project-choices",
		"plugin install", "plugin uninstall", "plugin remove", "plugin enable", "plugin disable", "plugin marketplace", "features enable", "features disable":
		j.add(c, AgentConfig, AnyScope, "agent-config", all)
	}
}

// assigns judges variables that change what other programs do.
func (j *judge) assigns(c *call) {
	for i := range c.l.Assigns {
		a := &c.l.Assigns[i]
		j.variable(c, a.Name, &a.Value, a.Exported || c.l.Flags&(shell.AssignOnly) == 0)
	}
	for i := range c.l.Exported {
		a := &c.l.Exported[i]
		if gitVariable(a.Name) {
			j.variable(c, a.Name, &a.Value, true)
		}
	}
}

func gitVariable(name string) bool { return strings.HasPrefix(name, "GIT_CONFIG") }

func (j *judge) variable(c *call, name string, v *shell.Value, exported bool) {
	if len(v.Alts) > 0 { // as after a loop: any of them may be it
		for _, one := range v.Each() {
			j.variable(c, name, &one, exported)
		}
		return
	}
	text := v.String()
	target := name + "=" + text
	if j.f.Dialect == shell.Cmd || j.f.Dialect == shell.PowerShell {
		name, text = strings.ToUpper(name), strings.TrimSpace(text)
	}
	hijack := false
	switch name {
	case "CLAUDE_CONFIG_DIR", "CODEX_HOME":
		// Another home for the client is one without hooks.
		if client := strings.ToLower(name[:strings.IndexByte(name, '_')]); c.l.Name == client && text != "" && len(c.l.Argv) > 1 && !c.has("--version", "-V", "--help", "-h") && !c.fits("mcp|login|logout|doctor|config list|get|status", c.operandsFrom(1)) {
			j.add(c, TrustDown, System, "agent-without-guards", target)
		}
	case "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "DYLD_FRAMEWORK_PATH":
		hijack = text != "" && !systemLibrary(text)
	case "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PERL5LIB", "RUBYLIB", "NODE_PATH", "CLASSPATH":
		hijack = strings.HasPrefix(text, "/tmp") || strings.HasPrefix(text, "/dev/shm") || strings.HasPrefix(text, "/var/tmp")
	case "NODE_OPTIONS":
		hijack = wordIn(text, "--require", "-r", "--import", "--loader", "--experimental-loader", "--eval", "-e", "--env-file") || strings.Contains(text, "--inspect=0.0.0.0")
	case "PS0", "PS1", "PS2", "PS4":
		// Prompts are expanded, PS4 before each command of bash -x.
		if strings.Contains(text, "$(") || strings.Contains(text, "`") {
			j.inner(": \""+text+"\"", shell.POSIX, c.l.Offset, c.l.End)
		}
	case "PROMPT_COMMAND", "PYTHONSTARTUP", "PYTHONINSPECT", "PERL5DB", "ZDOTDIR":
		hijack = text != ""
	case "BASH_ENV", "ENV":
		hijack = text != "" && (name == "BASH_ENV" || strings.ContainsAny(text, "/$`(") && exported)
	case "PERL5OPT", "RUBYOPT":
		hijack = strings.Contains(text, "-M") || strings.Contains(text, "-r") || strings.Contains(text, "-I")
	case "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "MAVEN_OPTS":
		hijack = strings.Contains(text, "-javaagent") || strings.Contains(text, "-agentpath") || strings.Contains(text, "OnOutOfMemoryError") || strings.Contains(text, "-XX:OnError")
	case "PATH":
		list := ":"
		if j.windowsText() && (drive(text) || strings.Contains(text, ";")) {
			list = ";"
		}
		first, _, _ := strings.Cut(text, list)
		if list == ";" {
			if p := j.w.classify(strings.TrimRight(strings.ReplaceAll(first, `\`, "/"), "/") + "/x"); drive(first) && p == Temp {
				hijack = true
			}
		}
		hijack = hijack || first == "." || first == "" && strings.HasPrefix(text, ":") || under(first, "/tmp") || under(first, "/var/tmp") || under(first, "/dev/shm")
	case "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR":
		hijack = !harmlessTool(text) && !strings.HasPrefix(text, "ssh ") || strings.Contains(strings.ToLower(text), "proxycommand") || strings.Contains(text, "LocalCommand")
		if text == "" || text == "echo" || strings.HasPrefix(text, "/bin/echo") || strings.HasPrefix(text, "/bin/true") {
			hijack = false
		}
	case "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC", "MAKEFILES", "npm_config_script_shell", "NPM_CONFIG_SCRIPT_SHELL", "npm_config_git":
		hijack = tempCode(text)
	case "RUSTFLAGS", "CFLAGS", "CXXFLAGS", "CGO_CFLAGS", "CGO_LDFLAGS", "GOFLAGS":
		// linker=X, -fplugin=X, -toolexec=X
		for f := range strings.FieldsSeq(text) {
			key, value, _ := strings.Cut(f, "=")
			hijack = hijack || tempCode(value) && (strings.HasSuffix(key, "linker") || key == "-fplugin" || strings.HasSuffix(key, "-toolexec") || strings.HasSuffix(key, "-exec") || strings.HasSuffix(key, "-vettool"))
		}
	case "MAKEFLAGS":
		if _, cmd, ok := strings.Cut(text, "$(shell "); ok {
			j.inner(strings.TrimRight(cmd, ") '\""), shell.POSIX, c.l.Offset, c.l.End)
		}
	case "LESS":
		if i := strings.Index(text, "+!"); i >= 0 {
			j.inner(text[i+2:], shell.POSIX, c.l.Offset, c.l.End)
		}
	case "CC", "CXX", "LD", "AR", "CPP", "CONFIG_SHELL", "FZF_DEFAULT_COMMAND", "PSQL_PAGER", "PSQL_EDITOR", "SYSTEMD_PAGER", "HGEDITOR", "SVN_EDITOR",
		"EDITOR", "VISUAL", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "PAGER", "GIT_PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "SUDO_EDITOR":
		if len(v.Holes) == 0 && strings.ContainsAny(text, " ;|&`$(") && exported {
			j.inner(text, shell.POSIX, c.l.Offset, c.l.End)
		}
	case "NODE_TLS_REJECT_UNAUTHORIZED":
		if text == "0" {
			j.add(c, TrustDown, AnyScope, "tls-off", target)
		}
	case "GIT_SSL_NO_VERIFY", "PYTHONHTTPSVERIFY", "GONOSUMCHECK", "GONOSUMDB", "GOINSECURE", "GOFLAGS_INSECURE", "CURL_INSECURE":
		if (name == "GIT_SSL_NO_VERIFY" && text != "0" && text != "false") || name == "PYTHONHTTPSVERIFY" && text == "0" {
			j.add(c, TrustDown, AnyScope, "tls-off", target)
		}
	case "HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTIGNORE", "SAVEHIST":
		if text == "/dev/null" || text == "0" || text == "*" {
			j.add(c, TrustDown, AnyScope, "history-clear", target)
		}
	case "LIDGUARD_HOME":
		j.add(c, AgentConfig, AnyScope, "agent-config", target)
	case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG":
		hijack = text != "" && text != "/dev/null"
	}
	if strings.HasPrefix(name, "GIT_CONFIG_VALUE_") && (strings.HasPrefix(text, "!") || strings.ContainsAny(text, ";|`$")) {
		hijack = true
	}
	if strings.HasPrefix(name, "GIT_CONFIG_KEY_") && runsByConfig(strings.ToLower(text)) && strings.ToLower(text) != "core.pager" {
		hijack = true
	}
	if strings.HasPrefix(name, "BASH_FUNC_") {
		hijack = true
	}
	if hijack {
		j.add(c, EnvHijack, AnyScope, "environment-hijack", target)
	}
}

func wordIn(text string, words ...string) bool {
	for _, f := range strings.Fields(text) {
		name, _, _ := strings.Cut(f, "=")
		for _, w := range words {
			if name == w {
				return true
			}
		}
	}
	return false
}

// systemLibrary reports whether every library of a preload list is the system's.
func systemLibrary(list string) bool {
	for _, p := range strings.FieldsFunc(list, func(r rune) bool { return r == ':' || r == ' ' }) {
		if !strings.HasPrefix(p, "/usr/lib") && !strings.HasPrefix(p, "/lib") && !strings.HasPrefix(p, "/opt/homebrew/") && !strings.HasPrefix(p, "/usr/local/lib") {
			switch p {
			case "libjemalloc.so", "libjemalloc.so.2", "libasan.so", "libtcmalloc.so", "libfaketime.so.1":
				continue
			}
			return false
		}
	}
	return true
}
