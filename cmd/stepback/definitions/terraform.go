package definitions

import (
	"errors"

	"stepback/jsonvalue"
)

const ofTerraform = "aws_sfn_state_machine"

// terraform finds the state machines in a configuration in Terraform's JSON syntax.
func terraform(root jsonvalue.Value) ([]Found, error) {
	all := member(root, "resource", ofTerraform)
	found := make([]Found, 0, all.Len())
	for i, name := range all.Keys() {
		body := all.At(i)
		if body.Kind() == jsonvalue.Array && body.Len() > 0 {
			body = body.At(0)
		}
		found = append(found, resource(name, body))
	}
	return found, nil
}

// plan finds the state machines in a plan or state, as printed by terraform show -json.
func plan(root jsonvalue.Value) ([]Found, error) {
	var found []Found
	for _, of := range []string{"planned_values", "values"} {
		module := member(root, of, "root_module")
		if err := inModule(module, &found, 0); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func inModule(module jsonvalue.Value, found *[]Found, depth int) error {
	for _, r := range member(module, "resources").Elements() {
		if member(r, "type").Text() != ofTerraform {
			continue
		}
		*found = append(*found, resource(member(r, "name").Text(), member(r, "values")))
	}
	if depth > deepest {
		return errors.New("its modules are nested too deep")
	}
	for _, child := range member(module, "child_modules").Elements() {
		if err := inModule(child, found, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func resource(name string, body jsonvalue.Value) Found {
	f := Found{Name: name, Express: member(body, "type").Text() == "EXPRESS"}
	definition := member(body, "definition")
	if definition.Kind() != jsonvalue.String || definition.Text() == "" {
		f.Missing = "its definition is unknown until the plan is applied; give its file to the command"
		return f
	}
	f.Text = definition.Text()
	return f
}
