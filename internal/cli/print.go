package cli

// The rules of this file:
//   - nothing else in the package writes to stdout, stderr or reads an answer;
//   - results go to stdout, errors, hints and questions to stderr;
//   - an error is one line in lower case without a full stop, and a hint names
//     what to do, with the command where there is one;
//   - colour only on a terminal, never with NO_COLOR (no-color.org) or TERM=dumb;
//   - text that comes from agents, files or the system loses its control
//     characters before it meets a terminal.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"
)

// printer writes what people and scripts read.
type printer struct {
	in     io.Reader
	out    *output
	err    io.Writer
	json   bool // results as JSON
	colour bool
	// interactive: a person sits at stdin and sees stderr.
	interactive bool
	lines       *bufio.Reader
}

// output is where results go. It remembers the first write that failed: whoever
// reads a result then has only a part of it, whatever else went well.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

func newPrinter(o Options) *printer {
	return &printer{
		in: o.Stdin, out: &output{Writer: o.Stdout}, err: o.Stderr,
		colour:      isTerminal(o.Stdout) && o.Env("NO_COLOR") == "" && o.Env("TERM") != "dumb",
		interactive: isTerminal(o.Stdin) && isTerminal(o.Stderr),
	}
}

// isTerminal reports whether the stream is a terminal of this process.
func isTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(f.Fd())
}

// hinted is an error with advice for the person who reads it.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }
func (e *hinted) Unwrap() error { return e.err }

// hint adds advice to an error: what to run or to change.
func hint(err error, advice string) error { return &hinted{err, advice} }

// hintBroken is hint for a file of ours with something wrong in it, unless it could
// not even be read, which failure has its own hint for.
func hintBroken(err error, advice string) error {
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	return hint(err, advice)
}

// failure prints an error and its hint.
func (p *printer) failure(err error) {
	fmt.Fprintln(p.err, p.paint(red, "error:"), shorten(clean(strings.ReplaceAll(err.Error(), "\n", "; "))))
	var h *hinted
	switch {
	case errors.As(err, &h):
		fmt.Fprintln(p.err, p.paint(dim, "hint:"), h.hint)
	case errors.Is(err, fs.ErrPermission):
		fmt.Fprintln(p.err, p.paint(dim, "hint:"), "`ls -ld` with that path, and with the folder above it, shows whose it is and what you may do; it has to be yours")
	case errors.Is(err, syscall.EROFS):
		fmt.Fprintln(p.err, p.paint(dim, "hint:"), "that disk can only be read: make it writable, or set LIDGUARD_HOME to a folder elsewhere for what is lidguard's own")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		fmt.Fprintln(p.err, p.paint(dim, "hint:"), "the disk is full: make room there and try again; nothing was written in part")
	}
}

// maxError is how many characters of an error are printed. Those of ours that repeat
// no argument are far shorter.
const maxError = 2000

// shorten takes out the middle of what is longer than maxError: the front tells what
// failed, the end why.
func shorten(s string) string {
	runes := []rune(s)
	if len(runes) <= maxError {
		return s
	}
	return string(runes[:maxError/2]) + " … " + string(runes[len(runes)-maxError/2:])
}

// note prints progress for a person; scripts that read JSON get none.
func (p *printer) note(format string, args ...any) {
	if !p.json {
		fmt.Fprintln(p.err, clean(fmt.Sprintf(format, args...)))
	}
}

// say prints a line of the result. Its error, which the exit code will tell, is of
// use only to what goes on for long.
func (p *printer) say(format string, args ...any) error {
	_, err := fmt.Fprintln(p.out, clean(fmt.Sprintf(format, args...)))
	return err
}

// raw prints text as it is: snippets that are pasted elsewhere.
func (p *printer) raw(text []byte) error {
	_, err := p.out.Write(text)
	return err
}

// result prints v as JSON when the person asked for JSON, else what text prints.
func (p *printer) result(v any, text func()) error {
	if !p.json {
		text()
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return p.raw(b.Bytes())
}

// table prints rows in columns, two blanks apart. The last column is not padded.
func (p *printer) table(indent string, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(clean(cell)))
		}
	}
	for _, row := range rows {
		line := indent
		for i, cell := range row {
			cell = clean(cell)
			line += cell
			if i < len(row)-1 {
				line += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
			}
		}
		fmt.Fprintln(p.out, strings.TrimRight(line, " "))
	}
}

// heading prints the title of a block of lines.
func (p *printer) heading(title string) { fmt.Fprintln(p.out, p.paint(bold, title)) }

// diff prints a change of a file with its added and removed lines in colour.
func (p *printer) diff(text string) {
	for line := range strings.Lines(text) {
		line = clean(strings.TrimSuffix(line, "\n"))
		switch {
		case strings.HasPrefix(line, "+"):
			line = p.paint(green, line)
		case strings.HasPrefix(line, "-"):
			line = p.paint(red, line)
		}
		fmt.Fprintln(p.out, line)
	}
}

// errStopped: Ctrl-C, or another signal that ends programs.
var errStopped = errors.New("stopped before it was done")

// interruptible runs f, which knows nothing of ctx, and leaves it behind where ctx
// ends before. That is for what changes nothing: it goes on until the program ends.
func interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() { // nobody waits for it where ctx ends
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, errStopped
	}
}

// ask puts a yes-or-no question to the person; anything but yes is no. The end of
// ctx is an error.
func (p *printer) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprint(p.err, question, " [y/N] ")
	if p.lines == nil {
		p.lines = bufio.NewReader(p.in)
	}
	answer, err := interruptible(ctx, func() (string, error) { return p.lines.ReadString('\n') })
	if errors.Is(err, errStopped) {
		fmt.Fprintln(p.err)
		return false, err
	}
	if err != nil && (!errors.Is(err, io.EOF) || answer == "") {
		fmt.Fprintln(p.err)
		if errors.Is(err, io.EOF) {
			return false, nil // the terminal was closed: nobody agreed
		}
		return false, fmt.Errorf("reading the answer: %w", err)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}

// when shows a moment in now's time zone; of another day than now with its date.
func when(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	t = t.In(now.Location())
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// span shows a duration the way people say it: 45s, 12m, 3h05m, 2d.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

// clean removes what could move a cursor, change colours or hide text. Tabs stay.
func clean(s string) string {
	bad := func(r rune) bool {
		return r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf) || r == utf8.RuneError)
	}
	if !strings.ContainsFunc(s, bad) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return '?'
		}
		return r
	}, s)
}

// The few colours, as SGR parameters every terminal since the VT100 family knows.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p *printer) paint(sgr, text string) string {
	if !p.colour {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// lineWriter returns where a long trace goes, as it comes.
func (p *printer) lineWriter() io.Writer { return p.out }
