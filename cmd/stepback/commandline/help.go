package commandline

import (
	"fmt"
	"go/doc/comment"
	"io"
	"slices"
	"strings"
)

// WriteHelp writes the help of a verb, or of the program if verb is nil, in lines of the given width.
func (p *Program) WriteHelp(w io.Writer, verb *Node, width int) error {
	return p.write(w, verb, width, false)
}

// WriteUsage writes the usage line of a verb, or of the program if verb is nil, and how to get its help.
func (p *Program) WriteUsage(w io.Writer, verb *Node, width int) error {
	return p.write(w, verb, width, true)
}

func (p *Program) write(w io.Writer, verb *Node, width int, short bool) error {
	h := &helpWriter{width: width}
	n := p.top
	if verb != nil {
		n = verb
	}
	h.line("Usage: " + p.top.Name + " " + strings.TrimSpace(n.summary()))
	if n.Help != "" {
		h.line("")
		h.paragraph(n.Help)
	}
	if short {
		h.line("", fmt.Sprintf(`Run "%s --help" for more information.`, n.fullPath()))
	} else {
		h.details(n)
		if n == p.top {
			h.line("", fmt.Sprintf(`Run "%s <command> --help" for more information on a command.`, p.top.Name))
		}
	}
	_, err := io.WriteString(w, h.text.String())
	return err
}

// helpWriter builds a help text, at an indent.
type helpWriter struct {
	text   strings.Builder
	indent string
	width  int
}

func (h *helpWriter) line(lines ...string) {
	for _, l := range lines {
		h.text.WriteString(strings.TrimRight(h.indent+l, " ") + "\n")
	}
}

// indented calls do with the output indented by two more columns.
func (h *helpWriter) indented(do func()) {
	h.indent += "  "
	h.width -= 2
	do()
	h.indent = h.indent[2:]
	h.width += 2
}

// paragraph writes text as go/doc would: indented lines stay unchanged.
func (h *helpWriter) paragraph(text string) {
	h.line(strings.Split(strings.TrimSpace(wrap(strings.TrimSpace(text), "    ", h.width)), "\n")...)
}

func wrap(text, codePrefix string, width int) string {
	var p comment.Parser
	printer := comment.Printer{TextCodePrefix: codePrefix, TextWidth: width}
	return string(printer.Text(p.Parse(text)))
}

// details writes everything about a node except its first line.
func (h *helpWriter) details(n *Node) {
	if n.Detail != "" {
		h.line("")
		h.paragraph(n.Detail)
	}
	if len(n.Args) > 0 {
		h.line("", "Arguments:")
		h.indented(func() {
			rows := make([][2]string, 0, len(n.Args))
			for _, a := range n.Args {
				rows = append(rows, [2]string{a.summary(), a.helpLine()})
			}
			h.columns(rows)
		})
	}
	h.flags(n.flagsByLevel(false))
	h.verbs(n.leaves())
}

// flags writes the flags, those without a heading first; within a heading a blank line separates the levels.
func (h *helpWriter) flags(levels [][]*Flag) {
	headings := []string{""}
	for _, f := range slices.Concat(levels...) {
		if !slices.Contains(headings, f.Group) {
			headings = append(headings, f.Group)
		}
	}
	for _, heading := range headings {
		var groups [][]*Flag
		for _, level := range levels {
			of := slices.DeleteFunc(slices.Clone(level), func(f *Flag) bool { return f.Group != heading })
			if len(of) > 0 {
				groups = append(groups, of)
			}
		}
		if len(groups) == 0 {
			continue
		}
		h.line("")
		h.paragraph(or(heading, "Flags:"))
		h.indented(func() { h.columns(flagRows(groups)) })
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func flagRows(groups [][]*Flag) [][2]string {
	short := slices.ContainsFunc(slices.Concat(groups...), func(f *Flag) bool { return f.Short != 0 })
	var rows [][2]string
	for i, group := range groups {
		if i > 0 {
			rows = append(rows, [2]string{})
		}
		for _, f := range group {
			left := "--" + f.Name
			if !f.IsBool() {
				left += "=" + f.placeHolder()
			}
			switch {
			case f.Short != 0:
				left = "-" + string(f.Short) + ", " + left
			case short:
				left = "    " + left
			}
			rows = append(rows, [2]string{left, f.helpLine()})
		}
	}
	return rows
}

// verbs writes one line for each verb, those without a heading first.
func (h *helpWriter) verbs(verbs []*Node) {
	headings := []string{""}
	for _, v := range verbs {
		if !slices.Contains(headings, v.group()) {
			headings = append(headings, v.group())
		}
	}
	for _, heading := range headings {
		var rows [][2]string
		for _, v := range verbs {
			if v.group() == heading {
				rows = append(rows, [2]string{v.path(), v.Help})
			}
		}
		if len(rows) == 0 {
			continue
		}
		h.line("")
		h.paragraph(or(heading, "Commands:"))
		h.indented(func() { h.columns(rows) })
	}
}

// columns writes rows of two texts, the second wrapped. A first text that is too long has a line of its own.
func (h *helpWriter) columns(rows [][2]string) {
	const gap = "    "
	widest, left := max(30, 375*h.width/1000), 0
	for _, row := range rows {
		if n := len(row[0]); n < widest {
			left = max(left, n)
		}
	}
	margin := strings.Repeat(" ", left) + gap
	for _, row := range rows {
		lines := strings.Split(strings.TrimRight(wrap(row[1], "  ", h.width-len(margin)), "\n"), "\n")
		if len(row[0]) < widest {
			h.line(fmt.Sprintf("%-*s", left, row[0]) + gap + lines[0])
			lines = lines[1:]
		} else {
			h.line(row[0])
		}
		for _, l := range lines {
			h.line(margin + l)
		}
	}
}
