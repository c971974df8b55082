package mapitems

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/outbox/deadletters"
)

// processor is the state machine that runs items of a Map on their own.
type processor struct {
	arn, name, definition string
	role                  *string
}

// processorOf returns the state machine that runs a child execution's items on their own. Its definition is the
// Map's ItemProcessor, and its name depends on the definition.
func (s *Items) processorOf(ctx context.Context, child string) (processor, error) {
	m, err := s.Client.DescribeStateMachineForExecution(ctx,
		&sfn.DescribeStateMachineForExecutionInput{ExecutionArn: &child})
	if _, missing := errors.AsType[*types.ExecutionDoesNotExist](err); missing {
		return processor{}, deadletters.ErrNotFound
	}
	if err != nil {
		return processor{}, err
	}
	definition, err := itemProcessor(aws.ToString(m.Definition), aws.ToString(m.Label))
	if err != nil {
		return processor{}, err
	}
	prefix, resource, _ := strings.Cut(child, ":execution:")
	path, _, _ := strings.Cut(resource, ":")
	sum := sha256.Sum256([]byte(definition))
	const longest = 60
	name := strings.ReplaceAll(path, "/", "-")
	name = name[:min(len(name), longest)] + "-items-" + hex.EncodeToString(sum[:6])
	return processor{prefix + ":stateMachine:" + name, name, definition, m.RoleArn}, nil
}

// machine creates the state machine that runs a child execution's items on their own, unless it exists.
func (s *Items) machine(ctx context.Context, child string) (arn string, err error) {
	p, err := s.processorOf(ctx, child)
	if err != nil {
		return "", err
	}
	_, err = s.Client.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{Name: &p.name, Definition: &p.definition,
		RoleArn: p.role, Type: types.StateMachineTypeStandard})
	if _, exists := errors.AsType[*types.StateMachineAlreadyExists](err); exists {
		err = nil
	}
	return p.arn, err
}

// existing returns the ARN of the state machine that machine creates. ok is false if its ItemProcessor can no
// longer be determined.
func (s *Items) existing(ctx context.Context, child string) (arn string, ok bool, err error) {
	p, err := s.processorOf(ctx, child)
	if errors.Is(err, deadletters.ErrNotFound) {
		return "", false, nil
	}
	return p.arn, err == nil, err
}

// itemProcessor returns the ItemProcessor of the Map with a label, as a separate state machine. If the definition has
// no such Map, it already is the children's definition.
func itemProcessor(definition, label string) (string, error) {
	var machine map[string]any
	decoder := json.NewDecoder(strings.NewReader(definition))
	decoder.UseNumber()
	if err := decoder.Decode(&machine); err != nil {
		return "", err
	}
	var maps []map[string]any
	found := distributed(machine, label, &maps)
	if found == nil && len(maps) == 1 {
		found = maps[0]
	}
	if found == nil {
		return definition, nil
	}
	delete(found, "ProcessorConfig")
	if language, ok := machine["QueryLanguage"]; ok && found["QueryLanguage"] == nil {
		found["QueryLanguage"] = language
	}
	text, err := json.Marshal(found)
	return string(text), err
}

// distributed returns the ItemProcessor of the distributed Map with a label; a Map without a Label is labelled with
// its name. It appends the ItemProcessors of all distributed Maps to all.
func distributed(machine map[string]any, label string, all *[]map[string]any) map[string]any {
	states, _ := machine["States"].(map[string]any)
	var found map[string]any
	for name, v := range states {
		state, _ := v.(map[string]any)
		if own, ok := state["ItemProcessor"].(map[string]any); ok {
			config, _ := own["ProcessorConfig"].(map[string]any)
			if config["Mode"] == "DISTRIBUTED" {
				*all = append(*all, own)
				if state["Label"] == label || state["Label"] == nil && name == label {
					found = own
				}
			} else if f := distributed(own, label, all); f != nil {
				found = f
			}
		}
		branches, _ := state["Branches"].([]any)
		for _, b := range branches {
			branch, _ := b.(map[string]any)
			if f := distributed(branch, label, all); f != nil {
				found = f
			}
		}
	}
	return found
}
