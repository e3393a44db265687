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
		t := strings.ToLower(argv[i])
		if len(t) < 2 || t[0] != '-' {
			continue
		}
		name, _, colon := strings.Cut(t[1:], ":")
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
		t = strings.ToLower(t)
		if len(t) > min && t[0] == '-' {
			word, v, _ := strings.Cut(t[1:], ":")
			if strings.HasPrefix(name, word) && v != "$false" {
				return true
			}
		}
	}
	return false
}

const psValued = " -path -literalpath -destination -value -filter -include -exclude -encoding -name -propertytype -itemtype -erroraction -ea -outfile -uri -body -method -headers -drive -driveletter -filesystem -newname "

// psOperands are the positional words of a cmdlet.
func (c *call) psOperands() []*shell.Arg {
	var out []*shell.Arg
	argv := c.argv()
	for i := 1; i < len(argv); i++ {
		t := strings.ToLower(argv[i])
		if len(t) > 1 && t[0] == '-' {
			if strings.Contains(psValued, " "+t+" ") {
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
	if name == ".delete" && len(c.l.Argv) > 1 {
		for _, h := range c.l.Argv[len(c.l.Argv)-1].Holes {
			for from := h.From.From; from < h.From.To && from < len(j.f.Leaves); from++ {
				j.psPipe(c, from, true)
			}
		}
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
		if p := c.psParam("path", "literalpath"); p != nil {
			return []*shell.Arg{p}
		}
		return c.psOperands()
	}
	low := strings.ToLower(all)
	switch name {
	case "remove-item", "clear-recyclebin", "clear-item", "clear-content":
		recursive := c.psSwitch("recurse", 1)
		args := paths()
		for _, a := range args {
			if t := strings.ToLower(a.String()); strings.HasPrefix(t, "hklm:") || strings.HasPrefix(t, "hkcu:") || strings.HasPrefix(t, "registry::") || strings.HasPrefix(t, "cert:") {
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
				j.remove(c, &part, recursive)
			}
		}
		if in := c.l.Stdin.Text; len(args) == 0 && in != nil {
			for _, v := range in.Each() {
				if len(v.Holes) > 0 {
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
		for i, a := range paths() {
			if i > 0 && name == "move-item" {
				break
			}
			if p := j.locate(a, c.l.Dir); p.scope >= Home {
				j.add(c, MoveAway, p.scope, "move-away", p.text)
			}
		}
	case "set-content", "add-content", "out-file", "new-item", "tee-object", "export-csv", "copy-item", "set-item":
		target := c.psParam("filepath", "path", "literalpath", "destination")
		if name == "copy-item" {
			target = c.psParam("destination")
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
			switch {
			case strings.HasPrefix(t, "hk") && strings.Contains(t, ":") && (strings.Contains(t, `\run`) || strings.Contains(t, "/run") || strings.Contains(t, "winlogon") || strings.Contains(t, "services")):
				j.add(c, Persistence, AnyScope, "registry", all)
			case strings.HasPrefix(t, "env:"):
				if v := c.psParam("value"); v != nil {
					j.variable(c, t[4:], &v.Value, true)
				}
			case strings.HasPrefix(t, "hk"):
			case strings.HasPrefix(t, "function:"), strings.HasPrefix(t, "alias:"):
			default:
				if name == "new-item" && strings.Contains(low, "directory") {
					break
				}
				j.write(c, target, name == "add-content")
			}
		}
	case "set-itemproperty", "new-itemproperty", "remove-itemproperty":
		if strings.Contains(low, `\run`) || strings.Contains(low, "winlogon") || strings.Contains(low, `\services`) {
			j.add(c, Persistence, AnyScope, "registry", all)
		} else if strings.Contains(low, "hklm:") {
			j.add(c, Overwrite, System, "registry", all)
		}
	case "format-volume", "clear-disk", "initialize-disk", "remove-partition", "new-partition", "set-disk", "reset-physicaldisk", "remove-virtualdisk", "remove-storagepool", "resize-partition", "optimize-volume":
		if name != "optimize-volume" {
			j.add(c, Disk, AnyScope, "disk-format", all)
		}
	case "stop-computer", "restart-computer":
		j.add(c, Power, AnyScope, "power", all)
	case "stop-process":
		if n := c.psParam("name"); n != nil && (n.String() == "*" || strings.EqualFold(n.String(), "explorer") || strings.EqualFold(n.String(), "lsass") || strings.EqualFold(n.String(), "winlogon")) {
			j.add(c, KillAll, AnyScope, "kill-all", all)
		} else if n != nil && strings.HasPrefix(strings.ToLower(n.String()), "lidguard") {
			j.add(c, AgentConfig, AnyScope, "agent-config", all)
		}
		if c.l.Stdin.Kind == shell.InputPipe {
			for from := range j.f.Feeders(c.i) {
				if l := &j.f.Leaves[from]; l.Name == "get-process" && len(l.Argv) == 1 {
					j.add(c, KillAll, AnyScope, "kill-all", all)
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
	case "new-localuser", "remove-localuser", "set-localuser", "add-localgroupmember", "disable-localuser", "set-adaccountpassword", "remove-aduser", "new-aduser", "remove-localgroup":
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
	case "remove-azresourcegroup", "remove-azvm", "remove-azresource", "remove-azstorageaccount", "remove-azsqldatabase", "remove-ec2instance", "remove-s3bucket", "remove-s3object", "remove-rdsdbinstance", "remove-cfnstack":
		j.add(c, CloudDestroy, Mass, "cloud-delete", all)
	case "remove-vm", "remove-vmsnapshot", "remove-module", "uninstall-package", "uninstall-module":
		if strings.HasPrefix(name, "remove-vm") {
			j.add(c, ContainerWipe, AnyScope, "vm-destroy", all)
		}
	case "remove-computer", "reset-computermachinepassword":
		j.add(c, UserAccount, AnyScope, "user-account", all)
	case "get-storedcredential", "get-secret", "export-pfxcertificate":
		j.add(c, SecretRead, AnyScope, "secret-tool", all)
	case "invoke-mimikatz", "invoke-expression", "add-type":
		if name == "invoke-mimikatz" {
			j.add(c, ReverseShell, AnyScope, "attack-tool", all)
		}
	}
	// .NET calls on files and processes.
	if strings.HasPrefix(name, "[") {
		switch {
		case strings.Contains(name, "directory]::delete"), strings.Contains(name, "file]::delete"):
			for _, a := range c.operands("") {
				j.remove(c, a, true)
			}
		case strings.Contains(name, "tcpclient"), strings.Contains(name, "sockets.tcp"):
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
			if ops := c.operands(""); len(ops) > 1 {
				j.variable(c, ops[0].String(), &ops[1].Value, true)
			}
		}
	}
	if name == "new-object" && strings.Contains(low, "tcpclient") {
		j.add(c, ReverseShell, AnyScope, "reverse-shell", all)
	}
	return true
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

// psPipe judges a deletion of what another cmdlet lists.
func (j *judge) psPipe(c *call, from int, recursive bool) {
	l := &j.f.Leaves[from]
	f := call{j: j, i: from, l: l}
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
			case p.scope == ProjectRoot && filter, p.scope == Project, p.scope == Tracked && filter:
			case p.scope == ProjectRoot || p.scope >= Outside || p.scope == Tracked && recursive:
				p.all = true
				j.removePlace(c, a, p, true)
			}
		}
	case "where-object", "select-object", "sort-object", "foreach-object":
		for k := range j.f.Feeders(from) {
			if l2 := &j.f.Leaves[k]; l2.Name == "get-childitem" {
				g := call{j: j, i: k, l: l2}
				args := g.psOperands()
				if p := g.psParam("path", "literalpath"); p != nil {
					args = []*shell.Arg{p}
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
	if j.special(c, p, false) {
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
		if strings.HasPrefix(t, "/") && len(t) <= 12 || strings.HasPrefix(t, "+") {
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
