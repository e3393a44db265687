package shell

import (
	"strings"
	"testing"
)

// TestInspect_reported holds what people reported against command guards: the
// facts that a gate needs to refuse the first command of each row, and a twin
// that shows none of them. Sources are public issues, owner/repo#number.
func TestInspect_reported(t *testing.T) {
	for _, c := range []struct {
		source  string
		command string
		wants   string // a line of show
		twin    string // must not have that line
	}{
		{"Dicklesworthstone/destructive_command_guard#231", "LC_ALL=C rm -rf /", "LC_ALL=C rm -rf /", "echo 'LC_ALL=C rm -rf /'"},
		{"Dicklesworthstone/destructive_command_guard#448", "mkfs.ext4 -L lsblk /dev/sdb1", "mkfs.ext4 -L lsblk /dev/sdb1", "lsblk -L mkfs.ext4"},
		{"kenryu42/cc-safety-net#127", "git checkout .", "git checkout .", "git checkout main"},
		{"disler/claude-code-hooks-mastery#4", `bash -c "rm -rf x"`, "bash> rm -rf x", `echo -c "rm -rf x"`},
		{"disler/claude-code-damage-control#8", `python3 -c "import shutil; shutil.rmtree('x')"`, "code python: import shutil; shutil.rmtree('x')", "python3 -m shutil"},
		{"ruvnet/agentic-flow#197", "cd / && rm -rf .", "(in /) rm -rf .", "(cd /) && rm -rf ."},
		{"ruvnet/agentic-flow#197", ":(){ :|:& };:", "recursion : forks", "f(){ g|g& }; f"},
		{"rishabh0510rishabh/EnvForage#236", "rm -rf /home/u/.ssh", "rm -rf /home/u/.ssh", "ls /home/u/.ssh"},
		{"oryband/claude-code-auto-approve#4", "echo k >> ~/.ssh/authorized_keys", "echo k >>/home/u/.ssh/authorized_keys", "echo k '>>' ~/.ssh/authorized_keys"},
		{"phnx-labs/.agents v0.1.9", "git -C DIR reset --hard", "git -C DIR reset --hard", "echo git -C DIR reset --hard"},
		{"phnx-labs/.agents v0.1.9", "echo reset | xargs git", "xargs> git reset", "echo reset | xargs echo git"},
		{"anthropics/claude-code#58424", "rm -rf X && a | b ; echo c", "rm -rf X", "echo rm && a | b"},
		{"duncatzat/vigils#53", `rm -rf "$DIR/"`, "rm -rf [<variable DIR>/]", `DIR=/tmp/x; rm -rf "$DIR/"`},
		{"measured on several guards", "timeout 10 sh -c 'rm -rf /'", "timeout> sh> rm -rf /", "timeout 10 echo 'rm -rf /'"},
		{"measured on several guards", "env -u PATH git reset --hard", "env> git reset --hard", "env -u git reset"},
		{"measured on several guards", "watch -x git stash drop", "watch> git stash drop", "watch 'git stash list'"},
		{"measured on several guards", "cat < ~/.ssh/id_rsa", "cat </home/u/.ssh/id_rsa", "cat < README.md"},
		{"Dicklesworthstone/destructive_command_guard#341", "bash <<EOF\ncd into\nrm -rf .\nEOF", "bash> (in /code/into) rm -rf .", "cat > f <<EOF\ncd into\nrm -rf .\nEOF"},
		{"Dicklesworthstone/destructive_command_guard#420", "sh <<'EOF'\nbash -c \"rm -rf ~/x\"\nEOF", "sh> bash> rm -rf /home/u/x", "git commit -F - <<'EOF'\nbash -c \"rm -rf ~/x\"\nEOF"},
		{"Dicklesworthstone/destructive_command_guard#132", "dcg explain x; rm -rf /", "rm -rf /", "dcg explain 'rm -rf /'"},
		{"Dicklesworthstone/destructive_command_guard#181", "bash <<'EOF'\ngit worktrees restore\nEOF", "bash> git worktrees restore", "true <<'EOF'\ngit worktrees restore\nEOF"},
		{"HomericIntelligence/Mnemosyne#1575", `W=/tmp/w; rm -rf "$W"`, "rm -rf /tmp/w", `rm -rf "$W"`},
		{"open-gsd/gsd-pi#1024", "grep -r x . && rm -rf y", "rm -rf y", `git commit -m "rm -rf y" && grep 'rm -rf y' .`},
	} {
		has := func(cmd string) bool {
			for line := range strings.SplitSeq(show(Inspect(cmd, Bash, testWorld())), "\n") {
				if line == c.wants {
					return true
				}
			}
			return false
		}
		if !has(c.command) {
			t.Errorf("%s: %q lacks %q:\n%s", c.source, c.command, c.wants, show(Inspect(c.command, Bash, testWorld())))
		}
		if has(c.twin) {
			t.Errorf("%s: harmless %q has %q", c.source, c.twin, c.wants)
		}
	}
}

// TestInspect_unclosedSubstitutions is destructive_command_guard#189: forty
// openers took exponential time and the host then let the command run.
func TestInspect_unclosedSubstitutions(t *testing.T) {
	for n := range 60 {
		f := Inspect("rm -rf / ; "+strings.Repeat("$(", n), Bash, testWorld())
		if n > 0 && len(f.Problems) == 0 && f.Over == nil {
			t.Errorf("%d openers: neither a problem nor over", n)
		}
		if n > 0 && (len(f.Leaves) == 0 || f.Leaves[0].Name != "rm") {
			t.Errorf("%d openers: what stands before them is lost", n)
		}
	}
}

// TestInspect_paddingHidesNothing: a reader that cuts long input off says so.
func TestInspect_paddingHidesNothing(t *testing.T) {
	f := Inspect("echo "+strings.Repeat("a", 300<<10)+"; rm -rf /", Bash, testWorld())
	if n := len(f.Leaves); n != 2 || f.Leaves[1].Name != "rm" {
		t.Errorf("%d leaves, over %v", n, f.Over)
	}
	f = Inspect(strings.Repeat("a ", 600<<10)+"; rm -rf /", Bash, testWorld())
	if f.Over == nil {
		t.Error("input over the limit is not marked")
	}
}
