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

// addPrune declares the function that deletes versions of the state machine and of its functions that nothing uses. The
// stack retains the versions that it replaces.
func (s *Stack) addPrune(bootstraps string) {
	if !s.hasPrune() {
		return
	}
	var names []string
	var functions, versions []*string
	for _, f := range []awslambda.Function{s.Validate, s.Process, s.Aggregate} {
		names = append(names, *f.FunctionName())
		functions = append(functions, f.FunctionArn())
		versions = append(versions, jsii.String(*f.FunctionArn()+":*"))
	}
	name := s.Environment.Prefix()
	f := s.function(bootstraps, function{
		id: "Prune", name: pruneFunction, description: "Deletes versions of the state machine and of its functions that nothing uses",
		memory: environment.PruneMemory, timeout: 5 * time.Minute,
		environment: map[string]*string{
			"STATE_MACHINE_ARN": s.StateMachine.StateMachineArn(), "FUNCTION_NAMES": jsii.String(strings.Join(names, ",")),
		},
		access: []awsiam.PolicyStatement{
			allow([]string{"states:DescribeStateMachine", "states:ListExecutions", "states:ListStateMachineVersions",
				"states:DeleteStateMachineVersion"}, s.StateMachine.StateMachineArn()),
			allow([]string{"states:DescribeStateMachineForExecution"}, s.states("execution", name+":*")),
			allow([]string{"lambda:ListVersionsByFunction"}, functions...),
			// A qualified ARN does not allow the deletion of the function itself.
			allow([]string{"lambda:DeleteFunction"}, versions...),
		},
	})
	s.invokeEvery(f, "PruneSchedule", "prune", "Invokes the function that deletes old versions")
}

// hasPrune reports whether the platform has versions.
func (s *Stack) hasPrune() bool { return !s.apart }
