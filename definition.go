package stepback

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stepback/asl"
	"stepback/asl/document"
	"stepback/engine"
)

// ReadDefinition reads a definition from a JSON or YAML file. values replace placeholders such as ${FunctionArn}, as
// the DefinitionSubstitutions of SAM and CloudFormation do on AWS. The error lists every mistake with its line and
// column.
func ReadDefinition(file string, values map[string]string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	d := document.Read(string(text), document.Options{YAML: isYAML(file, string(text)), Values: values})
	if len(d.Problems) == 0 && len(d.Open) > 0 {
		return "", fmt.Errorf("%s: no value for the placeholders %s", file, strings.Join(d.Open, ", "))
	}
	found := d.Diagnose(func(definition string) []asl.Diagnostic { return engine.Diagnose(definition, false) })
	if asl.HasErrors(found) {
		return "", fmt.Errorf("the definition is refused:\n%s", asl.Render(found, d.Text, file))
	}
	return d.JSON, nil
}

func isYAML(file, text string) bool {
	switch filepath.Ext(file) {
	case ".yaml", ".yml":
		return true
	case ".json":
		return false
	}
	return document.IsYAML(text)
}
