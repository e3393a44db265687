package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/lidguard-go/lidguard/e2e/lab/secrets"
	"github.com/lidguard-go/lidguard/internal/policy/redact"
)

func engine() *redact.Engine { return redact.NewEngine(&redact.Config{}, nil) }

// around puts a secret between other text, as outputs have it.
func around(d secrets.Dice, text string) string {
	return d.One("", "$ cat x\n", "# "+d.Sentence()+"\n", "  ") + text + d.One("", "\n", "\n"+d.Sentence()+"\n")
}

// gone fails for every part of the secret that is left in text.
func gone(t *testing.T, where string, s secrets.Secret, text string) {
	t.Helper()
	for _, part := range s.Parts {
		if strings.Contains(text, part) {
			t.Errorf("%s: the %s is still there in %.400q", where, s.Kind, text)
			return
		}
	}
}

// sameKeys compares everything of two JSON values but the texts of their strings.
func sameKeys(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			if v, ok := b[k]; !ok || !sameKeys(a[k], v) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameKeys(a[i], b[i]) {
				return false
			}
		}
		return true
	case string:
		_, ok := b.(string)
		return ok
	}
	return reflect.DeepEqual(a, b)
}

func decode(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %.200q", err, text)
	}
	return v
}

// texts joins all strings of a JSON value.
func texts(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for k, x := range v {
			b.WriteString(k + "\n" + texts(x))
		}
		return b.String()
	case []any:
		var b strings.Builder
		for _, x := range v {
			b.WriteString(texts(x))
		}
		return b.String()
	case string:
		return v + "\n"
	}
	return ""
}

func TestJSON_threeHundredSecretsInEveryShape(t *testing.T) {
	if len(shapes) < 40 || secrets.Kinds() < 40 {
		t.Fatalf("there are %d shapes and %d kinds, want 40 of each", len(shapes), secrets.Kinds())
	}
	e := engine()
	d := secrets.New(2)
	for _, s := range secrets.Roll(1, 300) {
		for n, shape := range shapes {
			in := fill(shape.response, around(d, s.Text))
			out, r, ok := e.JSON([]byte(in), false)
			where := fmt.Sprintf("%s %s %d", shape.client, shape.tool, n)
			if !ok || r.Masked == 0 || r.Keys > 0 || r.Withheld {
				t.Errorf("%s: a %s gave %+v, %v in %.300q", where, s.Kind, r, ok, in)
				continue
			}
			a, b := decode(t, []byte(in)), decode(t, out)
			gone(t, where, s, texts(b))
			if !sameKeys(a, b) {
				t.Errorf("%s: the shape changed: %.300q became %.300q", where, in, out)
			}
			if again, r, _ := e.JSON(out, false); !r.Clean() || !bytes.Equal(again, out) {
				t.Errorf("%s: a second pass took %v from %.300q", where, r.Rules, out)
			}
		}
	}
}

func TestJSON_cleanOutputsStayAsTheyAre(t *testing.T) {
	e := engine()
	d := secrets.New(3)
	for i := range 1000 {
		in := fill(shapes[i%len(shapes)].response, secrets.Clean(d, i))
		out, r, ok := e.JSON([]byte(in), false)
		if !ok || !r.Clean() || string(out) != in {
			t.Errorf("clean output %d: %v took something away: %.1500q", i%secrets.CleanKinds(), r.Rules, out)
		}
	}
}

func BenchmarkJSON_mebibyte(b *testing.B) {
	d := secrets.New(4)
	for _, bench := range []struct {
		name string
		text func() string
	}{
		{"mixed", func() string {
			var t strings.Builder
			for i := 0; t.Len() < 1<<20; i++ {
				t.WriteString(secrets.Clean(d, i))
			}
			return t.String()
		}},
		{"code", func() string { return strings.Repeat(secrets.Clean(d, 10)+secrets.Clean(d, 8), 1+(1<<20)/4500) }},
		{"image", func() string { return strings.Repeat(secrets.Clean(d, 4), 300) }},
		{"prose", func() string { return strings.Repeat(secrets.Clean(d, 13), 600) }},
		{"secrets", func() string {
			var t strings.Builder
			for t.Len() < 1<<20 {
				for _, s := range secrets.Roll(d.Uint64(), 30) {
					t.WriteString(s.Text + "\n" + secrets.Clean(d, 0))
				}
			}
			return t.String()
		}},
	} {
		in := []byte(fill(shapes[0].response, bench.text()[:1<<20]))
		b.Run(bench.name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				redact.NewEngine(&redact.Config{}, nil).JSON(in, false)
			}
		})
	}
}
