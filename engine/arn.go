package engine

import "stepback/aws"

// names builds the ARNs of one account and region.
type names struct{ aws.Scope }

func (n names) machine(name string) string {
	return n.ARN("states", "stateMachine:"+name)
}

// executions returns the prefix of the ARNs of all STANDARD executions.
func (n names) executions() string {
	return n.ARN("states", "execution:")
}

// activities returns the prefix of the ARNs of all activities.
func (n names) activities() string {
	return n.ARN("states", "activity:")
}
