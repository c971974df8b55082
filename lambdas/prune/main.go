// Command prune is the Lambda function that a schedule invokes once a day to delete old versions of state machines and
// of the functions that they call, if nothing uses them. Its response lists what it has deleted.
//
// Environment: STATE_MACHINE_ARNS, the ARNs of the state machines, and FUNCTION_NAMES, the names of the functions, both
// separated by commas.
package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	runtime "github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/adaptive/versions"
	"stepback/csvimport/handlers"
)

// answer lists the deleted versions: ARNs of the state machines', and NAME:VERSION of the functions'.
type answer struct {
	StateMachines []string `json:"stateMachines"`
	Functions     []string `json:"functions"`
}

func main() {
	log := handlers.Log()
	cfg, err := config.LoadDefaultConfig(context.Background())
	machines, names := strings.Split(os.Getenv("STATE_MACHINE_ARNS"), ","), strings.Split(os.Getenv("FUNCTION_NAMES"), ",")
	if err == nil && (machines[0] == "" || names[0] == "") {
		err = errors.New("STATE_MACHINE_ARNS or FUNCTION_NAMES is not set; set both")
	}
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	states, functions := sfn.NewFromConfig(cfg), lambda.NewFromConfig(cfg)
	runtime.Start(func(ctx context.Context) (answer, error) {
		a, err := prune(ctx, states, functions, machines, names, time.Now())
		log.InfoContext(ctx, "deleted", "stateMachines", a.StateMachines, "functions", a.Functions)
		return a, err
	})
}

// prune deletes the versions of the state machines that nothing uses, then those of the functions. If versions of one
// state machine cannot be deleted, it continues with the others.
func prune(ctx context.Context, states executions, client functions, machines, names []string, now time.Time) (answer, error) {
	var a answer
	var failures []error
	for _, machine := range machines {
		deleted, err := versions.PruneStateMachine(ctx, states, machine)
		a.StateMachines = append(a.StateMachines, deleted...)
		failures = append(failures, err)
	}
	var err error
	a.Functions, err = pruneFunctions(ctx, states, client, machines, names, now)
	return a, errors.Join(append(failures, err)...)
}
