package lsp

import (
	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"
	"go.yaml.in/yaml/v3"

	"stepback/stepbacktest/machinetest"
)

// runTest is the command of the lenses. The editor implements it: it runs stepback test with the file and the name of
// the test, or with the file alone.
const runTest = "stepback.runTest"

// lenses returns a command above each test of a test file, and one for all of them.
func (s *server) lenses(_ *glsp.Context, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	found := []protocol.CodeLens{}
	if !machinetest.IsTestFile(d.path) || len(d.text) > maxText {
		return found, nil
	}
	var file struct {
		Tests yaml.Node `yaml:"tests"`
	}
	if err := yaml.Unmarshal([]byte(d.text), &file); err != nil {
		return found, nil //nolint:nilerr // the file is being written
	}
	add := func(line int, title string, arguments ...any) {
		at := protocol.Position{Line: protocol.UInteger(max(0, line-1))}
		found = append(found, protocol.CodeLens{Range: protocol.Range{Start: at, End: at},
			Command: &protocol.Command{Title: title, Command: runTest, Arguments: arguments}})
	}
	for _, test := range file.Tests.Content {
		for i := 0; i+1 < len(test.Content); i += 2 {
			if key := test.Content[i]; key.Value == "name" && test.Kind == yaml.MappingNode {
				add(test.Line, "Run test", d.path, test.Content[i+1].Value)
			}
		}
	}
	if len(found) > 0 {
		add(file.Tests.Line-1, "Run all tests", d.path)
	}
	return found, nil
}
