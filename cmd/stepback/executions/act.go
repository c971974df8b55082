package executions

import (
	"context"
)

// Start starts an execution of the state machine with the given name or ARN and returns its ARN. If name is empty,
// the service chooses one.
func (c *Client) Start(ctx context.Context, machine, name, input string) (string, error) {
	arn, err := c.Machine(ctx, machine)
	if err != nil {
		return "", err
	}
	in := map[string]any{"stateMachineArn": arn, "input": input}
	if name != "" {
		in["name"] = name
	}
	var out struct {
		ARN string `json:"executionArn"`
	}
	err = c.States.Call(ctx, "StartExecution", in, &out)
	return out.ARN, Said(err)
}

// Stop stops an execution, with an error name and a cause, either of which may be empty.
func (c *Client) Stop(ctx context.Context, arn, name, cause string) error {
	in := map[string]any{"executionArn": arn}
	if name != "" {
		in["error"] = name
	}
	if cause != "" {
		in["cause"] = cause
	}
	return Said(c.States.Call(ctx, "StopExecution", in, nil))
}

// Redrive redrives an execution that ended without success from where it failed.
func (c *Client) Redrive(ctx context.Context, arn string) error {
	return Said(c.States.Call(ctx, "RedriveExecution", map[string]any{"executionArn": arn}, nil))
}

// SendTaskSuccess reports the success of a waiting task, with an output in JSON text.
func (c *Client) SendTaskSuccess(ctx context.Context, token, output string) error {
	return Said(c.States.Call(ctx, "SendTaskSuccess", map[string]any{"taskToken": token, "output": output}, nil))
}

// SendTaskFailure reports the failure of a waiting task.
func (c *Client) SendTaskFailure(ctx context.Context, token, name, cause string) error {
	in := map[string]any{"taskToken": token}
	if name != "" {
		in["error"] = name
	}
	if cause != "" {
		in["cause"] = cause
	}
	return Said(c.States.Call(ctx, "SendTaskFailure", in, nil))
}

// Activity is an activity as listed by the API.
type Activity struct {
	ARN     string `json:"activityArn"`
	Name    string `json:"name"`
	Created Time   `json:"creationDate"`
}

// Activities returns all activities.
func (c *Client) Activities(ctx context.Context) ([]Activity, error) {
	var all []Activity
	err := pages(ctx, c.States, "ListActivities", nil, "activities", func(a Activity) (bool, error) {
		all = append(all, a)
		return true, nil
	})
	return all, err
}

// MapRun describes a Map Run.
type MapRun struct {
	ARN          string `json:"mapRunArn"`
	ExecutionARN string `json:"executionArn"`
	Status       string `json:"status"`
	Start        Time   `json:"startDate"`
	Stop         Time   `json:"stopDate,omitzero"`
	// MaxConcurrency is 0 if the Map Run sets no limit.
	MaxConcurrency      int64   `json:"maxConcurrency"`
	ToleratedCount      int64   `json:"toleratedFailureCount"`
	ToleratedPercentage float64 `json:"toleratedFailurePercentage"`
	Redrives            int64   `json:"redriveCount"`
	Items               Counts  `json:"itemCounts"`
	Executions          Counts  `json:"executionCounts"`
}

// Counts counts items or child executions by outcome.
type Counts struct {
	Pending        int64 `json:"pending"`
	Running        int64 `json:"running"`
	Succeeded      int64 `json:"succeeded"`
	Failed         int64 `json:"failed"`
	TimedOut       int64 `json:"timedOut"`
	Aborted        int64 `json:"aborted"`
	Total          int64 `json:"total"`
	ResultsWritten int64 `json:"resultsWritten"`
}

// MapRuns returns the Map Runs of an execution, with their counts.
func (c *Client) MapRuns(ctx context.Context, execution string) ([]MapRun, error) {
	var all []MapRun
	err := pages(ctx, c.States, "ListMapRuns", map[string]any{"executionArn": execution}, "mapRuns",
		func(listed MapRun) (bool, error) {
			m := listed
			err := Said(c.States.Call(ctx, "DescribeMapRun", map[string]any{"mapRunArn": listed.ARN}, &m))
			all = append(all, m)
			return true, err
		})
	return all, err
}
