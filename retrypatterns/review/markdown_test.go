package review

import (
	"fmt"
	"io"
	"strings"

	"stepback/asl"
)

// WriteMarkdown writes the reference page of the rules. counts is the number of findings of each rule in a corpus of
// the given number of definitions. It returns the writer's error.
func WriteMarkdown(w io.Writer, counts map[asl.Code]int, definitions int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# The rules of `stepback retries review`\n\n"+
		"This page is generated from package `retrypatterns/review` by `go generate ./retrypatterns/review`; do not edit it.\n\n"+
		"`stepback retries review FILE…` reads definitions that Step Functions would accept and checks these rules. `error`: will\n"+
		"fail. `warning`: will fail under stress. `advice`: worth knowing. `stepback validate` reports definitions that AWS would\n"+
		"reject, such as one with a States.ALL that is not alone or not last.\n\n"+
		"A `Comment` of the machine, a state, a retrier or a catcher with the text `stepback:ignore CODE reason` silences a rule\n"+
		"there and below. `--fix` fixes mechanical problems in place: jitter, caps, rates, missing names and retriers that do\n"+
		"nothing. It edits definitions in JSON and YAML, with placeholders, and those inside SAM, CloudFormation and serverless.yml\n"+
		"templates, and changes no other lines. Findings that say the same about several states are one finding with all places. With `--fail-on warning`, warnings end with exit status 3; `--sarif` prints for code scanning.\n\n"+
		"The last column counts the findings of each rule in the %d different definitions of the recordings of the real service\n"+
		"(`internal/recordings/`), most of which are small tests without any Retry.\n\n"+
		"| rule | severity | finds | found |\n|---|---|---|---|\n", definitions)
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %d |\n", r.Code, strings.ToLower(string(r.Code)),
			strings.ToLower(string(r.Severity)), r.Title, counts[r.Code])
	}
	for _, r := range Rules() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", r.Code, r.Why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
