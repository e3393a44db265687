package replay

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// What new hooks are written from. The Go files end in .txt, since they belong to
// no module of ours.
//
//go:embed bodies
var bodies embed.FS

// Draft is a new hook with the fixtures that prove it.
type Draft struct {
	Files []DraftFile
	// Audit is the command that proves it, in its folder.
	Audit []string
}

// DraftFile is one file of a draft.
type DraftFile struct {
	Name string
	Text []byte
	Run  bool // a program
}

// Languages are those that a hook body can be written in.
func Languages() []string { return []string{"go", "python", "sh"} }

// NewPack is a section of a rulebook for a pack, with its fixtures: what proves the
// pack itself. A pack is a folder of corpus, and nothing else needs to know it.
func NewPack(name string) (Draft, error) {
	dir := "corpus/" + name
	d := Draft{Audit: []string{"lidguard", "hooks", "audit", "--corpus", "."}}
	err := fs.WalkDir(ownCorpora, dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := ownCorpora.ReadFile(file)
		d.Files = append(d.Files, DraftFile{Name: strings.TrimPrefix(file, dir+"/"), Text: text})
		return err
	})
	if err != nil {
		return Draft{}, fmt.Errorf("there is no pack %q; there are %s", name, strings.Join(CorpusNames(), ", "))
	}
	return d, nil
}

// NewBody is a hook of one's own in a language, with its fixtures. name is what the
// program is called.
func NewBody(language, name string) (Draft, error) {
	if !slices.Contains(Languages(), language) {
		return Draft{}, fmt.Errorf("there is no body in %q; there are %s", language, strings.Join(Languages(), ", "))
	}
	d := Draft{Audit: []string{"lidguard", "hooks", "audit", "--corpus", ".", "--event", "PreToolUse"}}
	entries, err := bodies.ReadDir("bodies/" + language)
	if err != nil {
		return Draft{}, err
	}
	for _, e := range entries {
		text, err := bodies.ReadFile(path.Join("bodies", language, e.Name()))
		if err != nil {
			return Draft{}, err
		}
		f := DraftFile{Name: strings.TrimSuffix(e.Name(), ".txt"), Text: []byte(strings.ReplaceAll(string(text), "NAME", name))}
		f.Run = strings.HasPrefix(string(text), "#!")
		d.Files = append(d.Files, f)
	}
	cases, err := bodies.ReadFile("bodies/cases.toml")
	if err != nil {
		return Draft{}, err
	}
	d.Files = append(d.Files, DraftFile{Name: "cases.toml", Text: cases})
	if language == "go" {
		// The SDK speaks to all clients, and has to be told which; Copilot's and
		// OpenCode's payloads do not name their event either.
		d.Audit = append(d.Audit, "--", "./"+name, "--provider", "{provider}", "--event", "{event}")
		return d, nil
	}
	d.Audit = append(d.Audit, "--provider", "claude", "--", "./"+d.Files[0].Name)
	return d, nil
}
