package engine

import (
	"strings"

	"stepback/aws"
)

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

// executionARN names an execution of a machine; machine ARNs of a distributed Map's children are labelled
// (machine/label).
func executionARN(machineARN, name string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":execution:", 1) + ":" + name
}

// expressARN names an EXPRESS execution, whose name alone does not identify it.
func expressARN(machineARN, name, id string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":express:", 1) + ":" + name + ":" + id
}
