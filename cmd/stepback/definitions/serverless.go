package definitions

import (
	"fmt"
	"strings"

	"stepback/jsonvalue"
)

// serverless finds the state machines in a serverless.yml.
func (f *finder) serverless(root *node) {
	all := root.member("stepFunctions", "stateMachines")
	if !all.is(jsonvalue.Object) {
		return
	}
	for i, name := range all.names {
		body := all.items[i]
		x := Found{Name: name, Express: body.member("type").str() == "EXPRESS", at: all.keys[i]}
		switch definition := body.member("definition"); {
		case definition.is(jsonvalue.Object):
			f.inline(&x, definition, asObject)
		case definition.is(jsonvalue.String):
			inside, ok := strings.CutPrefix(strings.TrimSpace(definition.text), "${file(")
			file, rest, closed := strings.Cut(inside, ")")
			switch {
			case ok && closed && rest == "}":
				x.File = file
			case strings.HasPrefix(strings.TrimSpace(definition.text), "{"):
				f.inline(&x, definition, asString)
			default:
				x.Missing = fmt.Sprintf("its definition is %q; only an object or ${file(NAME)} is supported", short(definition.text))
			}
		default:
			x.Missing = "it has no definition"
		}
		f.found = append(f.found, x)
	}
}
