package csvimportstack

import (
	"encoding/json"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"stepback/docs"
)

// addRunbook publishes the sections of docs/operating.md about the alarms as a dashboard, so that everyone who can
// open an alarm can also open the page it links to. An environment with its own Guide has no such dashboard.
func (s *Stack) addRunbook() {
	if s.Environment.Guide != "" || s.apart {
		return
	}
	type properties struct {
		Markdown string `json:"markdown"`
	}
	type widget struct {
		Type       string     `json:"type"`
		X          int        `json:"x"`
		Y          int        `json:"y"`
		Width      int        `json:"width"`
		Height     int        `json:"height"`
		Properties properties `json:"properties"`
	}
	var widgets []widget
	const columns, width, height = 2, 12, 5
	for i, section := range runbook(docs.Operating) {
		widgets = append(widgets, widget{Type: "text", X: i % columns * width, Y: i / columns * height, Width: width,
			Height: height, Properties: properties{section}})
	}
	body, err := json.Marshal(map[string]any{"widgets": widgets})
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	awscloudwatch.NewCfnDashboard(s.Stack, jsii.String("Runbook"), &awscloudwatch.CfnDashboardProps{
		DashboardName: jsii.String(s.runbookName()), DashboardBody: jsii.String(string(body)),
	})
}

// runbook returns the sections of the guide's chapter on alarms, each with its heading. Links inside the guide do not
// work on a dashboard and are replaced by their text.
func runbook(guide string) []string {
	_, chapter, _ := strings.Cut(guide, "\n## Alarms\n")
	chapter, _, _ = strings.Cut(chapter, "\n## ")
	parts := strings.Split(chapter, "\n### ")
	var out []string
	for _, part := range parts[1:] {
		out = append(out, "### "+strings.TrimSpace(unlinked(part)))
	}
	return out
}

// unlinked replaces the links in a Markdown text that point to other places of the repository by their plain text.
func unlinked(text string) string {
	var b strings.Builder
	for {
		begin := strings.Index(text, "[")
		if begin < 0 {
			break
		}
		label, rest, ok := strings.Cut(text[begin+1:], "](")
		address, rest, closed := strings.Cut(rest, ")")
		if !ok || !closed || strings.ContainsAny(label, "[]") || strings.HasPrefix(address, "https://") {
			b.WriteString(text[:begin+1])
			text = text[begin+1:]
			continue
		}
		b.WriteString(text[:begin] + label)
		text = rest
	}
	return b.String() + text
}

func (s *Stack) runbookName() string { return "CSV-Processing-Runbook-" + s.Environment.Name }

// guide returns the address that alarms link to: the environment's, or that of the runbook.
func (s *Stack) guide() string {
	if s.Environment.Guide != "" || s.apart {
		return s.Environment.Guide
	}
	return *s.consoleURL(s.runbookName())
}
