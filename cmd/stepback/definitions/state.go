package definitions

import (
	"fmt"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/internal/spelling"
	"stepback/jsonvalue"
)

// CheckState reports an error unless d is a single state and name is empty, or d is a state machine with a state of
// this name, at any depth. option names the flag or the option for the name, in messages.
func (d *File) CheckState(name, option string) error {
	root, err := jsonvalue.Parse(d.Text)
	if err != nil {
		return nil //nolint:nilerr // the test says what is wrong with the definition
	}
	states, whole := root.Get("States")
	if m, _ := asl.Parse(d.Text); name != "" && m != nil {
		var names []string
		VisitStates(&m.Graph, func(s *asl.State) { names = append(names, s.Name) })
		switch near := spelling.Nearest(name, names); {
		case slices.Contains(names, name):
		case near != "":
			return fmt.Errorf("%s has no state %s; did you mean %s?", d.Path, name, near)
		default:
			return fmt.Errorf("%s has no state %s: name the one to test with %s%s", d.Path, name, option, oneOf(names))
		}
	}
	if _, single := root.Get("Type"); name != "" || !whole || single {
		return nil
	}
	return fmt.Errorf("%s is a state machine: name the state to test with %s%s", d.Path, option, oneOf(states.Keys()))
}

// oneOf lists some of the states to choose from, including those nested in Map and Parallel states.
func oneOf(states []string) string {
	const shown = 20
	switch {
	case len(states) == 0:
		return ""
	case len(states) > shown:
		return fmt.Sprintf(", such as %s (%d states)", strings.Join(states[:shown], ", "), len(states))
	default:
		return ", one of " + strings.Join(states, ", ")
	}
}
