package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lidguard-go/lidguard/internal/confedit"
	"github.com/lidguard-go/lidguard/internal/doctor"
	"github.com/lidguard-go/lidguard/internal/entry"
	"github.com/lidguard-go/lidguard/internal/paths"
	"github.com/lidguard-go/lidguard/internal/rulebook"
	"github.com/spf13/cobra"
)

type hooksTrustOptions struct {
	list, revoke, yes bool
}

// trustReport is what `hooks trust --json` prints.
type trustReport struct {
	Path    string           `json:"path"`
	SHA256  rulebook.Digest  `json:"sha256"`
	Trusted bool             `json:"trusted"`
	Before  rulebook.Digest  `json:"before,omitempty"` // what was trusted there until now
	Would   []entry.BookPart `json:"would"`
	Include string           `json:"include,omitempty"` // how another book includes it
}

func (a *app) hooksTrustCmd() *cobra.Command {
	var o hooksTrustOptions
	cmd := &cobra.Command{
		Use:   "trust [FILE] [--yes]",
		Short: "look at a project's or a shared rulebook and pin it",
		Example: `lidguard hooks trust                     the rulebook of the project you are in
lidguard hooks trust ~/team/rules.toml   a shared one, to include in your own
lidguard hooks trust https://example.org/rules.toml
lidguard hooks trust --list
lidguard hooks trust --revoke`,
		Long: "Shows what a rulebook would do, its digest, and what changed since you last trusted it;\n" +
			"then asks, and pins exactly this content at this place. A project's rulebook may only\n" +
			"tighten until then: it refuses and asks, and runs, allows and switches off nothing. A\n" +
			"shared one counts where a rulebook includes it by its digest. A URL is fetched once, now,\n" +
			"and never by a hook. Only for a person: refused inside an agent's process tree and without\n" +
			"a terminal. The scripts that a rulebook runs are not part of its digest.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch file := strings.Join(args, ""); {
			case o.list && (o.revoke || file != ""):
				return usagef(cmd, "--list stands alone")
			case o.list:
				return a.hooksTrustList()
			case o.revoke:
				return a.hooksTrustRevoke(file)
			default:
				return a.hooksTrust(cmd, file, o)
			}
		},
	}
	addSwitch(cmd.Flags(), &o.list, "list", "list what is trusted")
	addSwitch(cmd.Flags(), &o.revoke, "revoke", "trust it no longer")
	addSwitch(cmd.Flags(), &o.yes, "yes", "do not ask before pinning")
	return cmd
}

// book is the rulebook that a command is about: the one named, or the project's.
func (a *app) book(d paths.Dirs, file string) (path string, project bool, err error) {
	own := rulebook.FindProject(a.WorkDir, d.Home, a.GOOS != "windows")
	switch {
	case file == "" && own == "":
		return "", false, hint(errors.New("this folder is in no project with a rulebook"), "a project keeps it in "+rulebook.ProjectBook+"; or name a file")
	case file == "":
		return own, true, nil
	case strings.HasPrefix(file, "~/"):
		file = filepath.Join(d.Home, file[2:])
	case !filepath.IsAbs(file):
		file = filepath.Join(a.WorkDir, file)
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, filepath.FromSlash(rulebook.ProjectBook))
	}
	file = filepath.Clean(file)
	return file, strings.HasSuffix(filepath.ToSlash(file), "/"+rulebook.ProjectBook), nil
}

func (a *app) hooksTrust(cmd *cobra.Command, file string, o hooksTrustOptions) error {
	if err := a.personOnly("trusting a rulebook"); err != nil {
		return err
	}
	if a.json && !o.yes {
		return usagef(cmd, "--json goes with --yes, since the question is for a person")
	}
	d, err := a.dirs()
	if err != nil {
		return err
	}
	f, project, err := a.bookFile(cmd.Context(), d, file)
	if err != nil {
		return err
	}
	would, err := entry.InspectBook(d, f)
	if err != nil {
		return hint(err, "a book that cannot be read is not pinned")
	}
	trust, err := rulebook.LoadTrust(d)
	if err != nil {
		return hintBroken(err, "repair or delete that file; until then nothing is trusted")
	}
	r := trustReport{Path: f.Path, SHA256: f.Digest, Would: would}
	before, known := trust.Of(f.Path)
	if known && before.SHA256 != f.Digest {
		r.Before = before.SHA256
	}
	if !project {
		r.Include = fmt.Sprintf("[[include]]\npath = %q\nsha256 = %q\n", f.Path, f.Digest)
	}
	if !a.json {
		a.showBook(f, &r, trust)
	}
	if !o.yes {
		yes, err := a.ask(cmd.Context(), "trust exactly this content?")
		if err != nil || !yes {
			return errors.Join(err, errNo{})
		}
	}
	if isURL(file) {
		if err := f.Save(); err != nil {
			return err
		}
	}
	if err := trust.Add(f, a.Now()); err != nil {
		return err
	}
	r.Trusted = true
	if err := entry.AppendAudit(d, &entry.AuditEntry{Time: a.Now().UTC(), Kind: "trust", Digest: string(f.Digest), Rules: []string{f.Path}}); err != nil {
		return fmt.Errorf("noting it in the audit log: %w", err)
	}
	return a.result(r, func() {
		a.say("trusted: %s as %s", f.Path, f.Digest.Short())
		if r.Include != "" {
			a.say("to have its rules count, add to %s:", d.Rules())
			for line := range strings.Lines(r.Include) {
				a.say("  %s", strings.TrimSpace(line))
			}
		}
	})
}

// showBook tells a person what they are about to trust.
func (a *app) showBook(f rulebook.File, r *trustReport, trust *rulebook.Trust) {
	a.say("%s", f.Path)
	a.say("%s", f.Digest)
	old, ok := []byte(nil), false
	if r.Before != "" {
		old, ok = trust.Kept(r.Before)
	}
	if ok {
		a.heading("changed since you trusted " + r.Before.Short())
	} else {
		a.heading("all of it")
	}
	a.diff(confedit.Diff(old, f.Data, filepath.Base(f.Path)))
	if trust.Trusted(f) {
		a.say("this content is trusted already")
	}
	a.heading("it would")
	var rows [][]string
	for _, p := range r.Would {
		held := "counts without trust, to refuse and ask"
		if p.Held {
			held = "counts only with your trust"
		}
		rows = append(rows, []string{p.Pack, p.Detail, held})
	}
	if len(rows) == 0 {
		rows = [][]string{{"do nothing", "", ""}}
	}
	a.table("  ", rows)
}

// bookFile reads the book, from a file or from where a person says.
func (a *app) bookFile(ctx context.Context, d paths.Dirs, file string) (f rulebook.File, project bool, err error) {
	if isURL(file) {
		f, err = fetchBook(ctx, d, file)
		return f, false, err
	}
	path, project, err := a.book(d, file)
	if err != nil {
		return f, false, err
	}
	if f, err = rulebook.Read(path); errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no rulebook %q", path)
	}
	return f, project, err
}

func isURL(file string) bool { return strings.Contains(file, "://") }

// fetchLimit bounds a fetch as a whole; a person waits for it.
const fetchLimit = 30 * time.Second

// fetchBook gets a book over HTTPS. Where it leads to by redirects has to be HTTPS
// as well; this machine itself needs none.
func fetchBook(ctx context.Context, d paths.Dirs, from string) (rulebook.File, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	u, err := url.Parse(from)
	if err != nil {
		return rulebook.File{}, fmt.Errorf("%q is no address: %w", from, err)
	}
	if err := safeAddress(u); err != nil {
		return rulebook.File{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return rulebook.File{}, fmt.Errorf("%q is no address: %w", from, err)
	}
	client := http.Client{CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("it is redirected more than five times")
		}
		return safeAddress(next.URL)
	}}
	res, err := client.Do(req)
	if err != nil {
		return rulebook.File{}, fmt.Errorf("fetching the rulebook: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return rulebook.File{}, fmt.Errorf("fetching the rulebook: %q answers %s", from, res.Status)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, rulebook.MaxBook+1))
	if err != nil {
		return rulebook.File{}, fmt.Errorf("fetching the rulebook: %w", err)
	}
	if len(data) > rulebook.MaxBook {
		return rulebook.File{}, fmt.Errorf("the rulebook at %q is larger than %d bytes", from, rulebook.MaxBook)
	}
	return rulebook.File{Path: d.Join(d.Config, "books", bookName(u)), Data: data, Digest: rulebook.DigestOf(data)}, nil
}

func safeAddress(u *url.URL) error {
	here := u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
	if u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !here) {
		return fmt.Errorf("%q is not fetched: only https:// is", u.Redacted())
	}
	return nil
}

// bookName makes a file name of an address.
func bookName(u *url.URL) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, u.Hostname()+strings.TrimSuffix(u.Path, ".toml"))
	return name[:min(len(name), 100)] + ".toml"
}

// bookFacts are what doctor says about the rulebooks that count here.
func (a *app) bookFacts() (doctor.BookFacts, error) {
	var f doctor.BookFacts
	d, err := a.dirs()
	if err != nil {
		return f, err
	}
	books, err := entry.LoadBooks(d, a.WorkDir)
	if err == nil {
		_, err = entry.LoadPacks(d)
	}
	f.RulesError, f.Stale, f.Refused = err, books.Stale, books.Refused
	if p := books.Project; p != nil {
		f.Project, f.Broken, f.Trusted, f.Changed, f.Held = p.File.Path, p.Broken, p.Trusted, p.Before != "", p.Held
	}
	f.SecretRules = entry.MissingSecretRules(d)
	return f, nil
}

func (a *app) hooksTrustList() error {
	d, err := a.dirs()
	if err != nil {
		return err
	}
	trust, err := rulebook.LoadTrust(d)
	if err != nil {
		return hintBroken(err, "repair or delete that file; until then nothing is trusted")
	}
	type row struct {
		rulebook.Pin
		State string `json:"state"` // trusted, changed, gone
	}
	rows := []row{}
	for _, p := range trust.Pins() {
		r := row{p, "trusted"}
		switch f, err := rulebook.Read(p.Path); {
		case err != nil:
			r.State = "gone"
		case f.Digest != p.SHA256:
			r.State = "changed"
		}
		rows = append(rows, r)
	}
	return a.result(rows, func() {
		if len(rows) == 0 {
			a.say("no rulebook is trusted but your own")
			return
		}
		var table [][]string
		for _, r := range rows {
			table = append(table, []string{r.State, r.SHA256.Short(), when(r.At, a.Now()), r.Path})
		}
		a.table("", table)
	})
}

func (a *app) hooksTrustRevoke(file string) error {
	if err := a.personOnly("revoking trust"); err != nil {
		return err
	}
	d, err := a.dirs()
	if err != nil {
		return err
	}
	path, _, err := a.book(d, file)
	if err != nil {
		return err
	}
	trust, err := rulebook.LoadTrust(d)
	if err != nil {
		return err
	}
	was, err := trust.Remove(path)
	if err != nil {
		return err
	}
	if !was {
		return hint(fmt.Errorf("%q is not trusted", path), "`lidguard hooks trust --list` tells what is")
	}
	if err := entry.AppendAudit(d, &entry.AuditEntry{Time: a.Now().UTC(), Kind: "revoke", Rules: []string{path}}); err != nil {
		return fmt.Errorf("noting it in the audit log: %w", err)
	}
	return a.result(trustReport{Path: path, Would: []entry.BookPart{}}, func() { a.say("trusted no longer: %s", path) })
}
