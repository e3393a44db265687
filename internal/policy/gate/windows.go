package gate

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// windowsPrograms judges programs that come with Windows and change the machine, or
// hand out what it keeps. Their switches begin with / or -, in letters of any case, so
// they are looked for in the whole line. Facts: their help of Windows 11.
func (j *judge) windowsPrograms(c *call, name string) {
	argv := c.argv()
	var all, low string
	read := func() string { // for hardly any program
		if all == "" {
			all = strings.Join(argv, " ")
			low = strings.ReplaceAll(strings.ToLower(all), " //", " /") // as Git's shell needs them
		}
		return low
	}
	has := func(words ...string) bool { return containsAny(read(), words...) }
	add := func(e Effect, s Scope, rule string) {
		read()
		j.add(c, e, s, rule, all)
	}
	switch name {
	case "sdelete", "sdelete64":
		for _, a := range c.operands(" -p -r ") {
			if p := j.locate(a, c.l.Dir); p.path != "" && len(p.path) <= 3 || has(" -z", " -c", "/z") {
				add(Disk, AnyScope, "disk-write")
			} else if p.scope >= Project {
				j.add(c, Delete, max(p.scope, Tracked), "shred", p.text)
			}
		}
	case "reagentc":
		if has("/disable") {
			add(Boot, AnyScope, "boot")
		}
	case "manage-bde":
		if has("-off", "-disable", "-delete", "-forcerecovery", "-wipefreespace") {
			add(TrustDown, System, "guard-off")
		}
	case "fsutil":
		if has("deletejournal", "setzerodata", "setvaliddata", "resetjournal", "repair set", "setdirty", "dirty set") {
			add(Disk, AnyScope, "disk-write")
		}
	case "mountvol":
		if has(" /d", " /p", " /r", " /s") {
			add(Disk, AnyScope, "volume-remove")
		}
	case "convert":
		if has("/fs:") {
			add(Disk, AnyScope, "disk-format")
		}
	case "rundll32":
		switch {
		case has("setsuspendstate", "exitwindows", "shutdownwindows"):
			add(Power, AnyScope, "power")
		case has("comsvcs") && has("minidump", "#24"):
			add(SecretRead, AnyScope, "secret-tool")
		}
	case "logoff", "rwinsta", "tsshutdn":
		add(Power, AnyScope, "power")
	case "taskkill":
		// A filter that everything fits.
		if has("/fi") && !has("imagename eq ", "windowtitle eq ", "pid eq ", "services eq ", "modules eq ") {
			add(KillAll, AnyScope, "kill-all")
		}
	case "reg":
		switch {
		case has(" save ", " export ") && has(`\sam`, `\system`, `\security`):
			add(SecretRead, AnyScope, "secret-tool")
		case has(" add ", " delete ", " import ", " restore ", " load "):
			j.regProgram(c, low, all)
		}
	case "regedit":
		if has("/s", ".reg") {
			add(Overwrite, System, "registry")
		}
	case "sc":
		if has(" config ") && has("binpath") {
			add(Persistence, AnyScope, "service-unit")
		}
	case "net", "net1":
		switch {
		case has(" share ") && has("=", "/delete", "/del"):
			add(Listen, AnyScope, "listen")
		case has(" accounts /"):
			add(UserAccount, AnyScope, "user-account")
		case has(" use *") && has(" /d"):
			add(Service, AnyScope, "network-change")
		}
	case "netsh":
		switch {
		case has("key=clear"):
			add(SecretRead, AnyScope, "secret-tool")
		case has("interface set interface") && has("disable"), has("winsock reset"), has("int ip reset"):
			add(Service, AnyScope, "service-stop")
		case has(" winhttp set proxy", " winhttp reset", " wlan delete", " route delete", " route set"), has(" interface ", " int ") && has(" ip", " tcp") && has(" set ", " delete ", " del ", " reset"):
			add(Service, AnyScope, "network-change")
		case has("portproxy add"):
			add(Listen, AnyScope, "tunnel")
		}
	case "certutil", "certmgr":
		switch {
		case has("addstore", "delstore", "-add ", "importpfx"):
			add(TrustDown, AnyScope, "certificate-store")
		case has("urlcache") && len(argv) > 2:
			a := c.l.Argv[len(argv)-1]
			j.write(c, &a, false)
		}
	case "msiexec":
		if has("http://", "https://") {
			add(RemoteExec, AnyScope, "download-into-interpreter")
		} else if has("/x", "/uninstall") {
			add(GlobalInstall, One, "system-package-remove")
		}
	case "wmic":
		switch {
		case has("/format:") && has("http:", "https:", `\\`):
			add(RemoteExec, AnyScope, "download-into-interpreter")
		case has("useraccount") && has(" delete", " set ", " rename", " create"):
			add(UserAccount, AnyScope, "user-account")
		case has(" os ") && has("reboot", "shutdown"):
			add(Power, AnyScope, "power")
		case has("datafile", "fsdir") && has(" delete", " rename"):
			add(Delete, System, "delete-system")
		case has("call uninstall"):
			add(GlobalInstall, One, "system-package-remove")
		case has("process") && has(" delete", "terminate") && (!has("where") || has("'%'", "like '%'")):
			add(KillAll, AnyScope, "kill-all")
		}
	case "vaultcmd":
		if has("/listcreds") {
			add(SecretRead, AnyScope, "secret-tool")
		}
	case "cmdkey":
		if has("/list") {
			add(SecretRead, AnyScope, "secret-tool")
		}
	case "procdump", "procdump64":
		if has("lsass") {
			add(SecretRead, AnyScope, "secret-tool")
		}
	case "ntdsutil":
		if has("ntds", "ifm") {
			add(SecretRead, AnyScope, "secret-tool")
		}
	case "setx":
		if len(argv) > 2 {
			j.variable(c, strings.ToUpper(argv[1]), &c.l.Argv[2].Value, true)
			if has(" /m") || strings.EqualFold(argv[1], "path") {
				add(Service, AnyScope, "system-defaults")
			}
		}
	case "assoc":
		if has("=") {
			add(Service, AnyScope, "system-defaults")
		}
	case "ftype": // what opens a kind of file
		if has("=") {
			add(Persistence, AnyScope, "registry")
		}
	case "sdbinst":
		if !has("/?", "-?") {
			add(Persistence, AnyScope, "registry")
		}
	case "date", "time": // of cmd.exe; elsewhere other programs
		if j.f.Dialect != shell.Cmd {
			return
		}
		if t := strings.TrimPrefix(read(), name+" "); t != "" && t[0] >= '0' && t[0] <= '9' {
			add(Service, AnyScope, "system-defaults")
		}
	case "w32tm":
		if has("/config", "/register", "/unregister") {
			add(Service, AnyScope, "system-defaults")
		}
	case "tzutil":
		if has("/s ") {
			add(Service, AnyScope, "system-defaults")
		}
	case "pnputil":
		if has("/delete-driver", "/add-driver", "/remove-device", "/disable-device", " -d ", " -a ", " -i ") {
			add(Service, AnyScope, "system-defaults")
		}
	case "ipconfig":
		if has("/release") {
			add(Service, AnyScope, "network-change")
		}
	case "arp":
		if j.windowsText() && has(" -d", " -s", "/d", "/s") {
			add(Service, AnyScope, "network-change")
		}
	case "winrm":
		if has("quickconfig", " qc") || has("trustedhosts", "allowunencrypted", "auth") && has(" set ", " s ", " put ") {
			add(TrustDown, AnyScope, "guard-off")
		}
	case "chkdsk":
		if has("/f", "/r", "/x", "/b", "/spotfix", "/offlinescanandfix", "/perf") {
			add(Disk, AnyScope, "disk-write")
		}
	case "systemreset":
		add(Disk, AnyScope, "disk-format")
	case "robocopy":
		if ops := c.operands(""); len(ops) > 0 && has(" /mov") {
			if p := j.locate(ops[0], c.l.Dir); p.scope >= Home {
				j.add(c, MoveAway, p.scope, "move-away", p.text)
			}
		}
	case "mklink":
		for _, a := range c.operands("") {
			if !strings.HasPrefix(a.Text, "/") {
				j.write(c, a, false)
				break
			}
		}
	case "expand":
		if n := len(argv); n > 2 {
			j.write(c, &c.l.Argv[n-1], false)
		}
	case "runas":
		if has("/user:") {
			add(Elevate, AnyScope, "sudo")
		}
	case "psexec", "psexec64":
		if has(" -s", "/s ", " -h") {
			add(Elevate, AnyScope, "sudo")
		}
	case "bitsadmin":
		if has("setnotifycmdline") {
			add(Persistence, AnyScope, "scheduled-task")
		}
	case "dism":
		if has("/disable-feature", "/remove-package", "/apply-image") {
			add(TrustDown, System, "guard-off")
		}
	case "wusa":
		if has("/uninstall") {
			add(GlobalInstall, One, "system-package-remove")
		}
	case "secedit":
		if has("/configure", "/import") {
			add(TrustDown, System, "guard-off")
		}
	case "powercfg":
		if has("/hibernate off", "-h off", "/h off") {
			add(Service, AnyScope, "service-stop")
		}
	}
}

// regProgram judges what reg.exe changes, by the key it names. A file of keys may hold
// any.
func (j *judge) regProgram(c *call, low, all string) {
	key := ""
	for _, t := range c.argv()[1:] {
		t = strings.ToLower(t)
		if strings.HasPrefix(t, "hk") || strings.HasPrefix(t, `\\`) {
			key = t
			break
		}
	}
	deletes := strings.Contains(low, " delete ")
	switch {
	case startsPrograms(low):
		j.add(c, Persistence, AnyScope, "registry", all)
	case !deletes && key != "" && ownKey(key) && !strings.Contains(low, `policies\`):
	case deletes && ownKey(key) && strings.Count(key, `\`) > 2:
		j.add(c, Delete, Outside, "registry", all)
	case deletes:
		j.add(c, Delete, System, "registry", all)
	default:
		j.add(c, Overwrite, System, "registry", all)
	}
}

// ownKey tells keys that a person's programs keep their settings in.
func ownKey(key string) bool {
	return strings.HasPrefix(key, `hkcu\software\`) || strings.HasPrefix(key, `hkey_current_user\software\`)
}

// windowsText reports whether commands inside other program text are for cmd.exe.
func (j *judge) windowsText() bool {
	return j.w.Windows || j.f != nil && (j.f.Dialect == shell.PowerShell || j.f.Dialect == shell.Cmd)
}
