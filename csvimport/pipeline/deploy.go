package pipeline

import (
	"context"
	"errors"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/aws/loopback"
	"stepback/local"
	"stepback/statemachine"
)

// machine is the state machine of the import.
type machine struct{ arn, definition string }

// executionARN returns the ARN of the execution with this name.
func (m machine) executionARN(name string) string {
	return "arn:aws:states:" + region + ":" + account + ":execution:" + machineName + ":" + name
}

// logGroup is the log group for errors of the import's executions.
const logGroup = "/aws/vendedlogs/states/" + machineName

// connect sets up the clients of a platform.
func (p *Pipeline) connect(platform *local.Platform) {
	p.platform, p.journal, p.clock = platform, platform.Journal, platform.Clock
	p.client = platform.S3Client()
	p.machine.arn = "arn:aws:states:" + region + ":" + account + ":stateMachine:" + machineName
	p.states = sfn.New(sfn.Options{
		Region: region, BaseEndpoint: aws.String(loopback.URL), Retryer: aws.NopRetryer{},
		HTTPClient:  loopback.Client(platform.StepFunctions.Handler()),
		Credentials: credentials.NewStaticCredentialsProvider(account, "local", ""),
	})
}

// deploy creates or updates the buckets, topic, functions and state machine in the platform's services, where all
// clients see them.
func (p *Pipeline) deploy(ctx context.Context, platform *local.Platform) (err error) {
	p.connect(platform)
	if p.release, err = platform.Claim(ctx, machineName); err != nil {
		return err
	}
	var topic error
	var beside sync.WaitGroup
	//nolint:contextcheck // it waits for the disk only
	beside.Go(func() { // it opens its own store
		p.topic, topic = platform.Topics.CreateTopic(platform.Scope, topicName)
	})
	err = errors.Join(platform.Objects.CreateBucket(inputBucket), platform.Objects.CreateBucket(resultBucket))
	if err == nil {
		err = p.deployFunctions(ctx)
	}
	beside.Wait()
	if err = errors.Join(err, topic); err != nil {
		return err
	}
	if err := p.deployMachine(ctx); err != nil {
		return err
	}
	if p.engine, err = platform.Engine(); err != nil {
		return err
	}
	stop, release := platform.OnObjectCreated(inputBucket, p.objectCreated), p.release
	p.release = func() {
		stop()
		release()
	}
	p.relay(ctx, true) // sends what a killed process has left in the outbox
	return p.tidy(ctx)
}

func (p *Pipeline) definition() (string, error) {
	o := statemachine.DefaultOptions()
	o.ValidateFunction, o.ProcessFunction, o.AggregateFunction = validateFunction, processFunction, aggregateFunction
	o.ResultBucket, o.TopicARN = resultBucket, p.topic
	o.Shape = p.cfg.Shape
	o.Concurrency, o.BatchSize, o.BatchConcurrency = p.cfg.Concurrency, p.cfg.Batch, batchConcurrency
	o.RangeConcurrency = rangeConcurrency
	o.ToleratedFailurePercentage = *p.cfg.ToleratedFailurePercentage
	text, err := statemachine.Definition(statemachine.DefaultTable(), o)
	return string(text), err
}

// deployMachine creates or updates the state machine.
func (p *Pipeline) deployMachine(ctx context.Context) (err error) {
	if p.machine.definition, err = p.definition(); err != nil {
		return err
	}
	logging := &types.LoggingConfiguration{
		Level: types.LogLevelError,
		Destinations: []types.LogDestination{{CloudWatchLogsLogGroup: &types.CloudWatchLogsLogGroup{
			LogGroupArn: aws.String("arn:aws:logs:" + region + ":" + account + ":log-group:" + logGroup + ":*"),
		}}},
	}
	_, err = p.states.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String(machineName), Definition: &p.machine.definition, RoleArn: aws.String(role(machineName)),
		LoggingConfiguration: logging,
	})
	var exists *types.StateMachineAlreadyExists
	if errors.As(err, &exists) {
		_, err = p.states.UpdateStateMachine(ctx, &sfn.UpdateStateMachineInput{
			StateMachineArn: &p.machine.arn, Definition: &p.machine.definition, LoggingConfiguration: logging,
		})
	}
	return err
}
