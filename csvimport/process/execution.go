package process

import "strings"

// ExecutionName is the name of the execution that the row belongs to: Run begins with it.
func (in Input) ExecutionName() string {
	name, _, _ := strings.Cut(in.Run, " ")
	return name
}
