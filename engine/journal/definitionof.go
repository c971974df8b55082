package journal

import (
	"context"
	"strings"
)

// maxNesting is the deepest nesting of Map Runs.
const maxNesting = 64

// DefinitionOf returns the definition that an execution runs. For a child execution it returns the definition of the
// execution to which its Map Run belongs; the child runs a part of it. It fails with ErrNotFound or an error of the
// journal.
func DefinitionOf(ctx context.Context, j Journal, x *Execution) (*Definition, error) {
	for range maxNesting {
		if x.Definition != "" {
			return j.Definition(ctx, x.Definition)
		}
		if x.MapRunARN == "" {
			break
		}
		run, err := j.MapRun(ctx, x.MapRunARN)
		if err != nil {
			return nil, err
		}
		if x, err = j.Execution(ctx, run.Execution); err != nil {
			return nil, err
		}
	}
	return nil, ErrNotFound
}

// MachineName returns the name of an execution's state machine. For a Map Run's child execution, a label follows the
// name.
func (x *Execution) MachineName() string {
	return x.MachineARN[strings.LastIndexByte(x.MachineARN, ':')+1:]
}
