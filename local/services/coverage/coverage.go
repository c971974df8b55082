// Package coverage writes the tables of docs/services.md: which operations of each service are served, from what the
// services have registered. It leaves the prose of the page as it is, and it knows no service.
package coverage

import (
	"fmt"
	"strings"

	"stepback/aws/server"
)

// The comments between which the generated parts of the page stand.
const (
	begin        = "<!-- operations of %s: make generate writes what follows -->"
	end          = "<!-- end of operations -->"
	beginSummary = "<!-- all services: make generate writes what follows -->"
	endSummary   = "<!-- end of all services -->"
)

// Page returns the text of the page with the tables of these services, and everything else as it was. The tables of a
// service stand in the section with its name ("## SQS"); a service without a section gets one at the end, with tables
// and no prose. The error says that a section with tables is about no service, or that a table has no end.
func Page(page string, all []server.Coverage) (string, error) {
	page, err := replaced(page, beginSummary, endSummary, summary(all))
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	for i := range all {
		c := &all[i]
		mark := fmt.Sprintf(begin, c.Model)
		known[mark] = true
		if !strings.Contains(page, mark) {
			page = withSection(page, c.Service, mark)
		}
		if page, err = replaced(page, mark, end, Markdown(c)); err != nil {
			return "", err
		}
	}
	prefix, _, _ := strings.Cut(begin, "%s")
	for line := range strings.Lines(page) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, prefix) && !known[line] {
			return "", fmt.Errorf("%s: no such service is registered; remove its tables", line)
		}
	}
	return page, nil
}

// replaced puts a text between two comments. Both comments are there once, or the summary is put after the first
// paragraph.
func replaced(page, from, to, text string) (string, error) {
	before, rest, found := strings.Cut(page, from)
	if !found {
		return "", fmt.Errorf("the page has no %s", from)
	}
	old, after, found := strings.Cut(rest, to)
	if !found || strings.Contains(old, "<!--") {
		return "", fmt.Errorf("%s has no %s", from, to)
	}
	return before + from + "\n\n" + text + "\n" + to + after, nil
}

// withSection adds the comments of a service at the end of its section, or with a new section at the end.
func withSection(page, service, mark string) string {
	head := "\n## " + service + "\n"
	marks := mark + "\n\n" + end + "\n"
	at := strings.Index(page, head)
	if at < 0 {
		return strings.TrimRight(page, "\n") + "\n" + head + "\n" + marks
	}
	after := at + len(head)
	next := strings.Index(page[after:], "\n## ")
	if next < 0 {
		return strings.TrimRight(page, "\n") + "\n\n" + marks
	}
	return strings.TrimRight(page[:after+next], "\n") + "\n\n" + marks + page[after+next:]
}

// summary is the table of all services.
func summary(all []server.Coverage) string {
	var b strings.Builder
	b.WriteString("| service | operations of its model | work | work in part | not there | served |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|\n")
	var works, partly, absent int
	for _, c := range all {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.0f %% |\n",
			c.Service, len(c.Operations), c.Works, c.Partly, c.Absent, c.Share)
		works, partly, absent = works+c.Works, partly+c.Partly, absent+c.Absent
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d | |\n", works+partly+absent, works, partly, absent)
	return b.String()
}

// Markdown is what is said of one service: how many operations are served, which work, what is missing of others, and
// which are not there.
func Markdown(c *server.Coverage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of the %d operations of the API model (%.0f %%).\n",
		c.Works+c.Partly, len(c.Operations), c.Share)
	list := func(title string, state server.State) {
		var names []string
		for _, o := range c.Operations {
			if o.State == state {
				names = append(names, "`"+o.Name+"`")
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "\n%s (%d):\n%s\n", title, len(names), wrapped(names))
		}
	}
	list("Work", server.Works)
	if c.Partly > 0 {
		fmt.Fprintf(&b, "\nWork in part (%d):\n\n| operation | what is missing |\n|---|---|\n", c.Partly)
		for _, o := range c.Operations {
			if o.State == server.Partly {
				fmt.Fprintf(&b, "| `%s` | %s |\n", o.Name, o.Missing)
			}
		}
	}
	list("Not there, answered with 501", server.Absent)
	return b.String()
}

// wrapped puts names into lines of at most 120 characters.
func wrapped(names []string) string {
	const width = 120
	var b strings.Builder
	column := 0
	for i, n := range names {
		if i < len(names)-1 {
			n += ","
		}
		switch {
		case column == 0:
		case column+1+len(n) > width:
			b.WriteString("\n")
			column = 0
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(n)
		column += len(n)
	}
	return b.String()
}
