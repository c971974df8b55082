package definitions

import (
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// serverless finds the state machines in a serverless.yml.
func serverless(root jsonvalue.Value) ([]Found, error) {
	all := member(root, "stepFunctions", "stateMachines")
	found := make([]Found, 0, all.Len())
	for i, name := range all.Keys() {
		body := all.At(i)
		f := Found{Name: name, Express: member(body, "type").Text() == "EXPRESS"}
		switch definition := member(body, "definition"); definition.Kind() {
		case jsonvalue.Object:
			f.Text = resolved(definition).JSON()
		case jsonvalue.String:
			inside, ok := strings.CutPrefix(strings.TrimSpace(definition.Text()), "${file(")
			file, rest, closed := strings.Cut(inside, ")")
			switch {
			case ok && closed && rest == "}":
				f.File = file
			case strings.HasPrefix(strings.TrimSpace(definition.Text()), "{"):
				f.Text = definition.Text()
			default:
				f.Missing = fmt.Sprintf("its definition is %q; only an object or ${file(NAME)} is supported", short(definition.Text()))
			}
		default:
			f.Missing = "it has no definition"
		}
		found = append(found, f)
	}
	return found, nil
}
