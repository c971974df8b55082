package definitions

import (
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// serverless finds the state machines of a serverless.yml.
func serverless(root jsonvalue.Value) ([]Found, error) {
	var found []Found
	all := member(root, "stepFunctions", "stateMachines")
	for i, name := range all.Keys() {
		body := all.At(i)
		f := Found{Name: name, Express: member(body, "type").Text() == "EXPRESS"}
		switch definition := member(body, "definition"); definition.Kind() {
		case jsonvalue.Object:
			f.Text = resolved(definition).JSON()
		case jsonvalue.String:
			inside, ok := strings.CutPrefix(definition.Text(), "${file(")
			file, _, closed := strings.Cut(inside, ")")
			if !ok || !closed {
				return nil, fmt.Errorf("the definition of %s is %q; an object or ${file(NAME)} can be read", name,
					definition.Text())
			}
			f.File = file
		default:
			return nil, fmt.Errorf("the state machine %s has no definition", name)
		}
		found = append(found, f)
	}
	return found, nil
}
