package gate

// rule is what is said about a hazard.
type rule struct {
	id      string
	what    string // a clause: what the call would do
	instead string // what to do instead
	// try are the commands that instead names; a test puts them through the gate.
	try []string
}

// rules lists every rule id; the ids are a contract with logs and settings. It is
// data that needs no start-up work and is looked through only for a refusal.
var rules = [...]rule{
	{"disk-format", "it would format, partition or erase a disk", "work on files; leave disks to the person", nil},
	{"disk-write", "it would write to a disk or destroy data on it", "write to a file in the project, such as `dd if=/dev/zero of=build/image.bin bs=1M count=8`", []string{"dd if=/dev/zero of=build/image.bin bs=1M count=8"}},
	{"device-flash", "it would write over what a device runs", "leave flashing to the person", nil},
	{"volume-remove", "it would remove or shrink a storage volume", "look with `lsblk` and leave the change to the person", []string{"lsblk"}},
	{"backup-delete", "it would delete backups", "list them and leave the choice to the person", nil},
	{"boot", "it would change how the machine boots", "leave boot settings to the person", nil},
	{"fork-bomb", "it starts itself over and over until the machine stops", "run a bounded loop such as `for i in 1 2 3; do echo $i; done`", []string{"for i in 1 2 3; do echo $i; done"}},
	{"kill-all", "it would end every process it can", "end one process by its number, such as `kill $PID`", []string{"kill $PID"}},
	{"kill-init", "it would signal the first process of the machine", "end one process by its number, such as `kill $PID`", []string{"kill $PID"}},
	{"kill-system-process", "it would end a process of the system", "end only processes you started, such as `kill $PID`", []string{"kill $PID"}},
	{"kill-by-name", "it would end every process of that name, of other work too", "end the one you started by its number, such as `kill $PID`", []string{"kill $PID"}},

	{"delete-root", "it would delete the root folder with everything on the machine", "name the folder in the project that is meant, such as `rm -rf build`", []string{"rm -rf build"}},
	{"delete-system", "it would delete files of the system", "name what is meant inside the project, such as `rm -rf build`", []string{"rm -rf build"}},
	{"delete-device", "it would delete a device file", "leave /dev alone", nil},
	{"delete-home", "it would delete a person's home folder or what matters in it", "name what is meant inside the project, such as `rm -rf build`", []string{"rm -rf build"}},
	{"delete-unset-variable", "it deletes from the root if the variable is empty", "set the variable to a constant in the same command and stop when it is empty, such as `D=build; rm -rf \"$D\"`", []string{`D=build; rm -rf "$D"`}},
	{"delete-unknown", "it would delete folders that cannot be told beforehand", "list them first with `ls` and delete them by name", []string{"ls"}},
	{"delete-outside", "it would delete something outside the project", "work in the project or in a folder of `mktemp -d`", []string{"mktemp -d"}},
	{"delete-remote", "it would delete folders on another machine", "list them with `ssh host ls` and leave the deletion to the person", []string{"ssh host ls"}},
	{"delete-project", "it would delete the project itself", "delete build output by name, such as `rm -rf build dist`", []string{"rm -rf build dist"}},
	{"delete-project-folder", "it would delete work that git tracks or nobody has a copy of", "delete single files by name, or commit first with `git add -A && git commit -m wip`", []string{"git add -A && git commit -m wip"}},
	{"delete-git-folder", "it would delete or move away git's own folder with the history", "make a fresh clone elsewhere with `git clone . ../copy`", []string{"git clone . ../copy"}},
	{"delete-by-unknown-program", "it runs a program that cannot be told with the words of a recursive delete", "write the program's name out", nil},
	{"delete-temp", "it would empty the temp folder", "delete your own folder in it", nil},
	{"delete-env", "it would delete local secrets", "leave .env files to the person", nil},
	{"code-delete-unknown", "the program text deletes a folder that cannot be told beforehand", "delete it by name, such as `rm -rf build`", []string{"rm -rf build"}},
	{"shred", "it would overwrite files so that nothing can bring them back", "delete with `rm`, which git can undo", nil},
	{"move-to-null", "it would move files into nothing", "move them aside with a name, such as `mv old.txt old.txt.bak`", []string{"mv old.txt old.txt.bak"}},
	{"move-away", "it would move away what is not the project's", "copy instead, such as `cp -r src build/copy`", []string{"cp -r src build/copy"}},
	{"write-system", "it would write over files of the system", "write to a file in the project", nil},
	{"write-home", "it would write over a person's folder", "write to a file in the project", nil},
	{"write", "it writes a file", "", nil},
	{"write-outside", "the patch reaches outside the project", "patch only files of the project", nil},
	{"write-env", "it would change local secrets", "change `.env.example` and tell the person which variable to set", nil},
	{"write-secret", "it would write over a key or a credential store", "leave keys to the person", nil},
	{"write-git-folder", "it would write into git's own folder", "use git's commands", nil},
	{"unpack-over-system", "it would unpack over the system or a home folder", "unpack into the project, such as `tar -xf a.tar -C build`", []string{"tar -xf a.tar -C build"}},
	{"truncate", "it would empty a file that is not the project's", "write to a file in the project", nil},
	{"rsync-delete", "it would delete what the source does not have", "look first with `rsync -a --delete --dry-run a/ b/`", []string{"rsync -a --delete --dry-run a/ b/"}},
	{"chmod-system", "it would change rights of the system or a home folder", "change the rights of one file in the project, such as `chmod +x run.sh`", []string{"chmod +x run.sh"}},
	{"chmod-open", "it would let everybody write there", "give the owner what is needed, such as `chmod u+rw file`", []string{"chmod u+rw file"}},
	{"chmod-closed", "it would take all rights from a tree", "change one file by name", nil},
	{"chmod-outside", "it would change rights outside the project", "change rights in the project only", nil},
	{"chmod-secret", "it would open a secret file to others", "leave keys to the person", nil},
	{"chattr", "it would change attributes outside the project", "leave them to the person", nil},
	{"setuid", "it would make a program run with its owner's rights", "leave that to the person", nil},
	{"chown-system", "it would give files of the system or a home folder to somebody", "leave ownership to the person", nil},
	{"chown-outside", "it would change the owner of a tree", "leave ownership to the person", nil},
	{"registry", "it would change the registry", "leave the registry to the person", nil},

	{"download-into-interpreter", "it would run what it downloads, unseen", "save it, read it, then ask the person to run it: `curl -fsSLo build/install.sh https://example.com/install.sh`", []string{"curl -fsSLo build/install.sh https://example.com/install.sh"}},
	{"download-into-cluster", "it would apply what it downloads over an open connection", "save it and read it first", nil},
	{"reverse-shell", "it would give another machine a shell on this one", "say what it is for and leave it to the person", nil},
	{"attack-tool", "it would run a tool made for attacks", "leave this to the person", nil},
	{"exfiltrate", "it would send secrets or private files to another machine", "send only files of the project that hold no secrets", nil},
	{"secret-read", "it would read a key or a credential store", "use the tool that owns the credential; its own commands need no reading", nil},
	{"secret-copy", "it would take a key from where it is kept", "leave keys where they are", nil},
	{"secret-tool", "it would print a stored secret", "let the program that needs it fetch it itself", nil},
	{"env-read", "it would read local secrets", "read `.env.example`, or ask the person which variables there are", nil},
	{"env-print", "it would print the whole environment, with every secret in it", "print the one you need, such as `printenv PATH`, or the names alone with `env | cut -d= -f1`", []string{"printenv PATH", "env | cut -d= -f1"}},
	{"start-up-file", "it would change a file that runs at every start", "set it for one command, such as `FOO=1 make`", []string{"FOO=1 make"}},
	{"cron", "it would change scheduled jobs", "tell the person which line to add or to take out", nil},
	{"scheduled-task", "it would schedule work for later", "run it now, or tell the person what to schedule", nil},
	{"service-unit", "it would install or enable a service", "run the program in the foreground of one command", nil},
	{"launch-agent", "it would install something that starts by itself", "run the program for one command", nil},
	{"authorized-keys", "it would let a key or a host in", "tell the person which key to add", nil},
	{"git-hook", "it would install code that git runs later", "run the check once by hand", nil},
	{"git-config", "it would make git run a program later", "pass the setting for one command, such as `git -c core.pager=cat log`", []string{"git -c core.pager=cat log"}},
	{"git-setting", "it would make git run programs from elsewhere", "run git without that setting", nil},
	{"path-shim", "it would put a program in front of one of the same name", "choose another name, in the project", nil},
	{"environment-hijack", "it would make other programs load or run something", "run the program itself", nil},
	{"ssh-proxy-command", "it would make ssh run a program", "connect without that option", nil},
	{"agent-config", "it would change what holds the agents, lidguard included", "tell the person what to change and why", nil},
	{"agent-without-guards", "it would start an agent without its guards", "start it with its guards", nil},
	{"decoded-into-interpreter", "it would run decoded text that nobody can read beforehand", "write the commands out", nil},
	{"unknown-command-text", "it would run text that cannot be told beforehand", "write the command out", nil},
	{"unknown-script", "it would run a script that cannot be told beforehand", "name the script", nil},
	{"sql-program", "the statement would run a program", "run the program itself", nil},
	{"script-unread", "it would run a script that could not be read", "read the script first and run its commands", nil},
	{"script-too-large", "it would run a script that is too large to judge", "run the part that is needed", nil},
	{"command-unparsable", "the command does not parse, so nobody can tell what it would do", "write it in shorter steps", nil},
	{"command-over-limit", "the command is too large to judge in time", "write it in shorter steps", nil},
	{"input-unreadable", "the call cannot be read", "call the tool with the fields it documents", nil},

	{"database-drop", "it would delete a database or all its tables", "make a backup and leave the deletion to the person", nil},
	{"database-delete", "it would delete data", "look at it first, and name what is meant", nil},
	{"database-restore", "it would delete what a database holds before it restores", "restore into a new database", nil},
	{"database-flush", "it would empty a database", "delete keys by name", nil},
	{"database-migrate-down", "it would undo all migrations", "undo one step", nil},
	{"database-config", "it would change a running database", "leave that to the person", nil},
	{"database-rights", "it would give all rights away", "give the rights that are needed", nil},
	{"sql-drop", "the statement would drop a table or a whole database", "count the rows first, make a backup, and leave it to the person", nil},
	{"sql-truncate", "the statement would empty a table", "delete rows by a condition", nil},
	{"sql-delete-all", "the statement would delete every row", "add a WHERE that names the rows", nil},
	{"sql-update-all", "the statement would change every row", "add a WHERE that names the rows", nil},
	{"http-delete", "it would delete something at a service", "look with a GET first and leave the deletion to the person", nil},
	{"cloud-delete", "it would delete resources in a cloud", "list them and leave the deletion to the person", nil},
	{"cloud-bucket-delete", "it would delete a bucket", "list it and leave the deletion to the person", nil},
	{"cloud-sync-delete", "it would delete what the other side does not have", "look with a dry run first", nil},
	{"cloud-stop", "it would stop machines in a cloud", "leave that to the person", nil},
	{"cloud-change", "it would change what a service runs or holds", "leave that to the person", nil},
	{"dns-change", "it would change names that others look up", "look at a preview of the change first", nil},
	{"mail-delete", "it would delete mail", "list it and leave the deletion to the person", nil},
	{"cloud-rights", "it would change who may do what in a cloud", "leave rights to the person", nil},
	{"infrastructure-destroy", "it would destroy infrastructure", "look with `terraform plan -destroy`", []string{"terraform plan -destroy"}},
	{"infrastructure-apply", "it would change infrastructure", "look with `terraform plan`", []string{"terraform plan"}},
	{"infrastructure-state", "it would change the record of what exists", "look with `terraform state list`", []string{"terraform state list"}},
	{"cluster-delete", "it would delete things in a cluster", "look with `kubectl get all` or add `--dry-run=client`", []string{"kubectl get all"}},
	{"cluster-drain", "it would move work off a machine of the cluster", "leave that to the person", nil},
	{"cluster-scale-down", "it would scale something to nothing", "leave that to the person", nil},
	{"cluster-apply", "it would change a cluster", "look with `kubectl diff -f file.yaml`", []string{"kubectl diff -f file.yaml"}},
	{"helm-uninstall", "it would uninstall a release", "look with `helm status name`", []string{"helm status name"}},
	{"repo-delete", "it would delete a repository or things at its host", "leave that to the person", nil},
	{"repo-change", "it would archive, rename or hand over a repository", "leave that to the person", nil},
	{"merge-past-checks", "it would merge past the required checks", "wait for the checks", nil},
	{"git-filter-branch", "it would rewrite the whole history", "do it in a fresh clone: `git clone . ../rewrite`", []string{"git clone . ../rewrite"}},
	{"git-reflog-expire", "it would throw away git's way back", "leave the reflog alone", nil},
	{"git-gc-prune", "it would throw away objects that nothing points to", "run `git gc`", []string{"git gc"}},
	{"git-update-ref", "it would move or delete a reference by hand", "use `git branch` or `git tag`", []string{"git branch", "git tag"}},
	{"git-replace", "it would put one commit in place of another", "make a new commit", nil},
	{"git-remote-remove", "it would remove a remote with all that git knows of its branches", "look with `git remote -v` and leave the removal to the person", []string{"git remote -v"}},
	{"git-fast-import", "it would write history over what is there", "import into a fresh repository", nil},
	{"message-send", "it would send messages to people", "leave the sending to the person", nil},
	{"money-send", "it would move money or sign a transaction that cannot be taken back", "leave payments to the person", nil},
	{"git-send-email", "it would send mail", "write the patches with `git format-patch -1`", []string{"git format-patch -1"}},
	{"key-delete", "it would delete keys or stored passwords", "leave that to the person", nil},
	{"power", "it would switch off, restart or suspend the machine", "leave power to the person", nil},
	{"user-account", "it would change accounts, passwords or who may become root", "leave accounts to the person", nil},
	{"guard-off", "it would switch off a protection of the system", "leave protections on", nil},
	{"kernel-setting", "it would change the running kernel", "leave that to the person", nil},
	{"kernel-module", "it would load or remove a kernel module", "leave that to the person", nil},
	{"certificate-store", "it would change which certificates are trusted", "leave that to the person", nil},
	{"history-clear", "it would wipe the shell's history", "leave the history", nil},
	{"tls-off", "it would switch off the check of certificates", "fix the certificate, or leave it to the person", nil},
	{"git-trust-down", "it would switch off a check of git", "leave the check on", nil},
	{"registry-change", "it would take packages from another place", "leave the registry to the person", nil},
	{"unsigned-package", "it would install packages that nobody signed", "install without that option", nil},
	{"privileged-container", "it would start a container that can reach the machine", "start it without --privileged", nil},
	{"docker-socket", "it would give a container the machine's container service", "start it without the socket", nil},
	{"host-mount", "it would give a container the machine's files", "mount the project only, such as `docker run --rm -v \"$PWD:/src\" alpine ls /src`", []string{`docker run --rm -v "$PWD:/src" alpine ls /src`}},

	{"git-reset-hard", "it would throw away changes that are not committed", "keep them with `git stash`, or `git reset --keep HEAD~1`", []string{"git stash", "git reset --keep HEAD~1"}},
	{"git-clean", "it would delete files that git does not know", "look with `git clean -n`, keep them with `git stash -u`", []string{"git clean -n", "git stash -u"}},
	{"git-checkout-paths", "it would throw away changes of files", "keep them first with `git stash`", []string{"git stash"}},
	{"git-restore", "it would throw away changes of files", "keep them first with `git stash`; `git restore --staged .` only unstages", []string{"git stash", "git restore --staged ."}},
	{"git-switch-discard", "it would throw away changes on the way to another branch", "keep them with `git stash`, then `git switch main`", []string{"git stash", "git switch main"}},
	{"git-stash-drop", "it would throw away stashed changes", "look with `git stash list` and leave them", []string{"git stash list"}},
	{"git-branch-delete", "it would delete a branch that may not be merged", "`git branch -d name` deletes it only when it is merged", []string{"git branch -d name"}},
	{"git-tag-delete", "it would delete a tag", "look with `git tag -l`", []string{"git tag -l"}},
	{"git-tag-move", "it would move a tag", "make a new tag: `git tag v2`", []string{"git tag v2"}},
	{"git-move-branch", "it would move a branch away from its commits", "make a new branch: `git switch -c new-name`", []string{"git switch -c new-name"}},
	{"git-worktree-remove", "it would delete a working tree with changes in it", "`git worktree remove path` refuses when there are changes", []string{"git worktree remove path"}},
	{"git-submodule-deinit", "it would delete a submodule's working tree", "commit there first", nil},
	{"git-rm-force", "it would delete files with changes that are not committed", "`git rm --cached file` keeps the file", []string{"git rm --cached file"}},
	{"git-rebase", "it would rewrite commits", "make new commits, or `git rebase main`", []string{"git rebase main"}},
	{"git-lfs-prune", "it would delete large files that may be nowhere else", "`git lfs prune --dry-run`", []string{"git lfs prune --dry-run"}},
	{"git-push-force", "it would overwrite a branch that others have", "push to a new branch: `git push -u origin HEAD:refs/heads/new-name`", []string{"git push -u origin HEAD:refs/heads/new-name"}},
	{"git-push-mirror", "it would make the remote the same as here and delete the rest", "push one branch: `git push origin HEAD`", []string{"git push origin HEAD"}},
	{"git-push-delete", "it would delete a branch or tag at the remote", "leave it to the person", nil},
	{"vcs-discard", "it would throw away changes", "commit or shelve them first", nil},
	{"service-stop", "it would stop or disable a service", "leave services to the person", nil},
	{"network-change", "it would change how the machine reaches a network", "leave the network to the person", nil},
	{"device-restart", "it would restart a device", "leave that to the person", nil},
	{"unmount", "it would take a file system or swap away", "leave that to the person", nil},
	{"system-defaults", "it would change settings of the system", "leave them to the person", nil},
	{"sign-out", "it would change a person's sign-in", "leave that to the person", nil},
	{"container-prune", "it would delete containers, images or volumes of other work too", "remove yours by name: `docker rm name`", []string{"docker rm name"}},
	{"container-remove-all", "it would remove every container", "remove yours by name: `docker rm name`", []string{"docker rm name"}},
	{"compose-down-volumes", "it would delete the volumes with their data", "`docker compose down` keeps them", []string{"docker compose down"}},
	{"volume-delete", "it would delete volumes with their data", "look with `docker volume ls`", []string{"docker volume ls"}},
	{"vm-destroy", "it would destroy a virtual machine", "stop it instead", nil},
	{"vm-restore", "it would set a virtual machine back and lose what it did since", "take a snapshot first and leave the choice to the person", nil},
	{"stack-remove", "it would remove a running stack or service", "look first and leave it to the person", nil},
	{"image-push", "it would publish an image", "build it with `docker build .` and leave the push to the person", []string{"docker build ."}},
	{"package-publish", "it would publish a package", "pack it with `npm pack`, or add `--dry-run`", []string{"npm pack", "npm publish --dry-run"}},
	{"package-unpublish", "it would withdraw or change a published package", "leave that to the person", nil},
	{"global-install", "it would install for everything on this machine", "install in the project", []string{"npm install"}},
	{"system-package-remove", "it would remove packages of the system", "leave system packages to the person", nil},
	{"tool-remove", "it would remove a tool that other projects may use", "leave that to the person", nil},
	{"sudo", "it would run with another user's rights", "run it without, or tell the person the command", nil},
	{"listen", "it would wait for connections from other machines", "use a development server on 127.0.0.1", nil},
	{"tunnel", "it would open this machine to others", "leave tunnels to the person", nil},
	{"url-deceptive", "the address is not what it looks like", "write the address in plain letters", nil},
	{"url-credentials", "the address carries a user name that hides the host", "write the address without it", nil},
	{"metadata-address", "the address belongs to a cloud's metadata service, which hands out credentials", "use the cloud's own command line", nil},
	{"private-address", "the address is in a private network", "ask the person for the document", nil},
	{"mcp-delete", "the tool would delete something", "look first and leave the deletion to the person", nil},
	{"mcp-rule", "a rule of the person covers this tool", "use another tool", nil},
	{"sandbox-write", "it would write outside the folders that are allowed", "write inside them", nil},
}

var unknownRule = rule{id: "unknown", what: "it would do something that a rule forbids"}

func ruleOf(h *Hazard) *rule {
	for i := range rules {
		if rules[i].id == h.Rule {
			return &rules[i]
		}
	}
	return &unknownRule
}

// Explain says in one clause what a rule is about.
func Explain(id string) string { return ruleOf(&Hazard{Rule: id}).what }

// Rules are the ids of all rules.
func Rules() (out []string) {
	for i := range rules {
		out = append(out, rules[i].id)
	}
	return out
}

// Suggestions are the commands that the advice of all rules names.
func Suggestions() (out []string) {
	for i := range rules {
		out = append(out, rules[i].try...)
	}
	return out
}

// Advice are the advices of all rules.
func Advice() (out []string) {
	for i := range rules {
		out = append(out, rules[i].instead)
	}
	return out
}
