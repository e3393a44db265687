package gate

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// windowsOnly tells names that mean the same in any spelling.
func windowsOnly(low string) bool {
	return strings.HasSuffix(low, "-item") || strings.HasSuffix(low, "-computer") || strings.HasPrefix(low, "invoke-")
}

// psParam returns the value of a cmdlet's parameter; names may be cut short.
func (c *call) psParam(names ...string) *shell.Arg {
	argv := c.argv()
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		name, _, colon := strings.Cut(strings.ToLower(t[1:]), ":")
		for _, n := range names {
			if name == n || len(name) >= 3 && strings.HasPrefix(n, name) {
				if colon {
					a := c.l.Argv[i]
					a.Value = sliceFrom(a.Value, strings.IndexByte(argv[i], ':')+1)
					return &a
				}
				if i+1 < len(argv) {
					return &c.l.Argv[i+1]
				}
			}
		}
	}
	return nil
}

// psSwitch reports whether a switch is given, cut short to no less than min letters.
func (c *call) psSwitch(name string, min int) bool {
	for _, t := range c.argv()[1:] {
		if t == "" || t[0] != '-' {
			continue
		}
		if t = strings.ToLower(t); len(t) > min {
			word, v, _ := strings.Cut(t[1:], ":")
			if strings.HasPrefix(name, word) && v != "$false" {
				return true
			}
		}
	}
	return false
}

const psValued = " -path -literalpath -destination -destinationpath -argumentlist -typename -comobject -depth -width -delimiter -value -filter -include -exclude -encoding -name -propertytype -itemtype -erroraction -ea -outfile -uri -body -method -headers -drive -driveletter -filesystem -newname "

// psOperands are the positional words of a cmdlet.
func (c *call) psOperands() []*shell.Arg {
	var out []*shell.Arg
	argv := c.argv()
	for i := 1; i < len(argv); i++ {
		if t := argv[i]; len(t) > 1 && t[0] == '-' {
			if strings.Contains(psValued, " "+strings.ToLower(t)+" ") {
				i++
			}
			continue
		}
		out = append(out, &c.l.Argv[i])
	}
	return out
}

// cmdlets judges PowerShell's own commands.
func (j *judge) cmdlets(c *call, name string) bool {
	if strings.HasPrefix(name, ".") && len(c.l.Argv) > 1 && c.l.Flags&shell.Builtin != 0 {
		j.psMethod(c, name)
		return true
	}
	if !strings.ContainsRune(name, '-') && !strings.HasPrefix(name, "[") {
		return false
	}
	all := strings.Join(c.argv(), " ")
	if c.psSwitch("whatif", 4) {
		return true
	}
	paths := func() []*shell.Arg {
		if p := append(c.psValues("path"), c.psValues("literalpath")...); len(p) > 0 {
			return p
		}
		return c.psOperands()
	}
	low := strings.ToLower(all)
	switch name {
	case "remove-item", "clear-recyclebin", "clear-item", "clear-content":
		recursive := c.psSwitch("recurse", 1)
		args := paths()
		for _, a := range args {
			if t := strings.ToLower(a.String()); registryPath(c.inRegistry(t)) {
				j.add(c, Delete, System, "registry", a.String())
				continue
			} else if strings.HasPrefix(t, "env:") || strings.HasPrefix(t, "function:") || strings.HasPrefix(t, "alias:") || strings.HasPrefix(t, "variable:") {
				continue
			}
			for _, part := range splitList(a) {
				if name == "clear-content" {
					p := j.locate(&part, c.l.Dir)
					if !j.special(c, p, false) {
						j.add(c, Truncate, lift(p), "truncate", p.text)
					}
					continue
				}
				if !j.removeListed(c, &part, recursive) {
					j.remove(c, &part, recursive)
				}
			}
		}
		if in := c.l.Stdin.Text; len(args) == 0 && in != nil {
			for _, v := range in.Each() {
				if len(v.Holes) > 0 {
					j.removeListed(c, &shell.Arg{Value: v}, recursive)
					continue
				}
				for line := range strings.SplitSeq(strings.TrimSpace(v.Text), "\n") {
					a := shell.Arg{Value: shell.Value{Text: strings.TrimSpace(line)}}
					j.remove(c, &a, recursive)
				}
			}
		}
		if len(args) == 0 && c.l.Stdin.Kind == shell.InputPipe {
			for from := range j.f.Feeders(c.i) {
				j.psPipe(c, from, recursive)
			}
		}
		if name == "clear-recyclebin" {
			j.add(c, Delete, Outside, "delete-outside", all)
		}
	case "move-item", "rename-item":
		if to := c.psParam("destination"); name == "move-item" {
			if ops := c.psOperands(); to == nil && len(ops) > 1 {
				to = ops[len(ops)-1]
			}
			if to != nil {
				if p := j.locate(to, c.l.Dir); !j.specialFolder(c, p) && p.scope == System {
					j.add(c, Overwrite, System, "write-system", p.text)
				}
			}
		}
		for i, a := range paths() {
			if i > 0 && name == "move-item" {
				break
			}
			if p := j.locate(a, c.l.Dir); p.scope >= Home {
				j.add(c, MoveAway, p.scope, "move-away", p.text)
			}
		}
	case "set-content", "add-content", "out-file", "new-item", "tee-object", "export-csv", "copy-item", "set-item", "expand-archive", "compress-archive", "export-clixml", "start-transcript":
		target := c.psParam("filepath", "path", "literalpath", "destination", "destinationpath")
		if name == "copy-item" || name == "expand-archive" || name == "compress-archive" {
			target = c.psParam("destination", "destinationpath")
			ops := c.psOperands()
			if target == nil && len(ops) > 1 {
				target = ops[len(ops)-1]
			}
		} else if target == nil {
			if ops := c.psOperands(); len(ops) > 0 {
				target = ops[0]
			}
		}
		if target != nil {
			t := strings.ToLower(target.String())
			switch reg := c.inRegistry(t); {
			case registryPath(reg):
				j.registry(c, reg, all)
			case strings.HasPrefix(t, "env:"):
				if v := c.psParam("value"); v != nil {
					j.variable(c, t[4:], &v.Value, true)
				}
			case strings.HasPrefix(t, "function:"), strings.HasPrefix(t, "alias:"):
			case strings.HasPrefix(t, "wsman:"):
				if strings.Contains(low, "trustedhosts") || strings.Contains(low, "unencrypted") || strings.Contains(low, `\auth`) {
					j.add(c, TrustDown, AnyScope, "guard-off", all)
				}
			default:
				if name == "new-item" && strings.Contains(low, "directory") {
					break
				}
				if name == "copy-item" || name == "expand-archive" {
					if j.specialFolder(c, j.locate(target, c.l.Dir)) {
						break
					}
				}
				j.write(c, target, name == "add-content")
			}
		}
	case "set-itemproperty", "new-itemproperty", "remove-itemproperty", "clear-itemproperty", "rename-itemproperty":
		where := paths()
		if len(where) == 0 {
			break
		}
		if t := c.inRegistry(strings.ToLower(where[0].String())); registryPath(t) {
			j.registry(c, t, all)
		} else if p := j.locate(where[0], c.l.Dir); p.scope == System {
			j.add(c, Permission, System, "chmod-system", p.text)
		}
	case "import-certificate", "import-pfxcertificate":
		if strings.Contains(low, "root") || strings.Contains(low, "trustedpublisher") {
			j.add(c, TrustDown, AnyScope, "certificate-store", all)
		}
	case "new-netfirewallrule":
		if strings.Contains(low, "inbound") && strings.Contains(low, "allow") {
			j.add(c, TrustDown, AnyScope, "guard-off", all)
		}
	case "send-mailmessage":
		for _, a := range c.psValues("attachments") {
			j.handsOver(c, j.locate(a, c.l.Dir), all)
		}
	case "publish-module", "publish-script", "publish-psresource":
		j.add(c, Publish, AnyScope, "package-publish", all)
	case "remove-appxpackage", "uninstall-package", "uninstall-module", "uninstall-psresource", "uninstall-script", "remove-windowspackage", "remove-windowscapability", "remove-windowsfeature":
		j.add(c, GlobalInstall, One, "system-package-remove", all)
	case "invoke-cimmethod", "invoke-wmimethod":
		if strings.Contains(low, "reboot") || strings.Contains(low, "shutdown") {
			j.add(c, Power, AnyScope, "power", all)
		}
	case "remove-ciminstance", "remove-wmiobject":
		if strings.Contains(low, "shadowcopy") || j.fedBy(c, "shadowcopy") {
			j.add(c, Disk, AnyScope, "backup-delete", all)
		}
	case "format-volume", "clear-disk", "initialize-disk", "remove-partition", "new-partition", "set-disk", "reset-physicaldisk", "remove-virtualdisk", "remove-storagepool", "resize-partition", "optimize-volume":
		if name != "optimize-volume" {
			j.add(c, Disk, AnyScope, "disk-format", all)
		}
	case "stop-computer", "restart-computer":
		j.add(c, Power, AnyScope, "power", all)
	case "stop-process":
		names := c.psValues("name")
		if len(names) == 0 && c.psParam("id") == nil && c.psParam("inputobject") == nil {
			for _, a := range c.psOperands() {
				if t := a.String(); t == "*" {
					names = append(names, a)
				}
			}
		}
		for _, n := range names {
			switch t := strings.TrimSuffix(strings.ToLower(n.String()), ".exe"); t {
			case "*", "explorer", "lsass", "winlogon", "csrss", "services", "svchost", "wininit", "smss", "dwm", "system":
				j.add(c, KillAll, AnyScope, "kill-all", all)
			default:
				if strings.HasPrefix(t, "lidguard") {
					j.add(c, AgentConfig, AnyScope, "agent-config", all)
				}
			}
		}
		if c.l.Stdin.Kind == shell.InputPipe {
			for from := range j.f.Feeders(c.i) {
				j.endsProcesses(c, from, all)
			}
		}
		for i := range c.l.Argv {
			for _, h := range c.l.Argv[i].Holes {
				for from := h.From.From; from < h.From.To && from < len(j.f.Leaves); from++ {
					j.endsProcesses(c, from, all)
				}
			}
		}
	case "foreach-object":
		// gci | % Delete calls the method of each.
		for _, a := range c.psOperands() {
			for from := range j.f.Feeders(c.i) {
				switch strings.ToLower(a.Text) {
				case "kill":
					j.endsProcesses(c, from, all)
				case "delete":
					j.psPipe(c, from, true)
				}
			}
		}
	case "stop-service", "remove-service", "suspend-service":
		j.add(c, Service, AnyScope, "service-stop", all)
	case "set-service":
		if strings.Contains(low, "disabled") {
			j.add(c, Service, AnyScope, "service-stop", all)
		}
	case "new-service", "register-scheduledtask", "new-scheduledtask", "register-scheduledjob", "register-wmievent", "register-objectevent", "set-wmiinstance":
		if name != "register-objectevent" && name != "new-scheduledtask" {
			j.add(c, Persistence, AnyScope, "scheduled-task", all)
		}
	case "set-executionpolicy":
		if strings.Contains(low, "bypass") || strings.Contains(low, "unrestricted") {
			if !strings.Contains(low, "process") {
				j.add(c, TrustDown, System, "guard-off", all)
			} else {
				j.add(c, TrustDown, AnyScope, "guard-off", all)
			}
		}
	case "set-mppreference", "add-mppreference", "disable-netfirewallrule", "set-netfirewallprofile", "remove-netfirewallrule", "disable-windowsoptionalfeature", "uninstall-windowsfeature", "disable-bitlocker", "clear-eventlog", "remove-eventlog", "disable-computerrestore", "set-netfirewallrule", "disable-psremoting":
		if name == "set-netfirewallprofile" && !strings.Contains(low, "false") || name == "set-netfirewallrule" && !strings.Contains(low, "false") {
			break
		}
		j.add(c, TrustDown, System, "guard-off", all)
	case "new-localuser", "remove-localuser", "set-localuser", "add-localgroupmember", "disable-localuser", "enable-localuser", "set-adaccountpassword", "remove-aduser", "new-aduser", "remove-localgroup":
		j.add(c, UserAccount, AnyScope, "user-account", all)
	case "set-acl":
		for _, a := range paths() {
			if p := j.locate(a, c.l.Dir); p.scope >= Outside {
				j.add(c, Permission, p.scope, "chmod-system", p.text)
			}
		}
	case "start-process":
		if strings.Contains(low, "runas") {
			j.add(c, Elevate, AnyScope, "sudo", all)
		}
	case "invoke-webrequest", "invoke-restmethod", "start-bitstransfer":
		if o := c.psParam("outfile", "destination"); o != nil {
			j.write(c, o, false)
		}
		if f := c.psParam("infile"); f != nil {
			j.sends(c, f.String(), all)
		}
		if m := c.psParam("method"); m != nil && strings.EqualFold(m.String(), "delete") {
			if h := firstHost(c.argv()); !localHost(h) {
				j.add(c, CloudDestroy, One, "http-delete", all)
			}
		}
	case "remove-ec2instance", "remove-s3bucket", "remove-s3object", "remove-rdsdbinstance", "remove-cfnstack":
		j.add(c, CloudDestroy, Mass, "cloud-delete", all)
	case "remove-sqldatabase", "remove-dbadatabase":
		j.add(c, DatabaseDestroy, Mass, "database-drop", all)
	case "remove-vm", "remove-vmsnapshot":
		j.add(c, ContainerWipe, AnyScope, "vm-destroy", all)
	case "enable-psremoting", "enable-netfirewallrule", "grant-smbshareaccess", "enable-wsmancredssp":
		j.add(c, TrustDown, AnyScope, "guard-off", all)
	case "set-psrepository", "register-psrepository", "set-psresourcerepository", "register-psresourcerepository", "set-packagesource", "register-packagesource":
		if strings.Contains(low, "http:") {
			j.add(c, TrustDown, AnyScope, "registry-change", all)
		}
	case "set-date", "set-timezone", "rename-computer", "restore-computer", "set-smbserverconfiguration", "set-culture", "set-winsystemlocale":
		j.add(c, Service, AnyScope, "system-defaults", all)
	case "set-dnsclientserveraddress", "new-netipaddress", "set-netipaddress", "remove-netipaddress", "set-netipinterface", "set-netroute", "remove-netroute", "restart-netadapter", "rename-netadapter",
		"set-netconnectionprofile", "remove-vpnconnection", "remove-netnat", "remove-netneighbor", "set-netadapter":
		j.add(c, Service, AnyScope, "network-change", all)
	case "repair-volume":
		if strings.Contains(low, "fix") {
			j.add(c, Disk, AnyScope, "disk-write", all)
		}
	case "new-smbshare":
		j.add(c, Listen, AnyScope, "listen", all)
	case "unregister-scheduledtask", "disable-scheduledtask", "unregister-scheduledjob", "remove-smbshare", "remove-website", "remove-webapppool", "remove-webapplication", "remove-iissite", "disable-netadapter":
		j.add(c, Service, AnyScope, "service-stop", all)
	case "remove-mailbox", "remove-distributiongroup", "remove-spsite", "remove-team":
		j.add(c, CloudDestroy, One, "cloud-delete", all)
	case "stop-azvm", "stop-ec2instance", "stop-rdsdbinstance":
		j.add(c, CloudDestroy, One, "cloud-stop", all)
	case "remove-computer", "reset-computermachinepassword":
		j.add(c, UserAccount, AnyScope, "user-account", all)
	case "get-storedcredential", "get-secret", "export-pfxcertificate":
		j.add(c, SecretRead, AnyScope, "secret-tool", all)
	case "invoke-mimikatz", "invoke-expression", "add-type":
		if name == "invoke-mimikatz" {
			j.add(c, ReverseShell, AnyScope, "attack-tool", all)
		}
	}
	switch {
	case strings.HasPrefix(name, "remove-az"):
		if !strings.Contains(name, "context") && !strings.HasSuffix(name, "tag") {
			j.add(c, CloudDestroy, Mass, "cloud-delete", all)
		}
	case strings.HasPrefix(name, "remove-ad"), strings.HasPrefix(name, "remove-mg"), strings.HasPrefix(name, "remove-msol"):
		j.add(c, UserAccount, AnyScope, "user-account", all)
	}
	if strings.Contains(low, "amsiutils") || strings.Contains(low, "amsiinitfailed") {
		j.add(c, TrustDown, System, "guard-off", all)
	}
	// .NET calls on files and processes.
	if strings.HasPrefix(name, "[") {
		ops := c.operands("")
		switch {
		case strings.Contains(name, "directory]::delete"), strings.Contains(name, "file]::delete"), strings.Contains(name, "filesystem]::delete"):
			if len(ops) > 0 && !j.removeListed(c, ops[0], true) {
				j.remove(c, ops[0], true)
			}
		case strings.Contains(name, "]::move"), strings.Contains(name, "filesystem]::move"), strings.Contains(name, "file]::replace"):
			j.psMove(c, ops)
		case strings.Contains(name, "file]::copy"), strings.Contains(name, "filesystem]::copy"):
			if len(ops) > 1 {
				j.write(c, ops[1], false)
			}
		case strings.Contains(name, "file]::create"), strings.Contains(name, "streamwriter]::new"), strings.Contains(name, "filestream]::new"), strings.Contains(name, "file]::openwrite"), strings.Contains(name, "file]::set"),
			strings.Contains(name, "file]::open") && (strings.Contains(low, "create") || strings.Contains(low, "truncate") || strings.Contains(low, "write")):
			if len(ops) > 0 && !(strings.Contains(name, "filestream") && strings.Contains(low, "read") && !strings.Contains(low, "write")) {
				j.write(c, ops[0], false)
			}
		case strings.Contains(name, "registry]::set"):
			if len(ops) > 0 {
				j.registry(c, strings.ToLower(ops[0].String()), all)
			}
		case strings.Contains(name, "certificatevalidationcallback="):
			j.add(c, TrustDown, AnyScope, "tls-off", all)
		case strings.Contains(name, "]::setsuspendstate"), strings.Contains(name, "]::exitwindows"):
			j.add(c, Power, AnyScope, "power", all)
		case strings.Contains(name, "httplistener]::new"), strings.Contains(name, "tcplistener]::new"):
			j.add(c, Listen, AnyScope, "listen", all)
		case strings.Contains(name, "assembly]::load"):
			j.loads(c, all)
		case (strings.Contains(name, "tcpclient") || strings.Contains(name, "sockets.tcp")) && !j.triesPort():
			j.add(c, ReverseShell, AnyScope, "reverse-shell", all)
		case strings.Contains(name, "file]::write"), strings.Contains(name, "file]::append"):
			for i, a := range c.operands("") {
				if i == 0 {
					j.write(c, a, false)
				}
			}
		case strings.Contains(name, "file]::read"), strings.Contains(name, "file]::open"):
			if ops := c.operands(""); len(ops) > 0 {
				j.readPlace(c, j.locate(ops[0], c.l.Dir))
			}
		case strings.Contains(name, "setenvironmentvariable"):
			if len(c.l.Argv) > 2 {
				j.variable(c, c.l.Argv[1].String(), &c.l.Argv[2].Value, true)
				j.kept(c, c.argv()[1:], all)
			}
		}
	}
	if name == "new-object" {
		switch {
		case strings.Contains(low, "tcpclient") && !j.triesPort():
			j.add(c, ReverseShell, AnyScope, "reverse-shell", all)
		case strings.Contains(low, "httplistener"), strings.Contains(low, "tcplistener"):
			j.add(c, Listen, AnyScope, "listen", all)
		}
	}
	return true
}

// psValues are the values of a parameter that takes several: those up to the next
// parameter.
func (c *call) psValues(name string) (out []*shell.Arg) {
	first := c.psParam(name)
	if first == nil {
		return nil
	}
	for i := range c.l.Argv {
		if &c.l.Argv[i] == first {
			for ; i < len(c.l.Argv) && !strings.HasPrefix(c.l.Argv[i].Text, "-"); i++ {
				out = append(out, &c.l.Argv[i])
			}
			return out
		}
	}
	return []*shell.Arg{first}
}

// inRegistry is a path in lower case with the key that is the current folder in front
// of it, if one is.
func (c *call) inRegistry(p string) string {
	if dir := strings.ToLower(exactOr(c.l.Dir)); registryPath(dir) && !strings.Contains(p, ":") {
		return dir + `\` + p
	}
	return p
}

// registryPath tells paths, in lower case, of the registry and of the certificates.
func registryPath(p string) bool {
	p = strings.TrimPrefix(strings.TrimPrefix(p, "microsoft.powershell.core\\"), "registry::")
	for _, root := range [...]string{"hklm:", "hkcu:", "hkcr:", "hku:", "hkcc:", "hkey_", "cert:"} {
		if strings.HasPrefix(p, root) {
			return true
		}
	}
	return false
}

// registry judges a change of a key, in lower case. What is below a person's own
// Software is day work, unless programs are started from there.
func (j *judge) registry(c *call, key, all string) {
	low := key + " " + strings.ToLower(all)
	switch {
	case startsPrograms(low):
		j.add(c, Persistence, AnyScope, "registry", all)
	case strings.Contains(low, `policies\`) || strings.Contains(low, "defender") || strings.Contains(low, `control\lsa`):
		j.add(c, TrustDown, System, "guard-off", all)
	case strings.HasPrefix(key, "cert:"):
		j.add(c, TrustDown, AnyScope, "certificate-store", all)
	case !strings.Contains(key, "hkcu") && !strings.Contains(key, "hkey_current_user"):
		j.add(c, Overwrite, System, "registry", all)
	case strings.HasSuffix(strings.TrimRight(key, `\/`), "environment") && wordIn(low, "path"):
		j.add(c, Service, AnyScope, "system-defaults", all)
	}
}

// kept judges the words of SetEnvironmentVariable: a name, a value, and where it is
// kept. What is for the whole machine, and the search path of a person, stays.
func (j *judge) kept(c *call, words []string, all string) {
	if len(words) < 3 {
		return
	}
	switch where := strings.ToLower(words[2]); {
	case strings.HasSuffix(where, "machine"), where == "2",
		strings.EqualFold(words[0], "path") && (strings.HasSuffix(where, "user") || where == "1"):
		j.add(c, Service, AnyScope, "system-defaults", all)
	}
}

// startsPrograms tells keys of the registry, in lower case, from which Windows starts
// programs.
func startsPrograms(low string) bool {
	low = strings.ReplaceAll(low, "/", `\`)
	for _, key := range [...]string{`\run`, "winlogon", `\services`, "image file execution options", "appinit_dlls", `\shell\open\command`, "silentprocessexit", "userinitmprlogonscript", `\currentversion\windows\load`, "authentication packages", `\command processor`} {
		if strings.Contains(low, key) {
			return true
		}
	}
	return false
}

// specialFolder judges what is put into a folder from which Windows starts programs.
func (j *judge) specialFolder(c *call, p place) bool {
	if low := strings.ToLower(strings.ReplaceAll(p.text, `\`, "/")); strings.HasSuffix(strings.TrimRight(low, "/"), "/start menu/programs/startup") {
		j.add(c, Persistence, AnyScope, "start-up-file", p.text)
		return true
	}
	return false
}

// psMove judges a move of the first operand onto the second.
func (j *judge) psMove(c *call, ops []*shell.Arg) {
	if len(ops) < 2 {
		return
	}
	if p := j.locate(ops[0], c.l.Dir); p.scope >= Home {
		j.add(c, MoveAway, p.scope, "move-away", p.text)
	}
	j.write(c, ops[1], false)
}

// fedBy reports whether a leaf with that word feeds a call.
func (j *judge) fedBy(c *call, word string) bool {
	for from := range j.f.Feeders(c.i) {
		f := call{j: j, i: from, l: &j.f.Leaves[from]}
		if strings.Contains(strings.ToLower(strings.Join(f.argv(), " ")), word) {
			return true
		}
	}
	return false
}

// endsProcesses judges the end of what leaf from lists.
func (j *judge) endsProcesses(c *call, from int, all string) {
	f := call{j: j, i: from, l: &j.f.Leaves[from]}
	low := strings.ToLower(strings.Join(f.argv(), " "))
	switch f.l.Name {
	case "get-process":
		switch ops := f.psOperands(); {
		case strings.Contains(low, "lidguard"):
			j.add(c, AgentConfig, AnyScope, "agent-config", all)
		case len(ops) == 0 && f.psParam("name") == nil && f.psParam("id") == nil, len(ops) > 0 && ops[0].Text == "*":
			j.add(c, KillAll, AnyScope, "kill-all", all)
		}
	case "where-object":
		// All but one is everybody.
		for k := range j.f.Feeders(from) {
			if j.f.Leaves[k].Name == "get-process" && len(j.f.Leaves[k].Argv) == 1 {
				if strings.Contains(low, "lidguard") {
					j.add(c, AgentConfig, AnyScope, "agent-config", all)
				} else if strings.Contains(low, "-ne ") || strings.Contains(low, "-notlike") || strings.Contains(low, "-notmatch") || strings.Contains(low, "-notin") {
					j.add(c, KillAll, AnyScope, "kill-all", all)
				}
			}
		}
	}
}

// loads judges an assembly that is loaded from what was downloaded or decoded.
func (j *judge) loads(c *call, all string) {
	for i := range c.l.Argv {
		for _, h := range c.l.Argv[i].Holes {
			for from := h.From.From; from < h.From.To && from < len(j.f.Leaves); from++ {
				if l := &j.f.Leaves[from]; downloads(l.Name) || downloader(l) {
					j.add(c, RemoteExec, AnyScope, "download-into-interpreter", all)
				} else if decoder(l) {
					j.add(c, Opaque, AnyScope, "decoded-into-interpreter", all)
				}
			}
		}
	}
}

// downloader tells objects that fetch from the network.
func downloader(l *shell.Leaf) bool {
	if l.Name != "new-object" {
		return false
	}
	for i := range l.Argv {
		switch t := strings.ToLower(l.Argv[i].Text); {
		case strings.HasSuffix(t, "webclient"), strings.HasSuffix(t, "httpclient"), strings.Contains(t, "xmlhttp"), strings.Contains(t, "winhttp"), strings.HasSuffix(t, "webrequest"), strings.Contains(t, "internetexplorer"):
			return true
		}
	}
	return false
}

// psMethod judges a method call on an object, which is the last word.
func (j *judge) psMethod(c *call, name string) {
	argv := c.l.Argv
	subject, args := &argv[len(argv)-1], argv[1:len(argv)-1]
	all := strings.Join(c.argv()[:len(argv)-1], " ")
	each := func(f func(from int)) {
		for _, v := range subject.Each() {
			for _, h := range v.Holes {
				for from := h.From.From; from < h.From.To && from < len(j.f.Leaves); from++ {
					f(from)
				}
			}
		}
	}
	switch name {
	case ".foreach":
		if len(args) > 0 {
			each(func(from int) {
				switch strings.ToLower(args[0].Text) {
				case "delete":
					j.psPipe(c, from, true)
				case "kill":
					j.endsProcesses(c, from, all)
				}
			})
		}
	case ".createshortcut":
		if len(args) > 0 {
			j.special(c, j.locate(&args[0], c.l.Dir), false)
		}
	case ".delete", ".deletesubkeytree":
		if t, ok := subject.Exact(); ok && t != "" {
			j.remove(c, subject, true) // [IO.FileInfo]'x'
		}
		each(func(from int) {
			l := call{j: j, i: from, l: &j.f.Leaves[from]}
			if strings.Contains(strings.ToLower(strings.Join(l.argv(), " ")), "shadowcopy") {
				j.add(c, Disk, AnyScope, "backup-delete", all)
			}
			j.psPipe(c, from, true)
		})
	case ".kill", ".closemainwindow":
		each(func(from int) { j.endsProcesses(c, from, all) })
	case ".moveto":
		each(func(from int) {
			l := call{j: j, i: from, l: &j.f.Leaves[from]}
			for _, a := range l.psOperands() {
				if p := j.locate(a, l.l.Dir); p.scope >= Home {
					j.add(c, MoveAway, p.scope, "move-away", p.text)
				}
			}
		})
	case ".deletefolder", ".deletefile": // of Scripting.FileSystemObject
		if len(args) > 0 {
			a := args[0]
			a.Glob = a.Glob || globStart(a.Text) >= 0
			j.remove(c, &a, true)
		}
	case ".movefolder", ".movefile":
		if len(args) > 1 {
			j.psMove(c, []*shell.Arg{&args[0], &args[1]})
		}
	case ".copyfile", ".copyfolder":
		if len(args) > 1 {
			j.write(c, &args[1], false)
		}
	case ".createtextfile":
		if len(args) > 0 {
			j.write(c, &args[0], false)
		}
	case ".regwrite", ".regdelete": // of WScript.Shell
		if len(args) > 0 {
			j.registry(c, strings.ToLower(args[0].String()), all)
		}
	case ".reboot", ".win32shutdown", ".shutdown":
		each(func(from int) {
			l := call{j: j, i: from, l: &j.f.Leaves[from]}
			if strings.Contains(strings.ToLower(strings.Join(l.argv(), " ")), "operatingsystem") {
				j.add(c, Power, AnyScope, "power", all)
			}
		})
	case ".uploadfile", ".uploadfileasync":
		if len(args) > 1 {
			j.handsOver(c, j.locate(&args[1], c.l.Dir), all)
		}
	case ".downloadfile":
		if len(args) > 1 {
			j.write(c, &args[1], false)
		}
	case ".gettype", ".getfield":
		if strings.Contains(strings.ToLower(all), "amsi") {
			j.add(c, TrustDown, System, "guard-off", all)
		}
	}
}

// removeListed judges the deletion of what a cmdlet lists, by where it looks.
func (j *judge) removeListed(c *call, a *shell.Arg, recursive bool) bool {
	found := false
	for _, v := range a.Each() {
		if len(v.Holes) == 0 || v.Holes[0].At != 0 {
			continue
		}
		h := v.Holes[0]
		for from := h.From.From; from < h.From.To && from < len(j.f.Leaves); from++ {
			switch name := j.f.Leaves[from].Name; name {
			case "get-childitem", "get-item", "where-object", "sort-object", "select-object", "resolve-path", "get-psreadlineoption":
				found = true
				j.psPipe(c, from, recursive)
			default:
				if listsFolder(name) {
					found = true
					j.psPipe(c, from, recursive)
				}
			}
		}
	}
	return found
}

// splitList turns a,b into two words.
func splitList(a *shell.Arg) []shell.Arg {
	if len(a.Holes) > 0 || len(a.Alts) > 0 || !strings.ContainsRune(a.Text, ',') {
		return []shell.Arg{*a}
	}
	var out []shell.Arg
	for _, part := range strings.Split(a.Text, ",") {
		b := *a
		b.Value = shell.Value{Text: strings.TrimSpace(part)}
		out = append(out, b)
	}
	return out
}

// listsFolder tells .NET's ways to list what is in a folder.
func listsFolder(name string) bool {
	return strings.HasPrefix(name, "[io.directory]::get") || strings.HasPrefix(name, "[io.directory]::enumerate")
}

// psPipe judges a deletion of what another cmdlet lists.
func (j *judge) psPipe(c *call, from int, recursive bool) {
	l := &j.f.Leaves[from]
	f := call{j: j, i: from, l: l}
	if listsFolder(l.Name) {
		if len(l.Argv) > 1 {
			if p := j.locate(&l.Argv[1], l.Dir); p.scope >= Outside {
				p.all = true
				j.removePlace(c, &l.Argv[1], p, true)
			}
		}
		return
	}
	switch l.Name {
	case "get-childitem", "get-item", "resolve-path":
		args := f.psOperands()
		if p := f.psParam("path", "literalpath"); p != nil {
			args = []*shell.Arg{p}
		}
		if len(args) == 0 {
			dot := shell.Arg{Value: shell.Value{Text: "."}}
			args = append(args, &dot)
		}
		filter := f.psParam("filter", "include") != nil
		for _, a := range args {
			p := j.locate(a, l.Dir)
			switch {
			case p.path != "" && j.w.emptied(p.path):
			case p.scope == ProjectRoot && filter, p.scope == Project, p.scope == Tracked && filter:
			case p.scope == ProjectRoot || p.scope >= Outside || p.scope == Tracked && recursive:
				p.all = true
				j.removePlace(c, a, p, true)
			}
		}
	case "get-psreadlineoption":
		j.add(c, TrustDown, AnyScope, "history-clear", "the history file")
	case "[io.directoryinfo]::new", "[io.fileinfo]::new", "new-object":
		ops := f.psOperands()
		if l.Name == "new-object" {
			if len(ops) == 0 || !strings.HasSuffix(strings.ToLower(ops[0].Text), "info") && !strings.Contains(strings.ToLower(ops[0].Text), "info(") {
				return
			}
			if ops = ops[1:]; len(ops) == 0 {
				ops = f.psValues("argumentlist")
			}
		}
		for _, a := range ops {
			j.remove(c, a, true)
		}
	case "where-object", "select-object", "sort-object", "foreach-object":
		for k := range j.f.Feeders(from) {
			if l2 := &j.f.Leaves[k]; l2.Name == "get-childitem" {
				g := call{j: j, i: k, l: l2}
				args := g.psOperands()
				if p := g.psParam("path", "literalpath"); p != nil {
					args = []*shell.Arg{p}
				}
				if len(args) == 0 {
					args = []*shell.Arg{{Value: shell.Value{Text: "."}}}
				}
				for _, a := range args {
					if p := j.locate(a, l2.Dir); p.scope >= Outside {
						j.removePlace(c, a, p, true)
					}
				}
			}
		}
	}
}

// cmdDelete judges del and rd of cmd.exe.
func (j *judge) cmdDelete(c *call, name string) {
	recursive := false
	for _, t := range c.argv()[1:] {
		if strings.EqualFold(t, "/s") || strings.HasPrefix(strings.ToLower(t), "/s/") || strings.Contains(strings.ToLower(t), "/s") && strings.HasPrefix(t, "/") && len(t) <= 6 {
			recursive = true
		}
	}
	for _, a := range c.operands("") {
		t := a.String()
		if len(t) >= 2 && t[0] == '/' && len(t) <= 6 && !strings.ContainsRune(t[1:], '\\') && strings.Trim(strings.ToLower(t), "/sqfpa:rhi-") == "" {
			continue
		}
		j.remove(c, a, recursive || name == "rd" && recursive)
		if p := j.locate(a, c.l.Dir); !recursive && p.all && (p.scope == System || p.scope == Home) {
			j.add(c, Delete, p.scope, ruleDelete(p.scope), p.text)
		}
	}
}

func (j *judge) cmdCopy(c *call, name string) {
	var args []*shell.Arg
	mirror := false
	for _, a := range c.operands("") {
		t := strings.ToLower(a.String())
		if strings.HasPrefix(t, "/") && len(t) <= 8 && j.f.Dialect != shell.Bash {
			mirror = mirror || t == "/mir" || t == "/purge"
			continue
		}
		if t == "/mir" || t == "/purge" {
			mirror = true
			continue
		}
		args = append(args, a)
	}
	if len(args) < 2 {
		return
	}
	p := j.locate(args[len(args)-1], c.l.Dir)
	if mirror {
		if p.scope >= Tracked {
			j.add(c, Delete, p.scope, "rsync-delete", p.text)
		}
		return
	}
	if j.special(c, p, false) || j.specialFolder(c, p) {
		return
	}
	if name == "move" {
		if q := j.locate(args[0], c.l.Dir); q.scope >= Home {
			j.add(c, MoveAway, q.scope, "move-away", q.text)
		}
	}
	if name == "ren" || name == "rename" {
		if q := j.locate(args[0], c.l.Dir); q.scope >= Home {
			j.add(c, MoveAway, q.scope, "move-away", q.text)
		}
		return
	}
	if p.scope == System {
		j.add(c, Overwrite, System, "write-system", p.text)
	}
}

func (j *judge) windowsRights(c *call, name, all string) {
	low := strings.ToLower(all)
	for _, a := range c.operands(" /grant /deny /remove /setowner /f ") {
		t := a.String()
		if strings.HasPrefix(t, "/") && strings.Count(t, "/") == 1 || strings.HasPrefix(t, "+") {
			continue
		}
		if p := j.locate(a, c.l.Dir); p.scope >= Home && (strings.Contains(low, "/grant") || strings.Contains(low, "/deny") || strings.Contains(low, "/reset") || strings.Contains(low, "/setowner") || name != "icacls") {
			j.add(c, Permission, p.scope, "chmod-system", p.text)
		} else if strings.Contains(low, "everyone:f") || strings.Contains(low, "everyone:(oi)(ci)f") {
			j.add(c, Permission, ProjectRoot, "chmod-open", p.text)
		}
	}
	if name == "takeown" {
		if f := c.opt("/f", "/F"); f != nil {
			if p := j.locate(f, c.l.Dir); p.scope >= Home {
				j.add(c, Permission, p.scope, "chown-system", p.text)
			}
		}
	}
}

// readsListed judges a cmdlet that gives out what is in the files that another lists.
func (j *judge) readsListed(c *call) {
	look := func(from int) {
		l := &j.f.Leaves[from]
		switch l.Name {
		case "get-childitem", "get-item", "resolve-path":
			f := call{j: j, i: from, l: l}
			ops := f.psOperands()
			if p := f.psParam("path", "literalpath"); p != nil {
				ops = append(ops, p)
			}
			for _, a := range ops {
				if strings.HasSuffix(a.Text, ".pub") {
					continue
				}
				for _, p := range j.readPlaces(a, l.Dir) {
					j.readPlace(c, p)
				}
			}
		}
	}
	if c.l.Stdin.Kind == shell.InputPipe {
		for from := range j.f.Feeders(c.i) {
			look(from)
		}
	}
	for i := range c.l.Argv {
		for _, h := range c.l.Argv[i].Holes {
			for from := h.From.From; from < h.From.To && from < len(j.f.Leaves); from++ {
				look(from)
			}
		}
	}
}

// triesPort reports whether a command has a connection and neither reads from it
// nor writes to it: it only asks whether somebody listens.
func (j *judge) triesPort() bool {
	text := strings.ToLower(j.f.Text)
	return !containsAny(text, "stream", "read", "write", ".client", "invoke-expression", "iex", "socket.", "receive", ".send", "-join", "[char]", "frombase64", "&(", "& (", "& $", ". $", "invoke")
}
