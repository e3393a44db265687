package gate

import (
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

// What many rows of rareForms say.
func network(words string) form {
	return form{words, Service, AnyScope, "network-change"}
}
func setting(words string) form {
	return form{words, Service, AnyScope, "system-defaults"}
}
func stops(words string) form {
	return form{words, Service, AnyScope, "service-stop"}
}
func tool(words string) form {
	return form{words, GlobalInstall, One, "tool-remove"}
}
func packages(words string) form {
	return form{words, GlobalInstall, One, "system-package-remove"}
}
func installs(words string) form {
	return form{words, GlobalInstall, AnyScope, "global-install"}
}
func volume(words string) form {
	return form{words, Disk, AnyScope, "volume-remove"}
}
func machine(words string) form {
	return form{words, ContainerWipe, AnyScope, "vm-destroy"}
}
func setBack(words string) form {
	return form{words, ContainerWipe, AnyScope, "vm-restore"}
}
func keys(words string) form {
	return form{words, Delete, Outside, "key-delete"}
}
func replaces(words string) form {
	return form{words, DatabaseDestroy, One, "database-restore"}
}
func guard(words string) form {
	return form{words, TrustDown, System, "guard-off"}
}
func sends(words string) form {
	return form{words, Publish, AnyScope, "package-publish"}
}
func boots(words string) form {
	return form{words, Boot, AnyScope, "boot"}
}
func messages(words string) form {
	return form{words, Publish, AnyScope, "message-send"}
}
func pays(words string) form {
	return form{words, Apply, AnyScope, "money-send"}
}

// rareForms tells what programs do to networks, clocks, boards, virtual machines,
// keys and tools that an agent meets once in a while. The source is each program's
// own manual, read in 2026.
func rareForms(name string) []form {
	switch name {
	// Networks.
	case "dhclient":
		return []form{network("-r|-x")}
	case "netplan":
		return []form{network("apply|try")}
	case "resolvectl":
		return []form{network("dns|domain|revert|default-route * *")}
	case "brctl":
		return []form{network("delbr|delif")}
	case "ovs-vsctl":
		return []form{network("del-br|del-port|emer-reset")}
	case "wg-quick":
		return []form{network("down")}
	case "wg":
		return []form{network("set +remove")}
	case "zerotier-cli":
		return []form{network("leave")}
	case "wpa_cli":
		return []form{network("+disconnect|terminate|remove_network|disable_network")}
	case "iw", "iwctl":
		return []form{network("+disconnect|del|forget")}
	case "tailscale":
		return []form{network("down|logout")}
	case "ipvsadm":
		return []form{network("-C.|-D.|--clear|--delete-service")}
	case "conntrack":
		return []form{network("-F.|-D.|--flush|--delete")}
	case "arptables":
		return []form{guard("-F.|-X.|-D.|--flush|--delete")}
	case "ethtool":
		return []form{network("-s.|-K.|-G.|-A.|-E.|-f.|-r.|--change|--features|--offload|--set-ring|--pause|--change-eeprom|--flash|--negotiate")}
	case "aa-remove-unknown":
		return []form{guard("")}
	case "semodule":
		return []form{guard("-r.|-d.|-R.|--remove|--disable")}
	case "profiles":
		return []form{guard("remove|install"), guard("-R.|-D.|-I.")}
	case "usbguard":
		return []form{guard("set-parameter|allow-device|remove-rule")}

	// Clocks, names, displays and what else a machine is set to.
	case "timedatectl":
		return []form{setting("set-time|set-ntp|set-timezone|set-local-rtc")}
	case "hostnamectl":
		return []form{setting("set-hostname|set-chassis|set-deployment|set-location"), setting("hostname|chassis *")}
	case "localectl":
		return []form{setting("set-locale|set-keymap|set-x11-keymap")}
	case "hostname":
		return []form{setting("*"), setting("-F.|-b.|--file")}
	case "date":
		return []form{setting("-s.|--set")}
	case "hwclock":
		return []form{setting("-w.|-s.|--systohc|--hctosys|--set|--adjust")}
	case "ntpdate":
		return []form{setting("*")}
	case "chronyc":
		return []form{setting("makestep|settime|offline")}
	case "scutil":
		return []form{setting("--set")}
	case "update-alternatives", "alternatives":
		return []form{setting("--install|--set|--remove|--remove-all|--set-selections")}
	case "xcode-select":
		return []form{setting("-s.|-r.|--switch|--reset")}
	case "dconf":
		return []form{setting("reset|load -f.")}
	case "gsettings":
		return []form{setting("reset-recursively")}
	case "systemd-firstboot":
		return []form{setting("--reset|--force")}
	case "raspi-config":
		return []form{setting("nonint")}
	case "nvidia-smi":
		return []form{setting("-r.|--gpu-reset")}
	case "tuned-adm":
		return []form{setting("profile|off")}
	case "mdutil":
		return []form{setting("* -E.|-X.|-d."), setting("off * -i.")}
	case "grub-reboot", "grub-set-default", "grub2-reboot", "grub2-set-default", "grub-editenv", "kernelstub", "rpi-update":
		if name == "grub-editenv" {
			return []form{boots("+set|unset|create")}
		}
		return []form{{"", Boot, AnyScope, "boot"}}
	case "kernel-install":
		return []form{boots("add|remove")}
	case "delpart", "addpart", "resizepart":
		return []form{{"/dev/*", Disk, AnyScope, "disk-format"}}
	case "dmraid":
		return []form{{"-E|--erase_metadata|-D|--deactivate", Disk, AnyScope, "disk-format"}}
	case "abroot":
		return []form{boots("rollback|upgrade|kargs")}
	case "gpt":
		return []form{{"destroy|create|remove|recover disk*|/dev/*", Disk, AnyScope, "disk-format"}}
	case "rpi-eeprom-update":
		return []form{boots("-a.|-d.|-f.|-r.")}
	case "efivar":
		return []form{boots("-w.|--write|-a.|--append")}
	case "rpm-ostree":
		return []form{boots("rebase|rollback|kargs|initramfs|cleanup"), packages("uninstall|remove|reset"), packages("override remove|reset")}
	case "ostree":
		return []form{boots("admin undeploy|deploy|switch|upgrade|set-default|pin")}
	case "mhwd-kernel":
		return []form{boots("-r.|-i.")}
	case "cloud-init":
		return []form{{"clean -r.|--reboot", Power, AnyScope, "power"}, setting("clean")}
	case "softwareupdate":
		return []form{{"-R.|--restart", Power, AnyScope, "power"}, installs("-i.|--install")}
	case "do-release-upgrade":
		return []form{installs("!-c|--check-dist-upgrade-only|-V|--version|-h|--help")}

	// Volumes and what they hold; writesDisk tells those that name a disk.
	case "lvremove", "vgremove", "pvremove", "lvreduce", "vgreduce": // also of lvm
		return []form{volume("!-t|--test")}
	case "vgchange", "lvchange":
		return []form{{"n -a.", Service, AnyScope, "unmount"}, {"-an|-aln", Service, AnyScope, "unmount"}, {"--activate=n", Service, AnyScope, "unmount"}}
	case "multipath":
		return []form{{"-F|-f", Service, AnyScope, "unmount"}}
	case "iscsiadm":
		return []form{{"--logout|-u", Service, AnyScope, "unmount"}, {"--op|-o=delete", Service, AnyScope, "unmount"}}
	case "targetcli", "tgtadm":
		return []form{{"clearconfig", Disk, AnyScope, "volume-remove"}, {"--op=delete", Service, AnyScope, "unmount"}}
	case "udisksctl":
		return []form{{"unmount|power-off|lock|loop-delete", Service, AnyScope, "unmount"}}
	case "systemd-tmpfiles":
		return []form{{"--purge", Delete, Home, "delete-home"}, {"--remove", Delete, Outside, "delete-outside"}}
	case "trash-empty", "trash-rm":
		return []form{{"", Delete, Outside, "delete-outside"}}
	case "gio":
		return []form{{"trash --empty", Delete, Outside, "delete-outside"}}
	case "transmission-remote":
		return []form{{"--remove-and-delete", Delete, Outside, "delete-outside"}}
	case "chezmoi":
		return []form{{"purge|destroy", Delete, Outside, "delete-outside"}, {"init --apply|-a.", Persistence, AnyScope, "start-up-file"}}
	case "fdupes", "jdupes":
		return []form{{"* -d|--delete", Delete, Unknown, "delete-unknown"}}
	case "rdfind":
		return []form{{"* -deleteduplicates|-makesymlinks|-makehardlinks", Delete, Unknown, "delete-unknown"}}
	case "clamscan", "clamdscan":
		return []form{{"--remove", Delete, Unknown, "delete-unknown"}}

	// Boards and phones.
	case "fastboot":
		return []form{{"erase|flash|flashall|flash:raw|format|update|oem|flashing|wipe-super|set_active|delete-logical-partition", Disk, AnyScope, "device-flash"}, {"-w.", Disk, AnyScope, "device-flash"}}
	case "heimdall", "idevicerestore", "cfgutil", "irecovery":
		return []form{{"flash|erase|restore", Disk, AnyScope, "device-flash"}, {"-e|--erase", Disk, AnyScope, "device-flash"}, {"* -e|--erase", Disk, AnyScope, "device-flash"}}
	case "mtd", "sysupgrade", "firstboot", "jffs2reset": // OpenWrt
		return []form{{"erase|write|unlock", Disk, AnyScope, "device-flash"}, {"-n|-y|-F", Disk, AnyScope, "device-flash"}, {"*.bin|*.img", Disk, AnyScope, "device-flash"}}
	case "adb":
		return []form{{"sideload", Disk, AnyScope, "device-flash"}, {"reboot|reboot-bootloader|disable-verity", Service, AnyScope, "device-restart"}, {"shell reboot|wipe|recovery", Service, AnyScope, "device-restart"}}
	case "xcrun":
		return []form{machine("simctl erase|delete +all"), sends("altool --upload-app|--upload-package")}
	case "ykman":
		return []form{{"piv|oath|fido|openpgp|otp|hsmauth|config reset|delete", Delete, Home, "key-delete"}}
	case "tpm2_clear":
		return []form{{"", Delete, Home, "key-delete"}}

	// Keys and passwords.
	case "gpg", "gpg2":
		return []form{{"--delete-secret-keys|--delete-secret-key|--delete-secret-and-public-key", Delete, Home, "key-delete"}, keys("--delete-keys|--delete-key")}
	case "rbw":
		return []form{keys("delete|rm|remove|purge")}
	case "secret-tool":
		return []form{keys("clear")}
	case "dsenableroot":
		return []form{{"", UserAccount, AnyScope, "user-account"}}
	case "apt-key":
		return []form{{"add|adv", TrustDown, AnyScope, "registry-change"}}
	case "add-apt-repository", "apt-add-repository":
		return []form{{"*", TrustDown, AnyScope, "registry-change"}}
	case "certutil": // of NSS; that of Windows has no such options
		return []form{{"-A. -t=*c*", TrustDown, AnyScope, "certificate-store"}}
	case "kadmin", "kadmin.local":
		return []form{{"delprinc|delete_principal|cpw|change_password|addprinc|add_principal", UserAccount, AnyScope, "user-account"},
			{"-q=delprinc*,delete_principal*,cpw*,change_password*,addprinc*,add_principal*", UserAccount, AnyScope, "user-account"}}

	// Messages to people and money: neither can be taken back.
	case "twilio":
		return []form{messages("api:*:messages:create|api:*:calls:create|api:messages:create|email:send")}
	case "resend":
		return []form{messages("emails|broadcasts send")}
	case "sendemail", "swaks":
		return []form{messages("-t.|--to")}
	case "lncli":
		return []form{pays("payinvoice|sendpayment|sendcoins|sendmany|sendtoroute|keysend|closechannel|closeallchannels|abandonchannel")}
	case "bitcoin-cli", "litecoin-cli", "dogecoin-cli":
		return []form{pays("sendtoaddress|sendmany|sendall|send|sendrawtransaction|bumpfee !-regtest|-testnet|-signet"), {"dumpprivkey|dumpwallet|listdescriptors +true", SecretRead, AnyScope, "secret-tool"}, {"dumpprivkey|dumpwallet", SecretRead, AnyScope, "secret-tool"}}
	case "cast":
		return []form{pays("send|publish !--rpc-url|-r=http://localhost*,http://127.*,localhost,anvil"), {"wallet private-key|decrypt-keystore|pk|dk", SecretRead, AnyScope, "secret-tool"}}
	case "forge":
		return []form{pays("script|create --broadcast|--private-key|--keystore|--ledger|--trezor !--rpc-url|-r|--fork-url|-f=http://localhost*,http://127.*,localhost,anvil")}
	case "hardhat", "truffle":
		return []form{pays("run|ignition|deploy|migrate|verify --network=*main*,live,ethereum,polygon,arbitrum*,optimism*,base,bsc,avalanche*")}
	case "solana":
		return []form{pays("transfer|pay|withdraw-stake|close-vote-account !-u|--url=localhost,l,devnet,d,testnet,t,http://localhost*,http://127.*"), {"program close", CloudDestroy, One, "cloud-delete"}}
	case "near":
		return []form{{"delete-account|delete", CloudDestroy, One, "cloud-delete"}, pays("send|send-near")}

	// Virtual machines and containers.
	case "vmrun":
		return []form{machine("deleteVM|deleteSnapshot"), setBack("revertToSnapshot"), stops("stop|reset")}
	case "vagrant":
		return []form{setBack("snapshot restore|pop")}
	case "multipass":
		return []form{setBack("restore")}
	case "virt-format":
		return []form{{"", ContainerWipe, AnyScope, "vm-destroy"}}
	case "container": // Apple's
		return []form{{"delete|rm|stop|kill -a|--all", ContainerWipe, AnyScope, "container-remove-all"}, stops("system stop")}
	case "distrobox", "toolbox":
		return []form{machine("rm"), machine("rmi -a.|--all")}
	case "ddev":
		return []form{machine("delete|clean")}
	case "lando":
		return []form{machine("destroy")}
	case "machinectl":
		return []form{machine("remove|clean"), stops("poweroff|reboot|terminate|kill|disable")}
	case "docker-compose":
		return []form{{"push", Publish, AnyScope, "image-push"}}

	// Tools that other projects use too.
	case "rustup":
		return []form{tool("self uninstall"), tool("toolchain uninstall|remove")}
	case "nvm", "fnm", "pyenv", "rbenv", "nodenv", "goenv", "asdf", "volta", "jenv", "tfenv", "rvm":
		return []form{tool("uninstall|implode"), tool("plugin remove")}
	case "mise", "rtx":
		return []form{tool("implode|uninstall"), installs("use|u -g.|--global")}
	case "sdk":
		return []form{tool("uninstall|rm")}
	case "sdkmanager":
		return []form{tool("--uninstall")}
	case "pipx":
		return []form{tool("uninstall|uninstall-all")}
	case "uv":
		return []form{tool("tool|python uninstall")}
	case "deno":
		return []form{installs("install -g.|--global"), tool("uninstall -g.|--global")}
	case "nixos-rebuild", "darwin-rebuild", "home-manager":
		return []form{installs("switch|boot|test"), packages("expire-generations|remove-generations")}
	case "installer":
		return []form{installs("-pkg")}
	case "nala", "pamac", "pkcon", "swupd", "slackpkg", "pkgin", "tlmgr":
		return []form{packages("remove|purge|autoremove|autopurge|uninstall|bundle-remove|clean-system")}
	case "trizen", "pikaur":
		return []form{packages("-R|-Yc|--remove")}
	case "equo":
		return []form{packages("remove|rm")}
	case "urpme", "pkg_delete":
		return []form{packages("*")}
	case "dnf5":
		return []form{packages("history undo|rollback|redo"), packages("swap"), packages("module reset|remove")}
	case "pkgutil":
		return []form{packages("--forget")}
	case "k3s-killall.sh":
		return []form{{"", ClusterDestroy, Mass, "cluster-delete"}}

	// Services that run here.
	case "a2dissite", "a2dismod", "a2disconf", "phpdismod":
		return []form{stops("*")}
	case "microk8s", "snapctl":
		return []form{stops("stop")}
	// A person's session with all that is not saved.
	case "swaymsg", "i3-msg":
		return []form{{"exit", KillAll, AnyScope, "kill-all"}}
	case "hyprctl":
		return []form{{"dispatch exit", KillAll, AnyScope, "kill-all"}}
	case "gnome-session-quit", "xfce4-session-logout":
		return []form{{"--no-prompt|--force|--logout|--reboot|--power-off|--halt", KillAll, AnyScope, "kill-all"}}
	case "pueue":
		return []form{{"kill -a|--all", ProcessKill, AnyScope, "kill-by-name"}}
	case "tmux":
		return []form{{"kill-server", ProcessKill, AnyScope, "kill-by-name"}}
	case "zellij":
		return []form{{"kill-all-sessions|delete-all-sessions|ka|da", ProcessKill, AnyScope, "kill-by-name"}}

	case "postfix", "emqx", "circusctl", "forever", "ejabberdctl":
		return []form{{"unregister", UserAccount, AnyScope, "user-account"}, stops("stop|abort|quit|stopall|restart")}
	case "asterisk":
		return []form{stops("-rx +*core*stop*|*core*restart*")}

	// Databases.
	case "mysqlimport":
		return []form{replaces("-D.|--delete")}
	case "csvsql":
		return []form{replaces("--overwrite")}
	case "pt-archiver":
		return []form{{"--purge !--dry-run", DatabaseDestroy, One, "database-delete"}}
	case "pg_rewind":
		return []form{replaces("-f.|--force|--target-pgdata")}
	case "sa-learn":
		return []form{{"--clear", DatabaseDestroy, One, "database-delete"}}
	case "memcflush":
		return []form{{"", DatabaseDestroy, Mass, "database-flush"}}
	case "grafana-cli":
		return []form{{"admin reset-admin-password", UserAccount, AnyScope, "user-account"}}
	case "grafana":
		return []form{{"cli admin reset-admin-password", UserAccount, AnyScope, "user-account"}}
	case "ldapdelete":
		return []form{{"", DatabaseDestroy, One, "database-delete"}}

	// Clouds and clusters, where the verb says little.
	case "openstack":
		return []form{{"server stop|reboot|suspend|shelve|pause", CloudDestroy, One, "cloud-stop"}, {"server rebuild", CloudDestroy, One, "cloud-delete"}}
	case "copilot": // of AWS; the coding agent has no such words
		return []form{{"app|svc|env|job|pipeline|task delete", CloudDestroy, Mass, "infrastructure-destroy"}}
	case "cockroach":
		return []form{{"node drain", ClusterDestroy, One, "cluster-drain"}}
	case "gitlab-ctl":
		return []form{{"cleanse|uninstall|reset-data", DatabaseDestroy, Mass, "database-drop"}, stops("stop|kill")}
	case "splunk":
		return []form{{"clean|remove", DatabaseDestroy, Mass, "database-delete"}, stops("stop")}
	case "k3s", "rke2":
		return []form{{"server --cluster-reset", ClusterDestroy, Mass, "cluster-delete"}}
	case "dapr":
		return []form{{"uninstall -k|--kubernetes", ClusterDestroy, One, "cluster-delete"}}
	case "consul-k8s":
		return []form{{"uninstall", ClusterDestroy, Mass, "cluster-delete"}}
	case "clusterctl":
		return []form{{"move", Apply, AnyScope, "cluster-apply"}}
	case "juju":
		return []form{{"destroy-controller|kill-controller|destroy-model", CloudDestroy, Mass, "infrastructure-destroy"},
			{"remove-application|remove-machine|remove-unit|remove-storage|remove-saas|remove-cloud|remove-credential|remove-user", CloudDestroy, One, "cloud-delete"}}
	case "kcadm", "kcadm.sh":
		return []form{{"delete", CloudDestroy, One, "cloud-delete"}}
	case "jira", "linear":
		return []form{{"issue|epic|project|sprint|comment delete|remove", CloudDestroy, One, "cloud-delete"}}
	case "woodpecker-cli":
		return []form{{"repo|secret|registry|cron|org|user rm|remove|delete|add-rm", RepoDestroy, One, "repo-delete"}, {"repo secret|registry|cron rm|remove|delete", RepoDestroy, One, "repo-delete"}}
	case "circleci":
		return []form{sends("orb publish|promote")}
	case "repo": // of Android
		return []form{{"sync --force-sync|--force-remove-dirty|--force-checkout", DiscardWork, AnyScope, "vcs-discard"}, {"abandon", DiscardWork, AnyScope, "git-branch-delete"}}
	case "knife":
		return []form{{"* bulk delete", CloudDestroy, Mass, "cloud-delete"}}
	case "puppet":
		return []form{stops("resource service * ensure=stopped|enable=false"), packages("resource package * ensure=absent|ensure=purged"),
			{"node purge|deactivate|clean", CloudDestroy, One, "cloud-delete"}}
	case "puppetserver":
		return []form{keys("ca clean|revoke|delete")}
	case "nsupdate":
		return []form{{"", Apply, AnyScope, "dns-change"}}
	case "gitlab-runner":
		return []form{stops("unregister|stop|uninstall"), {"install", Persistence, AnyScope, "service-unit"}}
	case "hdfs", "hadoop":
		return []form{{"dfs|fs -skipTrash", CloudDestroy, Mass, "cloud-delete"}, {"dfs|fs -rm|-rmr|-rmdir|-expunge", CloudDestroy, One, "cloud-delete"},
			{"namenode|journalnode -format", DatabaseDestroy, Mass, "database-drop"}, stops("job -kill")}
	case "scancel":
		return []form{{"-u|--user|-A|--account|-p|--partition|-t|--state", ProcessKill, AnyScope, "kill-by-name"}}
	case "qdel", "bkill":
		return []form{{"all|0", ProcessKill, AnyScope, "kill-by-name"}}
	case "condor_rm":
		return []form{{"-a|-all", ProcessKill, AnyScope, "kill-by-name"}}
	case "pcs", "crm":
		return []form{{"cluster destroy", ClusterDestroy, Mass, "cluster-delete"}, {"cluster|node|resource stop|standby|delete|remove|disable", ClusterDestroy, One, "cluster-drain"}}
	case "talosctl":
		return []form{{"reboot|shutdown|upgrade|rollback", ClusterDestroy, One, "cluster-drain"}}

	// Publishing.
	case "apptainer", "singularity":
		return []form{sends("push"), {"delete", CloudDestroy, One, "cloud-delete"}}
	case "buf", "ollama":
		return []form{sends("push")}
	case "elm", "wally", "expo":
		return []form{sends("publish")}
	case "chrome-webstore-upload":
		return []form{sends("upload|publish")}
	case "web-ext":
		return []form{sends("sign --channel=listed")}
	case "shopify":
		return []form{sends("theme publish"), sends("theme push --live|-l|--allow-live|-a|--publish|-p")}
	}
	return nil
}

// rare judges what a form cannot tell.
func (j *judge) rare(c *call, name string) {
	j.writesDisk(c, name)
	j.zeroed(c, name)
	j.textRun(c, name)
}

// writesDisk judges programs that write to the disk which they name.
func (j *judge) writesDisk(c *call, name string) {
	var words []*shell.Arg
	switch name {
	case "ntfsfix", "btrfstune", "vgextend", "flash_erase", "nandwrite", "apfs_hfs_convert", "fsck_apfs", "fsck_hfs", "systemd-cryptenroll", "systemd-repart",
		"fsck.xfs", "fsck.f2fs", "dosfsck", "btrfs", "blockdev", "qemu-system-x86_64", "qemu-system-aarch64", "fsarchiver", "woeusb", "ventoy", "rpi-imager":
		if !c.changesDisk(name) {
			return
		}
		words = c.operands("")
	case "bmaptool", "qemu-img", "wimapply":
		ops := c.operands("")
		words = ops[max(0, len(ops)-1):]
		if name == "qemu-img" && len(ops) > 2 && (ops[0].Text == "create" || ops[0].Text == "resize") {
			words = ops[1:]
		}
	case "ddrescue", "fatlabel", "e2label", "dosfslabel", "ntfslabel", "exfatlabel", "xfs_copy":
		ops := c.operands(" -b -c -r -i -o -s --size ")
		switch {
		case len(ops) < 2:
		case name == "ddrescue" || name == "xfs_copy":
			words = ops[1:2]
		default:
			words = ops[:1]
		}
	case "ntfsclone":
		if a := c.opt("-O", "--overwrite"); a != nil {
			words = append(words, a)
		}
	default:
		if strings.HasPrefix(name, "partclone.") && (c.short("rb") || c.has("--restore", "--restore_raw_file", "--dev-to-dev")) {
			if a := c.opt("-o", "-O", "--output", "--overwrite"); a != nil {
				words = append(words, a)
			}
		}
	}
	for _, a := range words {
		t := a.String()
		if i := strings.Index(t, "/dev/"); i >= 0 && device(t[i:]) {
			j.add(c, Disk, AnyScope, "disk-write", t)
			return
		}
	}
}

// changesDisk tells the runs of a disk program that write from those that look.
func (c *call) changesDisk(name string) bool {
	switch name {
	case "fsck.xfs", "fsck.f2fs", "dosfsck", "fsck_apfs", "fsck_hfs":
		return c.short("yparf") && !c.short("nN")
	case "ntfsfix":
		return !c.short("n") && !c.has("--no-action")
	case "btrfs":
		return c.has("--repair", "--init-csum-tree", "--init-extent-tree") || c.has("rescue")
	case "blockdev":
		return c.has("--setro", "--setrw")
	case "systemd-cryptenroll":
		return c.has("--wipe-slot")
	case "systemd-repart":
		return c.has("--dry-run=no")
	case "fsarchiver":
		return c.has("restfs", "restdir")
	}
	return true
}

// textRun judges words that a program gives to a shell.
func (j *judge) textRun(c *call, name string) {
	switch name {
	case "hbase":
		if t := c.l.Stdin.Text; t != nil {
			for line := range strings.FieldsFuncSeq(t.Text, func(r rune) bool { return r == ';' || r == '\n' }) {
				f := strings.Fields(line)
				if len(f) > 1 && (f[0] == "drop" || f[0] == "drop_all" || f[0] == "truncate" || f[0] == "deleteall" || f[0] == "drop_namespace") {
					j.add(c, DatabaseDestroy, One, "database-delete", clip(line, 80))
				}
			}
		}
	case "concurrently":
		for _, a := range c.operands(" -n --names -c --prefix-colors -p --prefix -m --max-processes -s --success -l --prefix-length -t --timestamp-format ") {
			j.inner(a.Text, shell.POSIX, c.l.Offset, c.l.End)
		}
	case "sg":
		// ast-grep goes by the same name.
		if ops := c.operands(""); len(ops) > 1 && !c.fits("run|scan|new|test|lsp", c.operandsFrom(1)) {
			j.inner(ops[1].Text, shell.POSIX, c.l.Offset, c.l.End)
		}
	case "less", "more", "most":
		for _, t := range c.argv()[1:] {
			if cmd, ok := strings.CutPrefix(t, "+!"); ok {
				j.inner(cmd, shell.POSIX, c.l.Offset, c.l.End)
			}
		}
	}
}

// zeroed judges services that are scaled to nothing.
func (j *judge) zeroed(c *call, name string) {
	argv := c.argv()
	switch name {
	case "heroku", "docker", "aws", "dokku", "az", "gcloud", "kn", "oc":
	default:
		return
	}
	for i, t := range argv {
		switch {
		case (name == "heroku" || name == "dokku") && i > 1 && strings.HasPrefix(argv[1], "ps:scale") && strings.HasSuffix(t, "=0"),
			name == "docker" && i > 2 && argv[1] == "service" && argv[2] == "scale" && strings.HasSuffix(t, "=0"),
			name == "docker" && argv[min(1, len(argv)-1)] == "service" && (t == "--replicas=0" || t == "--replicas" && i+1 < len(argv) && argv[i+1] == "0"),
			name == "aws" && (t == "--desired-count" || t == "--desired-capacity" || t == "--max-size" || t == "--max-capacity") && i+1 < len(argv) && argv[i+1] == "0",
			name == "oc" && i > 0 && argv[1] == "scale" && t == "--replicas=0":
			j.add(c, CloudDestroy, One, "cloud-stop", strings.Join(argv, " "))
			return
		}
	}
}
