package checks

import (
	"net/url"
	"os"
	"path/filepath"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
)

// These types are the parts of SARIF 2.1.0 (OASIS) that code scanning reads.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Results     []sarifResult     `json:"results"`
		Invocations []sarifInvocation `json:"invocations,omitempty"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string        `json:"id"`
		Short   sarifText     `json:"shortDescription"`
		Full    sarifText     `json:"fullDescription"`
		Default sarifSeverity `json:"defaultConfiguration"`
	}
	sarifSeverity struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)

// sarifOf converts reviews to SARIF: the findings, and the errors that make a definition invalid. Files that were not
// read become notifications.
func sarifOf(all []reviewed, unread []definitions.Unread) sarifLog {
	driver := sarifDriver{Name: "stepback retries review", Rules: []sarifRule{}}
	for _, r := range reviewRules() {
		driver.Rules = append(driver.Rules, sarifRule{
			ID: string(r.Code), Short: sarifText{r.Title}, Full: sarifText{r.Why},
			Default: sarifSeverity{sarifLevel(r.Severity)},
		})
	}
	run := sarifRun{Tool: sarifTool{driver}, Results: []sarifResult{}}
	for i := range all {
		uri := sarifURI(all[i].Definition.Source)
		_, machine := definitions.PartOf(all[i].Definition.Path)
		for _, d := range asl.Apart(all[i].Advice) { // one annotation a line
			at := sarifLocation{Physical: sarifPhysical{
				Artifact: sarifArtifact{uri},
				Region:   &sarifRegion{max(d.Line, 1), max(d.Column, 1)},
			}}
			if d.Location != "" {
				at.Logical = []sarifLogical{{machine + d.Location}}
			}
			run.Results = append(run.Results, sarifResult{
				RuleID: string(d.Code), Level: sarifLevel(d.Severity), Message: sarifText{findingText(machine, d)},
				Locations: []sarifLocation{at},
			})
		}
	}
	if len(unread) > 0 {
		run.Invocations = []sarifInvocation{{}}
	}
	for _, u := range unread {
		uri := sarifURI(u.Path)
		run.Invocations[0].Notifications = append(run.Invocations[0].Notifications, sarifNotification{
			Level: "error", Message: sarifText{"not read: " + u.Err.Error()},
			Locations: []sarifLocation{{Physical: sarifPhysical{Artifact: sarifArtifact{uri}}}},
		})
	}
	return sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	}
}

// findingText returns a finding as one sentence of a report. machine is the name of its state machine in a template, or "".
func findingText(machine string, d asl.Diagnostic) string {
	text := d.Message
	if d.Hint != "" {
		text += " (" + d.Hint + ")"
	}
	if machine != "" {
		text = machine + ": " + text
	}
	return text
}

// sarifURI returns a file's address as code scanning expects it.
func sarifURI(path string) string { return (&url.URL{Path: inRepository(path)}).EscapedPath() }

// inRepository returns the path of a file relative to the root of the repository, in which the command runs. It has
// slashes.
func inRepository(path string) string {
	file, _ := definitions.PartOf(path)
	if here, err := os.Getwd(); err == nil && filepath.IsAbs(file) {
		if inside, err := filepath.Rel(here, file); err == nil && filepath.IsLocal(inside) {
			file = inside
		}
	}
	return filepath.ToSlash(filepath.Clean(file))
}

func sarifLevel(s asl.Severity) string {
	switch s {
	case asl.SeverityError:
		return "error"
	case asl.SeverityWarning:
		return "warning"
	default:
		return "note"
	}
}
