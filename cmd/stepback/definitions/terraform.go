package definitions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stepback/cmd/stepback/terminal"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

const ofTerraform = "aws_sfn_state_machine"

// terraform finds the state machines in a configuration in Terraform's JSON syntax.
func (f *finder) terraform(root *node) {
	all := root.member("resource", ofTerraform)
	if !all.is(jsonvalue.Object) {
		return
	}
	for i, name := range all.names {
		body := all.items[i]
		if body.is(jsonvalue.Array) && len(body.items) > 0 {
			body = body.items[0]
		}
		f.resource(name, body)
	}
}

// plan finds the state machines in a plan or state, as printed by terraform show -json.
func (f *finder) plan(root *node) error {
	for _, of := range []string{"planned_values", "values"} {
		if err := f.module(root.member(of, "root_module"), 0); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) module(module *node, depth int) error {
	if depth > deepest {
		return errors.New("its modules are nested too deep")
	}
	if resources := module.member("resources"); resources != nil {
		for _, r := range resources.items {
			if r.member("type").str() == ofTerraform {
				f.resource(r.member("name").str(), r.member("values"))
			}
		}
	}
	if children := module.member("child_modules"); children != nil {
		for _, child := range children.items {
			if err := f.module(child, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *finder) resource(name string, body *node) {
	x := Found{Name: name, Express: body.member("type").str() == "EXPRESS"}
	definition := body.member("definition")
	if definition.str() == "" {
		x.Missing = "its definition is unknown until the plan is applied; give its file to the command"
	} else {
		f.inline(&x, definition, asString)
	}
	f.found = append(f.found, x)
}

// inHCL finds the state machines of a file in Terraform's own language, and fileInHCL the file that such a state
// machine takes its definition from.
var (
	inHCL     = lazyregexp.New(`(?m)^[ \t]*resource[ \t]+"aws_sfn_state_machine"[ \t]+"([^"]+)"`)
	fileInHCL = lazyregexp.New(`(?m)^[ \t]*definition[ \t]*=[ \t]*(?:templatefile|file)\([ \t\n]*"(?:\$\{path\.(?:module|root)\}/)?([^"$]+)"`)
)

// inTerraform returns the definition files that the state machines of a file in Terraform's own language name, and the
// reason for which its other state machines are not read; "" if there are none.
func inTerraform(path string, std terminal.Streams) (files []string, unread string) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, ""
	}
	text, err := ReadText(path, std)
	if err != nil {
		return nil, ""
	}
	found := inHCL.FindAllSubmatchIndex(text, -1)
	var machines []string
	for i, m := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		if named := fileInHCL.FindSubmatch(text[m[1]:end]); named != nil {
			if file := filepath.Join(filepath.Dir(path), string(named[1])); terminal.Exists(file) {
				files = append(files, file)
				continue
			}
		}
		machines = append(machines, string(text[m[2]:m[3]]))
	}
	if len(machines) == 0 {
		return files, ""
	}
	return files, fmt.Sprintf("%s (%s): %s", terminal.Counted(int64(len(machines)), "state machine"),
		strings.Join(machines, ", "), terraformAdvice)
}

// terraformAdvice says how to read the state machines of a file in Terraform's own language.
const terraformAdvice = "Terraform's own language is not supported; give the definition's file, or a plan: " +
	"terraform plan -out plan && terraform show -json plan > plan.json"

// isTerraform reports whether a file is in Terraform's own language.
func isTerraform(path string) bool { return filepath.Ext(path) == ".tf" }
