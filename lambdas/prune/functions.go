package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/adaptive/versions"
)

// keptOfFunction is the number of newest versions of a function that are kept whether or not a definition names them: a
// deployment publishes functions before the definition that calls them.
const keptOfFunction = 5

// functionsAtOnce is the maximum number of versions of functions that one call deletes.
const functionsAtOnce = 100

// redrivable is the time for which a failed execution can be redriven after its end, and then calls the functions of
// its definition again.
const redrivable = 14 * 24 * time.Hour

// executions is the part of the Step Functions client that finds which functions executions call.
type executions interface {
	versions.StateMachines
	DescribeStateMachineForExecution(context.Context, *sfn.DescribeStateMachineForExecutionInput,
		...func(*sfn.Options)) (*sfn.DescribeStateMachineForExecutionOutput, error)
}

// functions is the part of the Lambda client that deletes versions of functions.
type functions interface {
	ListVersionsByFunction(context.Context, *lambda.ListVersionsByFunctionInput,
		...func(*lambda.Options)) (*lambda.ListVersionsByFunctionOutput, error)
	DeleteFunction(context.Context, *lambda.DeleteFunctionInput,
		...func(*lambda.Options)) (*lambda.DeleteFunctionOutput, error)
}

// pruneFunctions deletes the versions of the named functions that are called neither by one of the state machines, nor
// by one of their versions, nor by an execution that runs or can be redriven at now. It keeps the newest five of each
// function. It returns what it has deleted as NAME:VERSION, also if it then fails; unless it knows all uses, it deletes
// nothing.
func pruneFunctions(ctx context.Context, states executions, client functions, machines, names []string,
	now time.Time) ([]string, error) {
	used := map[string]bool{}
	for _, machine := range machines {
		of, err := uses(ctx, states, machine, now)
		if err != nil {
			return nil, err
		}
		maps.Copy(used, of)
	}
	var deleted []string
	for _, name := range names {
		published, err := numbers(ctx, client, name)
		if err != nil {
			return deleted, err
		}
		for _, n := range published[:max(len(published)-keptOfFunction, 0)] {
			version := name + ":" + strconv.Itoa(n)
			if used[version] {
				continue
			}
			if len(deleted) == functionsAtOnce {
				return deleted, nil
			}
			_, err := client.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: &name,
				Qualifier: aws.String(strconv.Itoa(n))})
			var conflict *types.ResourceConflictException
			switch {
			case errors.As(err, &conflict): // an alias of the function points at it
			case err != nil:
				return deleted, fmt.Errorf("version %s was not deleted: %w", version, err)
			default:
				deleted = append(deleted, version)
			}
		}
	}
	return deleted, nil
}

// numbers returns the numbers of a function's versions in ascending order, without $LATEST.
func numbers(ctx context.Context, c functions, name string) ([]int, error) {
	var all []int
	in := &lambda.ListVersionsByFunctionInput{FunctionName: &name}
	for {
		page, err := c.ListVersionsByFunction(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("versions of the function %s: %w", name, err)
		}
		for i := range page.Versions {
			if n, err := strconv.Atoi(aws.ToString(page.Versions[i].Version)); err == nil {
				all = append(all, n)
			}
		}
		if in.Marker = page.NextMarker; aws.ToString(in.Marker) == "" {
			slices.Sort(all)
			return all, nil
		}
	}
}

// qualified matches the ARN of a version of a function.
var qualified = regexp.MustCompile(`arn:[a-z-]+:lambda:[a-z0-9-]+:\d{12}:function:([A-Za-z0-9_-]+:\d+)\b`)

// uses returns the versions of functions, as NAME:VERSION, that the definitions in use name.
func uses(ctx context.Context, c executions, machine string, now time.Time) (map[string]bool, error) {
	used := map[string]bool{}
	add := func(definition *string) {
		for _, m := range qualified.FindAllStringSubmatch(aws.ToString(definition), -1) {
			used[m[1]] = true
		}
	}
	all, err := versions.List(ctx, c, machine)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, arn := range append(all, machine) {
		described, err := c.DescribeStateMachine(ctx, &sfn.DescribeStateMachineInput{StateMachineArn: &arn})
		if err != nil {
			return nil, fmt.Errorf("state machine %s: %w", arn, err)
		}
		add(described.Definition)
		known[arn] = arn != machine // executions without a version may have started with an earlier definition
	}
	for _, status := range []sfntypes.ExecutionStatus{sfntypes.ExecutionStatusRunning,
		sfntypes.ExecutionStatusFailed, sfntypes.ExecutionStatusTimedOut, sfntypes.ExecutionStatusAborted} {
		in := &sfn.ListExecutionsInput{StateMachineArn: &machine, StatusFilter: status, MaxResults: 1000}
		for {
			page, err := c.ListExecutions(ctx, in)
			if err != nil {
				return nil, fmt.Errorf("executions of %s: %w", machine, err)
			}
			for i := range page.Executions {
				e := &page.Executions[i]
				version := aws.ToString(e.StateMachineVersionArn)
				if known[version] || e.StopDate != nil && e.StopDate.Before(now.Add(-redrivable)) {
					continue
				}
				described, err := c.DescribeStateMachineForExecution(ctx,
					&sfn.DescribeStateMachineForExecutionInput{ExecutionArn: e.ExecutionArn})
				if err != nil {
					return nil, fmt.Errorf("execution %s: %w", aws.ToString(e.ExecutionArn), err)
				}
				add(described.Definition)
				known[version] = version != ""
			}
			if in.NextToken = page.NextToken; in.NextToken == nil {
				break
			}
		}
	}
	return used, nil
}
