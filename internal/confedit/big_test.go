package confedit

import (
	"fmt"
	"strings"
	"testing"
)

// bigSettings is a settings file of 16 keys and 59 foreign hooks, more than
// any person has been seen to keep.
func bigSettings() string {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 15 {
		fmt.Fprintf(&b, "    \"key %d\": [%d, { \"x\": null }],\n", i, i)
	}
	b.WriteString("    \"hooks\": {\n")
	for i, event := range []string{"Stop", "PreToolUse", "SessionStart"} {
		fmt.Fprintf(&b, "        %q: [\n", event)
		n := []int{20, 20, 19}[i]
		for j := range n {
			fmt.Fprintf(&b, "            {\"hooks\": [{\"type\": \"command\", \"command\": \"hook %d\"}]}", j)
			if j < n-1 {
				b.WriteString(",")
			}
			b.WriteString("\n")
		}
		b.WriteString("        ]")
		if i < 2 {
			b.WriteString(",")
		}
		b.WriteString("\n")
	}
	b.WriteString("    }\n}\n")
	return b.String()
}

func TestJSON_fiftyNineForeignHooksStay(t *testing.T) {
	text := bigSettings()
	d := mustJSON(t, text, Strict)
	if n := d.Len(Path{"hooks", "Stop"}) + d.Len(Path{"hooks", "PreToolUse"}) + d.Len(Path{"hooks", "SessionStart"}); n != 59 || d.Len(nil) != 16 {
		t.Fatalf("%d hooks, %d keys", n, d.Len(nil))
	}
	checkJSONLaws(t, text, Strict, jsonEdits, reversed(len(jsonEdits)))
}

func BenchmarkJSON_append(b *testing.B) {
	text := []byte(bigSettings())
	for b.Loop() {
		d, err := ParseJSON(text, Strict)
		if err != nil {
			b.Fatal(err)
		}
		if err := d.Append(Path{"hooks", "Stop"}, ours); err != nil {
			b.Fatal(err)
		}
	}
}
