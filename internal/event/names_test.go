package event_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/lidguard-go/lidguard/internal/event"
)

// A new constant that is forgotten in Names would be an event that no rulebook can
// name.
func TestNames_areAllConstants(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []event.Name
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type == nil {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "Name" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, event.Name(text))
		return true
	})
	if got := event.Names(); !slices.Equal(got, want) || len(want) < 40 {
		t.Errorf("Names has %q, the constants are %q", got, want)
	}
}
