package hook_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Strangers build on what these packages export: a change of testdata/api.txt is
// a change for them, and is looked at as such.
func TestAPI_changesOnPurposeOnly(t *testing.T) {
	var got strings.Builder
	for _, dir := range []string{".", "hooktest"} {
		got.WriteString("package " + map[string]string{".": "hook", "hooktest": "hooktest"}[dir] + "\n")
		for _, line := range exported(t, dir) {
			got.WriteString("\t" + line + "\n")
		}
	}
	golden := filepath.Join("testdata", "api.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("what is exported differs (-want +got), run with -update:\n%s", diff)
	}
}

// exported lists the exported declarations of a folder, one a line, sorted.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	set := token.NewFileSet()
	var lines []string
	add := func(node any, prefix string) {
		var text bytes.Buffer
		if err := printer.Fprint(&text, set, node); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, prefix+strings.Join(strings.Fields(text.String()), " "))
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if !d.Name.IsExported() || d.Recv != nil && !receiver(d).IsExported() {
					continue
				}
				d.Doc, d.Body = nil, nil
				add(d, "")
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						if !s.Name.IsExported() {
							continue
						}
						fields, ok := s.Type.(*ast.StructType)
						if !ok {
							add(s, "type ")
							continue
						}
						lines = append(lines, "type "+s.Name.Name+" struct")
						for _, field := range fields.Fields.List {
							field.Doc, field.Comment = nil, nil
							for _, name := range field.Names {
								if name.IsExported() {
									add(field.Type, s.Name.Name+"."+name.Name+" ")
								}
							}
						}
					case *ast.ValueSpec:
						s.Doc, s.Comment = nil, nil
						for _, name := range s.Names {
							if name.IsExported() {
								add(s, d.Tok.String()+" ")
								break
							}
						}
					}
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func receiver(d *ast.FuncDecl) *ast.Ident {
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	id, ok := expr.(*ast.Ident)
	if !ok {
		return ast.NewIdent("_")
	}
	return id
}
