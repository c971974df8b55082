package aggregate

// ExecutionName returns the name of the execution being aggregated.
func (in Input) ExecutionName() string { return in.Execution }
