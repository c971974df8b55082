package process

import "strings"

// ExecutionName returns the name of the execution that the row belongs to; it is the first part of Run.
func (in Input) ExecutionName() string {
	name, _, _ := strings.Cut(in.Run, " ")
	return name
}
