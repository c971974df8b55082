// Package coverage generates the tables of docs/services.md: which operations of each service are implemented, from
// what the services have registered. It leaves the page's prose unchanged, and does not know any service.
package coverage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/aws/server"
)

// The comments that enclose the generated parts of the page.
const (
	begin        = "<!-- operations of %s: make generate writes what follows -->"
	end          = "<!-- end of operations -->"
	beginSummary = "<!-- all services: make generate writes what follows -->"
	endSummary   = "<!-- end of all services -->"
)

// Page returns the text of the page with the tables of these services; everything else is unchanged. The tables of a
// service are in the section with its name ("## SQS"); for a service without a section, one is added at the end, with
// tables and no prose. It returns an error if a section with tables belongs to no service, or a table has no end.
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
		if page, err = replaced(page, mark, end, markdown(c)); err != nil {
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

// replaced replaces the text between two comments. It returns an error if one of them is missing.
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

// withSection adds the comments of a service at the end of its section, or in a new section at the end of the page.
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

// summary returns the table of all services.
func summary(all []server.Coverage) string {
	var b strings.Builder
	b.WriteString("| service | operations in its model | supported | in part | not supported | share |\n")
	b.WriteString("|---|---:|---:|---:|---:|---:|\n")
	var supported, partial, unsupported int
	for _, c := range all {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %.0f %% |\n",
			c.Service, len(c.Operations), c.Supported, c.Partial, c.Unsupported, c.Share)
		supported, partial, unsupported = supported+c.Supported, partial+c.Partial, unsupported+c.Unsupported
	}
	fmt.Fprintf(&b, "| all | %d | %d | %d | %d | |\n", supported+partial+unsupported, supported, partial, unsupported)
	return b.String()
}

// markdown returns the part of the page for one service: the number of implemented operations, the operations that
// work, what is missing in those that work only in part, and those that are not available.
func markdown(c *server.Coverage) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of the %d operations in the API model (%.0f %%).\n",
		c.Supported+c.Partial, len(c.Operations), c.Share)
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
	list("Supported", server.Supported)
	if c.Partial > 0 {
		fmt.Fprintf(&b, "\nSupported in part (%d):\n\n| operation | what is missing |\n|---|---|\n", c.Partial)
		for _, o := range c.Operations {
			if o.State == server.Partial {
				fmt.Fprintf(&b, "| `%s` | %s |\n", o.Name, o.Missing)
			}
		}
	}
	list("Not supported, answered with 501", server.Unsupported)
	members(&b, c)
	return b.String()
}

// members writes the members that requests must not have, and those that have no effect.
func members(b *strings.Builder, c *server.Coverage) {
	var refused, accepted strings.Builder
	for i := range c.Operations {
		o := &c.Operations[i]
		if len(o.Refused) > 0 {
			fmt.Fprintf(&refused, "| `%s` | %s |\n", o.Name, "`"+strings.Join(o.Refused, "`, `")+"`")
		}
		for _, path := range slices.Sorted(maps.Keys(o.Accepted)) {
			fmt.Fprintf(&accepted, "| `%s` | `%s` | %s |\n", o.Name, path, o.Accepted[path])
		}
	}
	if refused.Len() > 0 {
		fmt.Fprintf(b, "\nA request with one of these members is answered with 501:\n\n| operation | members |\n|---|---|\n%s",
			refused.String())
	}
	if accepted.Len() > 0 {
		fmt.Fprintf(b, "\nThese members have no effect:\n\n| operation | member | why |\n|---|---|---|\n%s", accepted.String())
	}
}

// wrapped wraps names into lines of at most 120 characters.
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
