// Package source finds places in the text of a JSON document: the line and column of a member that a path names, and
// the lines around it for people to look at. It is used after a problem has been found; it never judges a document and
// keeps no values.
package source

import (
	"strconv"
	"strings"
)

// Step is one step into a JSON document: the name of an object's member, or the index of an array's element.
type Step struct {
	Name string
	// Index is the element's index from 0 when Element is true.
	Index   int
	Element bool
}

// Member is the step to an object's member.
func Member(name string) Step { return Step{Name: name} }

// Element is the step to an array's element, counted from 0.
func Element(index int) Step { return Step{Index: index, Element: true} }

// Path leads from the root of a document to one of its values.
type Path []Step

// String writes the path as Step Functions writes locations: /States/Pay/Retry[0]/ErrorEquals, and / for the root.
// Names are not escaped, so the text is for people and for comparison with the service, not for finding the way back.
func (p Path) String() string {
	if len(p) == 0 {
		return "/"
	}
	var b strings.Builder
	for _, s := range p {
		if s.Element {
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.Index))
			b.WriteByte(']')
			continue
		}
		b.WriteByte('/')
		b.WriteString(s.Name)
	}
	return b.String()
}

// Join returns a new path with more steps at its end; p stays as it is.
func (p Path) Join(steps ...Step) Path {
	joined := make(Path, 0, len(p)+len(steps))
	return append(append(joined, p...), steps...)
}
