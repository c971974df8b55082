// Package source finds positions in the text of a JSON document: the line and column of a member given by its path,
// and the surrounding lines to show to users. It is used after a problem has been found; it never validates a
// document and keeps no values.
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

// Member returns the step to an object's member.
func Member(name string) Step { return Step{Name: name} }

// Element returns the step to an array's element, counted from 0.
func Element(index int) Step { return Step{Index: index, Element: true} }

// Path is the list of steps from the root of a document to one of its values.
type Path []Step

// String formats the path like Step Functions' locations: /States/Pay/Retry[0]/ErrorEquals, and / for the root. Names
// are not escaped, so the text is for users and for comparison with the service; it cannot be parsed back.
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

// Join returns a new path with the steps appended; p is unchanged.
func (p Path) Join(steps ...Step) Path {
	joined := make(Path, 0, len(p)+len(steps))
	return append(append(joined, p...), steps...)
}
