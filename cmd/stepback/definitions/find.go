package definitions

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stepback/asl/document"
	"stepback/asl/source"
	"stepback/jsonvalue"
)

// Found is a state machine declared in a text.
type Found struct {
	// Name is the logical name of the resource in the text.
	Name string
	// Text is the definition as JSON, with placeholders; empty if it is in a separate file.
	Text string
	// File is the definition's file, relative to the text's directory; empty if the definition is in the text.
	File string
	// Values are the literal values of placeholders in the text (DefinitionSubstitutions).
	Values  map[string]string
	Express bool
	// Missing gives the reason if neither Text nor File is set: the definition is in S3, or only known after
	// deployment. It is a phrase that follows the name in messages.
	Missing string
	// Refused gives the reason for which the deployment would refuse the resource, whatever its definition is; empty if
	// there is none.
	Refused string

	at   source.Span // of the reason in Refused
	part *document.Part
	s3   string // the file's name in S3, beside which cdk.out has it
}

// maxSize is the most bytes of a text: CloudFormation accepts one megabyte, Terraform plans are longer.
const maxSize = 64 << 20

// ErrNone is returned if a text declares no state machine.
var ErrNone = errors.New("it declares no state machine")

// marks are texts of which every template with a state machine has one.
var marks = []string{"AWS::StepFunctions::StateMachine", "AWS::Serverless::StateMachine", ofTerraform, "stateMachines:",
	`"stateMachines"`}

// Looks reports whether a text may be of a kind that this package reads, such as a template, and not a definition
// itself. It is fast, and may be wrong for texts that are neither.
func Looks(text string) bool {
	if strings.Contains(text, "StartAt") && !strings.Contains(text, "Resources") && !strings.Contains(text, "stateMachines") &&
		!strings.Contains(text, ofTerraform) {
		return false
	}
	for _, mark := range marks {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// namesMachine reports whether a text names a type of state machine, so that it is a template even if it cannot be
// parsed.
func namesMachine(text string) bool {
	return strings.Contains(text, marks[0]) || strings.Contains(text, marks[1]) || strings.Contains(text, marks[2])
}

// In returns the state machines that a text declares, in order. It returns ErrNone if there are none, and otherwise
// an error if the text is invalid. If a definition cannot be read from the text, Missing says why.
func In(text string) ([]Found, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("it is longer than %d bytes", maxSize)
	}
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	f := finder{text: text, root: root}
	f.cloudFormation(root)
	f.terraform(root)
	if err := f.plan(root); err != nil {
		return nil, err
	}
	f.serverless(root)
	if len(f.found) == 0 {
		return nil, ErrNone
	}
	for i := range f.found {
		if x := &f.found[i]; x.part != nil {
			x.Text = x.part.Text()
		}
	}
	return f.found, nil
}

// finder collects the state machines of a text.
type finder struct {
	text  string
	root  *node
	found []Found
}

// inline sets the definition to a node of the text. It returns false if the node is not known before the deployment.
func (f *finder) inline(x *Found, n *node, write func(writer, *node) bool) bool {
	w := writer{document.NewPart(f.text)}
	if !write(w, n) {
		return false
	}
	x.part = w.Part
	function, argument := n.function()
	if function == "Fn::ToJsonString" {
		n, function = argument, ""
	}
	if n.is(jsonvalue.Object) && function == "" {
		if at, found := f.root.pathTo(n); found {
			x.part.SetObject(at, !json.Valid([]byte(f.text)))
		}
	}
	return true
}

// asObject writes a definition that is an object of the template.
func asObject(w writer, n *node) bool {
	w.json(n)
	return true
}

// asString writes a definition that is a string of the template.
func asString(w writer, n *node) bool { return w.string(n) }

// short returns the start of a text, for a message.
func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
