package replay

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// junitSuites is the report that build servers read: one suite for each corpus, one
// case for each row.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit is the report as JUnit XML.
func (r *Report) JUnit() ([]byte, error) {
	out := junitSuites{Tests: len(r.Rows), Failures: r.Misses, Suites: []junitSuite{}}
	at := map[string]int{}
	for _, row := range r.Rows {
		i, known := at[row.Suite]
		if !known {
			i = len(out.Suites)
			at[row.Suite] = i
			out.Suites = append(out.Suites, junitSuite{Name: row.Suite})
		}
		s := &out.Suites[i]
		s.Tests++
		c := junitCase{Class: row.Suite + "." + row.Rule, Name: strings.TrimSpace(fmt.Sprintf("%s %s [%s, %s] %s", row.Provider, row.Event, row.Kind, row.Mode, printable(row.Case)))}
		if row.Miss {
			s.Failures++
			c.Failure = &junitFailure{Message: printable("expected " + row.Expected + ", got " + row.Actual),
				Text: printable(strings.Join(append([]string{row.Reason}, row.Faults...), "\n"))}
		}
		s.Cases = append(s.Cases, c)
	}
	data, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(xml.Header), append(data, '\n')...), nil
}

// printable drops what XML cannot hold.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == '\uFFFE' || r == '\uFFFF' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}
