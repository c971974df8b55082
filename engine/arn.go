package engine

import (
	"fmt"
	"strings"

	"stepback/aws/partition"
)

// names builds the ARNs of one account and region.
type names struct{ region, account string }

func (n names) prefix() string {
	return fmt.Sprintf("arn:%s:states:%s:%s:", partition.Of(n.region), n.region, n.account)
}

func (n names) machine(name string) string {
	return n.prefix() + "stateMachine:" + name
}

// executions is what the ARNs of all STANDARD executions begin with.
func (n names) executions() string {
	return n.prefix() + "execution:"
}

// activities is what the ARNs of all activities begin with.
func (n names) activities() string {
	return n.prefix() + "activity:"
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
