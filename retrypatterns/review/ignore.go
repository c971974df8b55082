package review

import (
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
)

// ignoreMark starts the part of a Comment that silences a rule: stepback:ignore CODE reason.
const ignoreMark = "stepback:ignore "

// ignore is a stepback:ignore comment.
type ignore struct {
	at     source.Path // of the object that has the Comment
	code   string
	reason string
	used   bool
}

var ignoreUnclear = Rule{
	Code: "IGNORE_UNCLEAR", Severity: asl.SeverityWarning,
	Title: "a stepback:ignore without an existing rule, or without a reason",
	Why: "The next reader of the definition must see why a finding does not count: stepback:ignore CODE reason. " +
		"Remove a comment that no longer silences anything.",
}

// comments parses the Comments of a state, its retriers and its catchers.
func (r *reviewer) comments(s *asl.State, at source.Path) {
	r.ignored(s.Comment, at)
	for i := range s.Retry {
		r.ignored(s.Retry[i].Comment, at.Join(source.Member("Retry"), source.Element(i)))
	}
	for i := range s.Catch {
		r.ignored(s.Catch[i].Comment, at.Join(source.Member("Catch"), source.Element(i)))
	}
}

func (r *reviewer) ignored(comment string, at source.Path) {
	parts := strings.Split(comment, ignoreMark)
	for _, part := range parts[1:] {
		code, reason, _ := strings.Cut(strings.TrimSpace(part), " ")
		r.ignores = append(r.ignores, ignore{at: at, code: strings.TrimRight(code, ";,"),
			reason: strings.TrimSpace(reason)})
	}
}

// silence removes the findings that comments silence. It also reports comments that name an unknown rule, give no
// reason, or no longer silence anything.
func (r *reviewer) silence() {
	kept := r.report.Findings[:0:0]
	for _, f := range r.report.Findings {
		by := slices.IndexFunc(r.ignores, func(x ignore) bool {
			return x.reason != "" && x.code == string(f.Code) && below(f.Location, x.at.String())
		})
		if by < 0 {
			kept = append(kept, f)
			continue
		}
		r.ignores[by].used = true
		r.report.Ignored++
	}
	r.report.Findings = kept
	for _, x := range r.ignores {
		s := subject{r: r, rule: &ignoreUnclear, at: x.at}
		at := x.at.Join(source.Member("Comment"))
		_, known := RuleNamed(x.code)
		switch {
		case !known:
			s.found(at, nil, "stepback retries review --explain lists the codes", "there is no rule %s to ignore",
				x.code)
		case x.reason == "":
			s.found(at, nil, "write why after the code", "%s is not silenced, because the comment gives no reason", x.code)
		case !x.used:
			s.found(at, nil, "remove it", "%s is silenced, but the rule finds nothing here", x.code)
		}
	}
}

// below reports whether a location is at or inside a place.
func below(location, place string) bool {
	return place == "/" || location == place || strings.HasPrefix(location, place+"/") ||
		strings.HasPrefix(location, place+"[")
}
