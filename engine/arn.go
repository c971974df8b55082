package engine

import (
	"fmt"
	"strings"
)

// names builds the ARNs of one account and region.
type names struct{ region, account string }

func (n names) machine(name string) string {
	return fmt.Sprintf("arn:aws:states:%s:%s:stateMachine:%s", n.region, n.account, name)
}

// executions is what the ARNs of all STANDARD executions begin with.
func (n names) executions() string {
	return fmt.Sprintf("arn:aws:states:%s:%s:execution:", n.region, n.account)
}

// activities is what the ARNs of all activities begin with.
func (n names) activities() string {
	return fmt.Sprintf("arn:aws:states:%s:%s:activity:", n.region, n.account)
}

// executionARN names an execution of a machine; machine ARNs of a distributed Map's children are labelled (machine/label).
func executionARN(machineARN, name string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":execution:", 1) + ":" + name
}

// expressARN names an EXPRESS execution, whose name alone does not identify it.
func expressARN(machineARN, name, id string) string {
	return strings.Replace(machineARN, ":stateMachine:", ":express:", 1) + ":" + name + ":" + id
}
