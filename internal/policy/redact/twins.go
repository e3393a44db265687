package redact

import "fmt"

// Proof is what came of one example of a person's rule.
type Proof struct {
	Rule string `json:"rule"`
	// Case is the number of the example, as "mask 2", or what is missing. Its text is
	// not told: an example may be a secret after all.
	Case string `json:"case"`
	// Problem says what is wrong, "" if all is well.
	Problem string `json:"problem,omitempty"`
}

// Prove holds every rule to its twins: it needs some of both kinds, finds something in
// those under mask and nothing in those under keep. The rules are asked one by one, so
// that no other, built in or not, hides what one of them does.
func Prove(rules []Rule) []Proof {
	var list []Proof
	for _, r := range rules {
		if len(r.Mask) == 0 {
			list = append(list, Proof{r.ID, "mask = […]", "no example with a secret of this rule"})
		}
		if len(r.Keep) == 0 {
			list = append(list, Proof{r.ID, "keep = […]", "no example without one"})
		}
		e := NewEngine(&Config{Rules: []Rule{r}}, nil)
		finds := func(text string) bool {
			found, _ := e.search([]byte(text), false)
			for _, f := range found {
				if f.rule == r.ID {
					return true
				}
			}
			return false
		}
		for i, text := range r.Mask {
			p := Proof{Rule: r.ID, Case: fmt.Sprintf("mask %d", i+1)}
			if !finds(text) {
				p.Problem = "the rule finds nothing in it"
			}
			list = append(list, p)
		}
		for i, text := range r.Keep {
			p := Proof{Rule: r.ID, Case: fmt.Sprintf("keep %d", i+1)}
			if finds(text) {
				p.Problem = "the rule finds a secret in it"
			}
			list = append(list, p)
		}
	}
	return list
}
