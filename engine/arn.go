package engine

import "stepback/aws"

// names builds the ARNs of one account and region.
type names struct{ aws.Scope }

func (n names) machine(name string) string {
	return n.ARN("states", "stateMachine:"+name)
}

// executions is what the ARNs of all STANDARD executions begin with.
func (n names) executions() string {
	return n.ARN("states", "execution:")
}

// activities is what the ARNs of all activities begin with.
func (n names) activities() string {
	return n.ARN("states", "activity:")
}
