package journal

import (
	"context"
	"strings"
)

// maxNesting bounds how many Map Runs are inside of each other.
const maxNesting = 64

// DefinitionOf returns what an execution runs. A child execution runs a part of the definition that is returned, that
// of the execution to which its Map Run belongs. The error is ErrNotFound, or one of the journal.
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

// MachineName is the name of an execution's state machine. That of a Map Run's child execution has a label behind it.
func (x *Execution) MachineName() string {
	return x.MachineARN[strings.LastIndexByte(x.MachineARN, ':')+1:]
}
