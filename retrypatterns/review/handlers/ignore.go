package handlers

import (
	"strings"

	"stepback/asl"
	"stepback/asl/source"
)

// ignoreMark starts a comment that silences a rule: stepback:ignore CODE reason.
const ignoreMark = "stepback:ignore "

// ignore is a comment that silences a rule on a line.
type ignore struct {
	at           source.Span
	line         int
	code, reason string
	used         bool
}

// ignores returns the comments that silence rules. A comment on a line of its own is about the next line with code.
func (f *file) ignores() []ignore {
	var all []ignore
	lines := strings.Split(f.text, "\n")
	start := 0
	for i, line := range lines {
		at := strings.Index(line, ignoreMark)
		before := strings.TrimSpace(line[:max(at, 0)])
		if at >= 0 && (strings.HasSuffix(before, "//") || strings.HasSuffix(before, "*")) {
			code, reason, _ := strings.Cut(strings.TrimSpace(line[at+len(ignoreMark):]), " ")
			x := ignore{line: i + 1, code: strings.TrimRight(code, ":;,"),
				reason: strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(reason), "*/")),
				at:     source.Span{Start: start + at, End: start + at + len(ignoreMark) + len(code)}}
			if own := strings.Trim(before, "/* \t"); own == "" {
				for x.line < len(lines) && isComment(lines[x.line]) {
					x.line++
				}
				x.line++
			}
			all = append(all, x)
		}
		start += len(line) + 1
	}
	return all
}

// isComment reports whether a line is empty or only a comment.
func isComment(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "*") || strings.HasPrefix(line, "/*")
}

// silenced returns the findings that no comment silences, with findings about comments that silence nothing, and the
// number of silenced ones.
func (f *file) silenced() (left []asl.Diagnostic, silenced int) {
	ignores := f.ignores()
	findings := f.findings
	f.findings = nil
	for _, d := range findings {
		silent := false
		for i := range ignores {
			if x := &ignores[i]; x.reason != "" && x.line == d.Line && x.code == string(d.Code) {
				x.used, silent = true, true
			}
		}
		if silent {
			silenced++
			continue
		}
		left = append(left, d)
	}
	for _, x := range ignores {
		_, known := RuleNamed(x.code)
		switch {
		case !known:
			f.found(ignoreUnclear, x.at, "", "stepback retries review --explain lists the codes", "there is no rule %s to ignore in code",
				x.code)
		case x.reason == "":
			f.found(ignoreUnclear, x.at, "", "write why after the code", "%s is not silenced, because the comment gives no reason", x.code)
		case !x.used:
			f.found(ignoreUnclear, x.at, "", "remove it", "%s is silenced, but the rule finds nothing on line %d", x.code, x.line)
		}
	}
	return append(left, f.findings...), silenced
}
