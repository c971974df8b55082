package checks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
)

// codeQuality is an entry of GitLab's report artifacts:reports:codequality, which merge requests show beside lines.
type codeQuality struct {
	Description string              `json:"description"`
	Check       string              `json:"check_name"`
	Fingerprint string              `json:"fingerprint"`
	Severity    string              `json:"severity"`
	Location    codeQualityLocation `json:"location"`
}

type codeQualityLocation struct {
	Path  string           `json:"path"`
	Lines codeQualityLines `json:"lines"`
}

type codeQualityLines struct {
	Begin int `json:"begin"`
}

// codeQualityOf converts reviews to a report: the findings, the errors that make a definition invalid, and the files
// that were not read. A finding that moves to another line keeps its fingerprint, by which GitLab tells new findings.
func codeQualityOf(all []reviewed, unread []definitions.Unread) []codeQuality {
	report := []codeQuality{}
	found := map[string]int{}
	add := func(path, check, place, text, severity string, line int) {
		identity := strings.Join([]string{path, check, place, text}, "\n")
		found[identity]++
		sum := sha256.Sum256([]byte(identity + "\n" + strconv.Itoa(found[identity])))
		report = append(report, codeQuality{
			Description: text, Check: check, Fingerprint: hex.EncodeToString(sum[:]), Severity: severity,
			Location: codeQualityLocation{path, codeQualityLines{max(line, 1)}},
		})
	}
	for i := range all {
		_, machine := definitions.PartOf(all[i].Definition.Path)
		for _, d := range asl.Apart(all[i].Advice) { // one annotation a line
			severity := map[asl.Severity]string{asl.SeverityError: "critical", asl.SeverityWarning: "major"}[d.Severity]
			add(inRepository(all[i].Definition.Source), string(d.Code), machine+d.Location, findingText(machine, d),
				cmp.Or(severity, "minor"), d.Line)
		}
	}
	for _, u := range unread {
		add(inRepository(u.Path), "NOT_READ", "", "not read: "+u.Err.Error(), "critical", 1)
	}
	return report
}
