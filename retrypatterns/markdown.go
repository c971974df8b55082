package retrypatterns

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"stepback/retry"
)

// WriteMarkdown writes sections of Markdown on a retry table: patterns, error map, rows of each state, presets and
// classification tables, all from the data that the code itself uses. It returns the writer's error.
func WriteMarkdown(w io.Writer, t Table) error {
	var page strings.Builder
	writePatterns(&page)
	writeErrorMap(&page, t)
	for _, s := range t.States {
		writeState(&page, s)
	}
	writePresets(&page)
	writeClassification(&page)
	_, err := io.WriteString(w, page.String())
	return err
}

func writePatterns(page *strings.Builder) {
	t := newMarkdownTable("Pattern", "For", "Retries", "First delay", "Rate", "Longest delay", "Jitter",
		"Total wait, mean", "Total wait, longest")
	for _, p := range patterns {
		total := p.Policy.Schedule().Total
		t.row(append([]string{string(p.Name), p.Use}, append(policyCells(p.Policy), total.Mean.String(),
			total.Max.String())...)...)
	}
	section(page, "The four patterns, and two for deferred work",
		"`paced` is an addition: it retries work that a circuit breaker, a limiter or a retry budget refused. `DECORRELATED`,\n"+
			"`PARTIAL` and `PROPORTIONAL` jitter exist only in this project's own policies. Amazon States Language supports `FULL`\n"+
			"and `NONE`, so compiled retriers use `FULL` instead.", t)
}

func writeErrorMap(page *strings.Builder, table Table) {
	t := newMarkdownTable("Error", "Pattern", "From")
	for _, row := range errorPatterns {
		t.row("`"+row.Error+"`", string(row.Pattern), string(row.Provenance))
	}
	for _, name := range table.neverRetried() {
		t.row("`"+name+"`", "never retried", string(Addition))
	}
	section(page, "Error → pattern", "", t)
}

func writeState(page *strings.Builder, s StateRetries) {
	t := newMarkdownTable("#", "Errors", "Retries", "First delay", "Rate", "Longest delay", "Jitter", "From", "Comment")
	for i, row := range s.Rows {
		cells := append([]string{strconv.Itoa(i + 1), "`" + strings.Join(row.Errors, "` `") + "`"},
			policyCells(row.Policy)...)
		t.row(append(cells, string(row.Provenance), row.Comment)...)
	}
	limits := "Timeout " + s.Timeout.String() + " per attempt."
	if s.Heartbeat > 0 {
		limits = "Timeout " + s.Timeout.String() + " per attempt, heartbeat " + s.Heartbeat.String() + "."
	}
	section(page, "State "+s.State, limits, t)
}

func policyCells(p retry.Policy) []string {
	if p.MaxAttempts == 0 {
		return []string{"0", "", "", "", ""}
	}
	return []string{strconv.Itoa(p.MaxAttempts), p.Interval.String(), formatFloat(p.Rate), p.MaxDelay.String(),
		string(p.Jitter)}
}

func writePresets(page *strings.Builder) {
	t := newMarkdownTable("Preset", "For", "Retries", "First delay", "Rate", "Longest delay", "Jitter",
		"Total wait, mean", "Total wait, longest")
	for _, p := range retry.Presets() {
		cells := policyCells(p.Policy)
		if p.Policy.Jitter == retry.JitterProportional {
			cells[4] += " " + formatFloat(p.Policy.JitterFactor)
		}
		total := p.Policy.Schedule().Total
		t.row(append([]string{p.Name, p.Use}, append(cells, total.Mean.Round(time.Millisecond).String(),
			total.Max.Round(time.Millisecond).String())...)...)
	}
	section(page, "Presets for callers in Go",
		"`PROPORTIONAL` adds a random part of the delay to it, up to the given factor. The totals are computed; those printed in\n"+
			"the source document (4.5 s, 90 s, 30 min) do not follow from its formula. "+
			"`stepback retries presets` prints each wait.", t)
}

func writeClassification(page *strings.Builder) {
	heading(page, "Classification", "How errors get their names. *Transient*: the call did not take effect, repeat it. *Unknown outcome*: repeat it only if\n"+
		"it is idempotent. *Conflict*: start again from the read. *Permanent*: do not repeat it.")
	for _, kind := range retry.Classifiers() {
		t := newMarkdownTable(kind.Key, "Meaning", "Error", "Class", "Pattern")
		for _, row := range kind.Rows {
			pattern := "never retried"
			if p, ok := PatternFor(row.Error); ok {
				pattern = string(p.Name)
			}
			t.row(row.Identity, row.Meaning, "`"+row.Error+"`", string(row.Class), pattern)
		}
		fmt.Fprintf(page, "\n### %s\n\n%s", kind.Title, t.String())
	}
}

func section(page *strings.Builder, title, text string, t *markdownTable) {
	heading(page, title, text)
	page.WriteString("\n" + t.String())
}

func heading(page *strings.Builder, title, text string) {
	page.WriteString("\n## " + title + "\n")
	if text != "" {
		page.WriteString("\n" + text + "\n")
	}
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// markdownTable collects the lines of one table.
type markdownTable struct{ strings.Builder }

func newMarkdownTable(columns ...string) *markdownTable {
	t := new(markdownTable)
	t.row(columns...)
	t.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
	return t
}

func (t *markdownTable) row(cells ...string) {
	t.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
