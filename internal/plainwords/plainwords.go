// Package plainwords finds phrases that make a comment, a message or a page hard to read at once. CONTRIBUTING.md
// describes the style; this package holds the part of it that a pattern can check.
package plainwords

import (
	"go/ast"
	"go/token"
	"regexp"
	"sort"
	"strings"
)

// Finding is a phrase that the style rejects.
type Finding struct {
	Line   int    // in the text or file, from 1
	Phrase string // as written, on one line
	Advice string // what to write instead
}

// rule rejects what pattern matches.
type rule struct {
	pattern *regexp.Regexp
	advice  string
}

func phrase(pattern, advice string) rule {
	return rule{regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(pattern, " ", `\s+`) + `)\b`), advice}
}

// opening rejects the first words of a comment.
var opening = rule{regexp.MustCompile(`^[\w.]+\s+(?:is|are)\s+(?:what|which|how|who|whoever|whom|whose|that\s+of|those)\b`),
	"write what it does (returns, reports, parses) or which thing it represents"}

var phrases = []rule{
	phrase(`befalls?|befell|befallen`, "name the component that fails, and how"),
	phrase(`(?:is|are|was|were|be|been|being) told`, "write which component sends, reports or prints it"),
	phrase(`(?:becomes?|became) of`, "write what happens, or what the result is"),
	phrase(`(?:comes?|came) to`, "write how much it is, or what the result is"),
	phrase(`whoever|somebody|nobody`, "name the caller, the operator or the component"),
	phrase(`in the place of`, `write "instead of"`),
	phrase(`mends?|mended|mending`, `write "fix" or "repair"`),
	phrase(`go on|goes on|went on|gone on`, `write "continue" or "resume"`),
	phrase(`(?:is|are|was|were) not there`, `write "is missing" or "does not exist"`),
	phrase(`has \w+ make`, "write what it does"),
}

// Comments returns the findings in a file's comments. A generated file has none.
func Comments(fset *token.FileSet, file *ast.File) []Finding {
	if ast.IsGenerated(file) {
		return nil
	}
	var found []Finding
	for _, group := range file.Comments {
		text, first := group.Text(), fset.Position(group.Pos()).Line
		if m := opening.pattern.FindString(text); m != "" {
			found = append(found, Finding{Line: first, Phrase: oneLine(m), Advice: opening.advice})
		}
		for _, f := range Text(text) {
			f.Line += first - 1
			found = append(found, f)
		}
	}
	return found
}

// Text returns the findings in prose without comment markers, by line. A phrase in quotation marks or backticks is not
// a finding, because it is quoted.
func Text(text string) []Finding {
	plain := withoutQuotations(text)
	var found []Finding
	for _, r := range phrases {
		for _, at := range r.pattern.FindAllStringIndex(plain, -1) {
			found = append(found, Finding{Line: 1 + strings.Count(plain[:at[0]], "\n"), Phrase: oneLine(plain[at[0]:at[1]]),
				Advice: r.advice})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Line < found[j].Line })
	return found
}

var quotation = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")

// withoutQuotations replaces quotations by as many other characters, so that lines and offsets stay.
func withoutQuotations(text string) string {
	return quotation.ReplaceAllStringFunc(text, func(q string) string {
		return strings.Map(func(r rune) rune {
			if r == '\n' {
				return r
			}
			return '\''
		}, q)
	})
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
