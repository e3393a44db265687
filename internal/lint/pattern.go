package lint

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first asked: the
// program that links this package also answers hooks, which need none of them.
type pattern struct {
	source string
	once   sync.Once
	expr   *regexp.Regexp
}

func re(source string) *pattern { return &pattern{source: source} }

func (p *pattern) get() *regexp.Regexp {
	p.once.Do(func() { p.expr = regexp.MustCompile(p.source) })
	return p.expr
}

func (p *pattern) MatchString(s string) bool              { return p.get().MatchString(s) }
func (p *pattern) FindString(s string) string             { return p.get().FindString(s) }
func (p *pattern) FindStringIndex(s string) []int         { return p.get().FindStringIndex(s) }
func (p *pattern) FindStringSubmatch(s string) []string   { return p.get().FindStringSubmatch(s) }
func (p *pattern) FindStringSubmatchIndex(s string) []int { return p.get().FindStringSubmatchIndex(s) }
func (p *pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.get().FindAllStringIndex(s, n)
}

func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.get().FindAllStringSubmatch(s, n)
}

func (p *pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.get().FindAllStringSubmatchIndex(s, n)
}

func (p *pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.get().ReplaceAllStringFunc(s, f)
}
