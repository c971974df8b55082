package checks

import (
	"fmt"
	"io"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// explainRules prints what a rule of retries review finds and why; for "all" it prints one line for each rule.
func explainRules(w io.Writer, code string) error {
	if strings.EqualFold(code, "all") {
		t := terminal.NewTable("rule", "severity", "finds")
		for _, r := range reviewRules() {
			t.Add(r.Code, strings.ToLower(string(r.Severity)), r.Title)
		}
		t.Print(w, "")
		return nil
	}
	r, ok := reviewRule(code)
	if !ok {
		return exit.With(exit.Usage, fmt.Errorf("there is no rule %s; --explain all lists them", code))
	}
	_, err := fmt.Fprintf(w, "%s (%s)\n%s.\n\n%s\n", r.Code, strings.ToLower(string(r.Severity)),
		strings.ToUpper(r.Title[:1])+r.Title[1:], wrapped(r.Why, 100))
	return err
}

// wrapped breaks text at blanks into lines of at most width.
func wrapped(text string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case column+1+len(word) > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}
