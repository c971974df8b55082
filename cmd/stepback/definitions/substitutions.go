package definitions

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/internal/spelling"
)

// Substitutions holds the flags that set the placeholders of definitions.
type Substitutions struct {
	Substitute []string `sep:"none" placeholder:"NAME=VALUE|@FILE" help:"Value of the placeholder $${NAME} in definitions, as DefinitionSubstitutions of CloudFormation (repeatable), or a file with an object of them. Without a value, a placeholder in Resource stands for the Lambda function of its name."`
}

// Values returns the values by name; later flags win.
func (s Substitutions) Values() (map[string]string, error) {
	values := map[string]string{}
	for _, flag := range s.Substitute {
		if path, isFile := strings.CutPrefix(flag, "@"); isFile {
			read, err := substitutionsFile(path)
			if err != nil {
				return nil, fmt.Errorf("--substitute: %w", err)
			}
			maps.Copy(values, read)
			continue
		}
		name, value, ok := strings.Cut(flag, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--substitute %s: give NAME=VALUE, or @FILE", flag)
		}
		values[name] = value
	}
	return values, nil
}

// Read reads a definition with the values, as the function Read does, and refuses flags that name none of its
// placeholders. The errors have the exit status of wrong usage.
func (s Substitutions) Read(file string, std terminal.Streams) (File, error) {
	values, err := s.Values()
	if err != nil {
		return File{}, exit.With(exit.Usage, err)
	}
	d, err := Read("", file, values, std)
	if err == nil {
		err = s.Unknown(d)
	}
	if err != nil {
		return d, exit.With(exit.Usage, err)
	}
	return d, nil
}

// Unknown returns an error if a flag names a placeholder that none of the definitions has, and nil otherwise. A file
// of values may name more placeholders than the definitions have.
func (s Substitutions) Unknown(read ...File) error {
	var known []string
	for _, d := range read {
		if d.Document != nil {
			known = append(known, d.Document.Placeholders()...)
		}
	}
	for _, flag := range s.Substitute {
		name, _, _ := strings.Cut(flag, "=")
		if strings.HasPrefix(flag, "@") || slices.Contains(known, name) {
			continue
		}
		switch near := spelling.Nearest(name, known); {
		case near != "":
			return fmt.Errorf("--substitute %s: there is no placeholder ${%s}; did you mean ${%s}?", flag, name, near)
		case len(known) == 0:
			return fmt.Errorf("--substitute %s: there are no placeholders", flag)
		default:
			return fmt.Errorf("--substitute %s: there is no placeholder ${%s}; there is %s", flag, name,
				Placeholders(known))
		}
	}
	return nil
}

// substitutionsFile reads a JSON object of values: strings are taken as they are, everything else as JSON text.
func substitutionsFile(path string) (map[string]string, error) {
	text, err := terminal.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, fmt.Errorf("%s is not a JSON object: %w", path, err)
	}
	values := make(map[string]string, len(members))
	for name, raw := range members {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		values[name] = text
	}
	return values, nil
}

// Placeholders lists the first few placeholders for a message.
func Placeholders(names []string) string {
	const shown = 5
	listed := make([]string, 0, shown)
	for _, name := range names[:min(shown, len(names))] {
		listed = append(listed, "${"+name+"}")
	}
	text := strings.Join(listed, ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
