// Command prune is the Lambda function that a schedule invokes once a day to delete old versions of the state machine
// and of the functions that it calls, if nothing uses them. Its response lists what it has deleted.
//
// Environment: STATE_MACHINE_ARN; FUNCTION_NAMES, the names of the functions, separated by commas.
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

// answer lists the deleted versions: ARNs of the state machine's, and NAME:VERSION of the functions'.
type answer struct {
	StateMachine []string `json:"stateMachine"`
	Functions    []string `json:"functions"`
}

func main() {
	log := handlers.Log()
	cfg, err := config.LoadDefaultConfig(context.Background())
	machine, names := os.Getenv("STATE_MACHINE_ARN"), strings.Split(os.Getenv("FUNCTION_NAMES"), ",")
	if err == nil && (machine == "" || names[0] == "") {
		err = errors.New("STATE_MACHINE_ARN or FUNCTION_NAMES is not set; set both")
	}
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	states, functions := sfn.NewFromConfig(cfg), lambda.NewFromConfig(cfg)
	runtime.Start(func(ctx context.Context) (answer, error) {
		var a answer
		var err, failure error
		a.StateMachine, err = versions.PruneStateMachine(ctx, states, machine)
		a.Functions, failure = pruneFunctions(ctx, states, functions, machine, names, time.Now())
		log.InfoContext(ctx, "deleted", "stateMachine", a.StateMachine, "functions", a.Functions)
		return a, errors.Join(err, failure)
	})
}
