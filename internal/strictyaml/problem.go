package strictyaml

import (
	"fmt"
	"strings"
)

// maxProblems is the maximum number of problems kept per file.
const maxProblems = 20

// Problem is an error in a file.
type Problem struct {
	// File is the name given to Read; Line and Column count from 1. A problem of the whole file has Line 0.
	File         string
	Line, Column int
	// Path names the member, such as "faults[2].for"; empty for the document itself.
	Path string
	// Message states what is wrong and what would be accepted.
	Message string
}

// Error reads like "brown-out.yaml:12:5: service.db.servers: 0 is too small; write 1 to 1000000".
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems holds all problems of a file, in the order of its text as far as they have a position.
type Problems []*Problem

// Error lists the problems, one per line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}
