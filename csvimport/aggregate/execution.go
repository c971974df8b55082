package aggregate

// ExecutionName is the name of the execution that is accounted for.
func (in Input) ExecutionName() string { return in.Execution }
