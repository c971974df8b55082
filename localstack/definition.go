// Package localstack rewrites a state machine's definition for LocalStack, whose parser (community image 4.14.0)
// supports less of the Amazon States Language than AWS.
//
// It changes only parts that LocalStack would refuse and that do not affect any result. If a result would be
// affected, it fails and says what to do.
package localstack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Definition returns the definition in a form that LocalStack accepts:
//
//   - a whole ToleratedFailurePercentage is written with a decimal point;
//   - children of a distributed Map are STANDARD executions;
//   - CSVDelimiter COMMA, which is the default, is left out.
//
// An ItemBatcher (build the definition in the shape single) and any other CSVDelimiter are errors that name the
// state. Members are sorted by name.
func Definition(definition []byte) ([]byte, error) {
	var machine map[string]any
	decoder := json.NewDecoder(bytes.NewReader(definition))
	decoder.UseNumber()
	if err := decoder.Decode(&machine); err != nil {
		return nil, fmt.Errorf("the definition is not a JSON object: %w", err)
	}
	if err := rewriteStates(machine); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(machine); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// rewriteStates rewrites the states of a machine, an ItemProcessor or a branch.
func rewriteStates(machine map[string]any) error {
	states, _ := machine["States"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(states)) {
		state, _ := states[name].(map[string]any)
		if err := rewriteMap(state); err != nil {
			return fmt.Errorf("state %s: %w", name, err)
		}
		inner := []any{state["ItemProcessor"], state["Iterator"]}
		branches, _ := state["Branches"].([]any)
		for _, i := range append(inner, branches...) {
			m, ok := i.(map[string]any)
			if !ok {
				continue
			}
			if err := rewriteStates(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewriteMap rewrites the fields that only Map states have.
func rewriteMap(state map[string]any) error {
	if _, ok := state["ItemBatcher"]; ok {
		return errors.New("LocalStack has no ItemBatcher; build the definition in the shape single")
	}
	if n, ok := state["ToleratedFailurePercentage"].(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
		state["ToleratedFailurePercentage"] = n + ".0"
	}
	if config := member(state, "ItemProcessor", "ProcessorConfig"); config["Mode"] == "DISTRIBUTED" {
		config["ExecutionType"] = "STANDARD"
	}
	reader := member(state, "ItemReader", "ReaderConfig")
	switch delimiter := reader["CSVDelimiter"]; delimiter {
	case nil:
	case "COMMA":
		delete(reader, "CSVDelimiter")
	default:
		return fmt.Errorf("LocalStack reads CSV files with commas only, not %v; convert the file first", delimiter)
	}
	return nil
}

// member returns the object at a path of names. If there is none, it returns nil, which is safe to read from.
func member(object map[string]any, path ...string) map[string]any {
	for _, name := range path {
		object, _ = object[name].(map[string]any)
	}
	return object
}
