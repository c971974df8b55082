package csvimportstack

import (
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/jsii-runtime-go"

	"stepback/cdk/environment"
)

// pruneFunction names both the function that deletes old versions and the folder of its bootstrap.
const pruneFunction = "prune"

// addPrune declares the function that deletes versions of the state machines and of their functions that nothing uses.
// The stack retains the versions that it replaces.
func (s *Stack) addPrune(bootstraps string) {
	if !s.hasPrune() {
		return
	}
	var names []string
	var functions, versions []*string
	for _, f := range []awslambda.Function{s.Validate, s.Process, s.Aggregate, s.Files} {
		names = append(names, *f.FunctionName())
		functions = append(functions, f.FunctionArn())
		versions = append(versions, jsii.String(*f.FunctionArn()+":*"))
	}
	var machines, executions []*string
	var machineARNs []string
	for _, m := range []struct {
		arn  *string
		name string
	}{{s.StateMachine.StateMachineArn(), s.Environment.Prefix()}, {s.FilesStateMachine.StateMachineArn(), *s.name(filesFunction)}} {
		machines = append(machines, m.arn)
		machineARNs = append(machineARNs, *m.arn)
		executions = append(executions, s.states("execution", m.name+":*"))
	}
	f := s.function(bootstraps, function{
		id: "Prune", name: pruneFunction, description: "Deletes versions of the state machines and of their functions that nothing uses",
		memory: environment.PruneMemory, timeout: 5 * time.Minute,
		environment: map[string]*string{
			"STATE_MACHINE_ARNS": jsii.String(strings.Join(machineARNs, ",")),
			"FUNCTION_NAMES":     jsii.String(strings.Join(names, ",")),
		},
		access: []awsiam.PolicyStatement{
			allow([]string{"states:DescribeStateMachine", "states:ListExecutions", "states:ListStateMachineVersions",
				"states:DeleteStateMachineVersion"}, machines...),
			allow([]string{"states:DescribeStateMachineForExecution"}, executions...),
			allow([]string{"lambda:ListVersionsByFunction"}, functions...),
			// A qualified ARN does not allow the deletion of the function itself.
			allow([]string{"lambda:DeleteFunction"}, versions...),
		},
	})
	s.invokeEvery(f, "PruneSchedule", "prune", "Invokes the function that deletes old versions")
}

// hasPrune reports whether the platform has versions.
func (s *Stack) hasPrune() bool { return !s.apart }
