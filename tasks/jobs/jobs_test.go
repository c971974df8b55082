package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/jsonvalue"
	"stepback/tasks/jobs"
)

// api simulates a service: it responds to a submission, and describes the job with the given texts in order; "!" is a
// failed poll, "gone" one that finds nothing.
type api struct {
	answer    string
	described []string
	called    []string
	onCall    func()
}

func (a *api) Invoke(context.Context, *engine.Task) (engine.Result, error) {
	a.called = append(a.called, "submit")
	v, err := jsonvalue.Parse(a.answer)
	return engine.ParsedResult(a.answer, v), err
}

func (a *api) Call(_ context.Context, _, action string, params jsonvalue.Value) (jsonvalue.Value, error) {
	a.called = append(a.called, action+params.JSON())
	if a.onCall != nil {
		a.onCall()
	}
	text := a.described[0]
	if len(a.described) > 1 {
		a.described = a.described[1:]
	}
	if text == "gone" {
		return jsonvalue.Value{}, engine.NewFailure("EKS.ResourceNotFoundException", "gone")
	}
	if text == "!" {
		return jsonvalue.Value{}, engine.NewFailure("ECS.ServerException", "try again")
	}
	return jsonvalue.Parse(text)
}

// invoke performs a task in virtual time, which it holds as the engine does, and returns how long it took.
func invoke(t *testing.T, name string, a *api, task *engine.Task) (string, time.Duration, error) {
	t.Helper()
	c := clock.Virtual(time.Unix(0, 0))
	t.Cleanup(c.Close)
	c.Hold()
	defer c.Release()
	result, err := jobs.Wait(name, a, c).Invoke(t.Context(), task)
	took := c.Now().Sub(time.Unix(0, 0))
	if err != nil {
		return "", took, err
	}
	return result.Text(), took, nil
}

func TestWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		integration, params, answer string
		described                   []string
		look, want, err             string
	}{
		"ecs": {
			"ecs:runTask", `{"Cluster":"c","TaskDefinition":"d"}`, `{"Failures":[],"Tasks":[{"TaskArn":"t"}]}`,
			[]string{
				`{"Tasks":[{"TaskArn":"t","LastStatus":"RUNNING"}]}`,
				`{"Tasks":[{"TaskArn":"t","LastStatus":"STOPPED","Containers":[{"ExitCode":0}]}]}`,
			},
			`DescribeTasks{"Cluster":"c","Tasks":["t"]}`,
			`{"TaskArn":"t","LastStatus":"STOPPED","Containers":[{"ExitCode":0}]}`, "",
		},
		"ecs with a container that fails": {
			"ecs:runTask", `{"TaskDefinition":"d"}`, `{"Tasks":[{"TaskArn":"t"}]}`,
			[]string{`{"Tasks":[{"LastStatus":"STOPPED","Containers":[{"ExitCode":0},{"ExitCode":1}]}]}`},
			`DescribeTasks{"Tasks":["t"]}`, "",
			`States.TaskFailed: {"LastStatus":"STOPPED","Containers":[{"ExitCode":0},{"ExitCode":1}]}`,
		},
		"ecs with a container that never ran": {
			"ecs:runTask", `{}`, `{"Tasks":[{"TaskArn":"t"}]}`,
			[]string{`{"Tasks":[{"LastStatus":"STOPPED","Containers":[{}]}]}`},
			`DescribeTasks{"Tasks":["t"]}`, "", `States.TaskFailed: {"LastStatus":"STOPPED","Containers":[{}]}`,
		},
		"a look that fails is repeated": {
			"glue:startJobRun", `{"JobName":"j"}`, `{"JobName":"j","JobRunId":"r"}`,
			[]string{"!", `{}`, `{"JobRun":{"JobRunState":"SUCCEEDED"}}`},
			`GetJobRun{"JobName":"j","RunId":"r"}`, `{"JobRunState":"SUCCEEDED"}`, "",
		},
		"looks that go on failing": {
			"glue:startJobRun", `{"JobName":"j"}`, `{"JobRunId":"r"}`, []string{"!"},
			`GetJobRun{"JobName":"j","RunId":"r"}`, "", "ECS.ServerException: try again",
		},
		"a job that nobody knows": {
			"batch:submitJob", `{}`, `{"JobId":"i"}`, []string{`{"Jobs":[]}`},
			`DescribeJobs{"Jobs":["i"]}`, "",
			"States.TaskFailed: DescribeJobs knows nothing of the job that batch:submitJob started.",
		},
		"batch": {
			"batch:submitJob", `{}`, `{"JobId":"i"}`, []string{`{"Jobs":[{"Status":"FAILED"}]}`},
			`DescribeJobs{"Jobs":["i"]}`, "", `States.TaskFailed: {"Status":"FAILED"}`,
		},
		"athena": {
			"athena:startQueryExecution", `{}`, `{"QueryExecutionId":"q"}`,
			[]string{`{"QueryExecution":{"Status":{"State":"SUCCEEDED"}}}`},
			`GetQueryExecution{"QueryExecutionId":"q"}`, `{"QueryExecution":{"Status":{"State":"SUCCEEDED"}}}`, "",
		},
		"codebuild": {
			"codebuild:startBuild", `{}`, `{"Build":{"Id":"b"}}`,
			[]string{`{"Builds":[{"BuildStatus":"SUCCEEDED"}],"BuildsNotFound":[]}`},
			`BatchGetBuilds{"Ids":["b"]}`, `{"Build":{"BuildStatus":"SUCCEEDED"}}`, "",
		},
		"a cluster of EMR": {
			"elasticmapreduce:createCluster", `{}`, `{"ClusterId":"j"}`,
			[]string{`{"Cluster":{"Status":{"State":"WAITING"}}}`},
			`DescribeCluster{"ClusterId":"j"}`, `{"ClusterId":"j","Cluster":{"Status":{"State":"WAITING"}}}`, "",
		},
		"a step of EMR": {
			"elasticmapreduce:addStep", `{"ClusterId":"j"}`, `{"StepId":"s"}`,
			[]string{`{"Step":{"Status":{"State":"CANCELLED"}}}`},
			`DescribeStep{"ClusterId":"j","StepId":"s"}`, "",
			`States.TaskFailed: {"Step":{"Status":{"State":"CANCELLED"}}}`,
		},
		"DataBrew": {
			"databrew:startJobRun", `{"Name":"j"}`, `{"RunId":"r"}`, []string{`{"State":"RUNNING"}`,
				`{"State":"SUCCEEDED"}`},
			`DescribeJobRun{"Name":"j","RunId":"r"}`, `{"State":"SUCCEEDED"}`, "",
		},
		"MediaConvert": {
			"mediaconvert:createJob", `{"Role":"r"}`, `{"Job":{"Id":"i"}}`,
			[]string{`{"Job":{"Status":"PROGRESSING"}}`, `{"Job":{"Id":"i","Status":"ERROR"}}`},
			`GetJob{"Id":"i"}`, "", `States.TaskFailed: {"Job":{"Id":"i","Status":"ERROR"}}`,
		},
		"a job of EMR on EKS": {
			"emr-containers:startJobRun", `{"VirtualClusterId":"v"}`, `{"Id":"i"}`,
			[]string{`{"JobRun":{"State":"COMPLETED"}}`},
			`DescribeJobRun{"VirtualClusterId":"v","Id":"i"}`, `{"JobRun":{"State":"COMPLETED"}}`, "",
		},
		"a virtual cluster of EMR on EKS": {
			"emr-containers:deleteVirtualCluster", `{"Id":"v"}`, `{"Id":"v"}`,
			[]string{`{"VirtualCluster":{"State":"TERMINATED"}}`},
			`DescribeVirtualCluster{"Id":"v"}`, `{"VirtualCluster":{"State":"TERMINATED"}}`, "",
		},
		"SageMaker": {
			"sagemaker:createTrainingJob", `{"TrainingJobName":"j"}`, `{"TrainingJobArn":"a"}`,
			[]string{`{"TrainingJobStatus":"InProgress"}`, `{"TrainingJobStatus":"Completed","ModelArtifacts":{}}`},
			`DescribeTrainingJob{"TrainingJobName":"j"}`, `{"TrainingJobStatus":"Completed","ModelArtifacts":{}}`, "",
		},
		"a job of SageMaker that was stopped": {
			"sagemaker:createHyperParameterTuningJob", `{"HyperParameterTuningJobName":"j"}`, `{}`,
			[]string{`{"HyperParameterTuningJobStatus":"Stopped"}`},
			`DescribeHyperParameterTuningJob{"HyperParameterTuningJobName":"j"}`, "",
			`States.TaskFailed: {"HyperParameterTuningJobStatus":"Stopped"}`,
		},
		"Bedrock": {
			"bedrock:createModelCustomizationJob", `{"JobName":"j"}`, `{"JobArn":"a"}`,
			[]string{`{"Status":"Completed"}`},
			`GetModelCustomizationJob{"JobIdentifier":"a"}`, `{"Status":"Completed"}`, "",
		},
		"a cluster of EKS": {
			"eks:createCluster", `{"Name":"c"}`, `{"Cluster":{"Status":"CREATING"},"SdkResponseMetadata":{}}`,
			[]string{`{"Cluster":{"Status":"CREATING"}}`, `{"Cluster":{"Status":"ACTIVE","Endpoint":"e"}}`},
			`DescribeCluster{"Name":"c"}`, `{"Cluster":{"Status":"ACTIVE","Endpoint":"e"}}`, "",
		},
		"a node group that cannot be made": {
			"eks:createNodegroup", `{"ClusterName":"c","NodegroupName":"n"}`, `{}`,
			[]string{`{"Nodegroup":{"Status":"CREATE_FAILED"}}`},
			`DescribeNodegroup{"ClusterName":"c","NodegroupName":"n"}`, "",
			`States.TaskFailed: {"Nodegroup":{"Status":"CREATE_FAILED"}}`,
		},
		"a deletion ends when there is nothing to describe": {
			"eks:deleteFargateProfile", `{"ClusterName":"c","FargateProfileName":"f"}`,
			`{"FargateProfile":{"Status":"ACTIVE"}}`,
			[]string{`{"FargateProfile":{"Status":"DELETING"}}`, "gone"},
			`DescribeFargateProfile{"ClusterName":"c","FargateProfileName":"f"}`,
			`{"FargateProfile":{"Status":"DELETING"}}`, "",
		},
		"a deletion that nobody saw": {
			"eks:deleteCluster", `{"Name":"c"}`, `{"Cluster":{"Status":"DELETING"},"SdkResponseMetadata":{}}`,
			[]string{"gone"},
			`DescribeCluster{"Name":"c"}`, `{"Cluster":{"Status":"DELETING"}}`, "",
		},
		"a deletion that fails": {
			"eks:deleteNodegroup", `{"ClusterName":"c","NodegroupName":"n"}`, `{}`,
			[]string{`{"Nodegroup":{"Status":"DELETE_FAILED"}}`},
			`DescribeNodegroup{"ClusterName":"c","NodegroupName":"n"}`, "",
			`States.TaskFailed: {"Nodegroup":{"Status":"DELETE_FAILED"}}`,
		},
		"a job that is gone where none is deleted": {
			"eks:createCluster", `{"Name":"c"}`, `{}`, []string{"gone"},
			`DescribeCluster{"Name":"c"}`, "", "EKS.ResourceNotFoundException: gone",
		},
		"a job of Kubernetes": {
			"eks:runJob", `{"ClusterName":"c","Endpoint":"e","Job":{},"LogOptions":{"RetrieveLogs":true}}`,
			`{"ResponseBody":{"metadata":{"name":"j"}},"StatusCode":201}`,
			[]string{
				`{"ResponseBody":{"status":{"conditions":[{"type":"Failed","status":"False"},{"type":"SuccessCriteriaMet","status":"True"}]}}}`,
				`{"ResponseBody":{"status":{"conditions":[{"type":"Complete","status":"True"}]}}}`,
			},
			`ReadJob{"ClusterName":"c","Endpoint":"e","Name":"j","LogOptions":{"RetrieveLogs":true}}`,
			`{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`, "",
		},
		"a job of Kubernetes that fails": {
			"eks:runJob", `{}`, `{"ResponseBody":{"metadata":{"name":"j"}}}`,
			[]string{`{"ResponseBody":{"status":{"conditions":[{"type":"Failed","status":"True"}]}}}`},
			`ReadJob{"Name":"j"}`, "", `States.TaskFailed: {"status":{"conditions":[{"type":"Failed","status":"True"}]}}`,
		},
		"EMR Serverless": {
			"emr-serverless:startJobRun", `{"ApplicationId":"a"}`, `{"ApplicationId":"a","JobRunId":"r"}`,
			[]string{`{"JobRun":{"State":"SUCCESS"}}`},
			`GetJobRun{"ApplicationId":"a","JobRunId":"r"}`, `{"JobRun":{"State":"SUCCESS"}}`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{answer: c.answer, described: c.described}
			got, _, err := invoke(t, c.integration, a, &engine.Task{Pattern: engine.Sync, Parameters: c.params})
			if got != c.want || c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) {
				t.Errorf("got  %s, %v\nwant %s, %s", got, err, c.want, c.err)
			}
			if a.called[1] != c.look {
				t.Errorf("looked by %s, want %s", a.called[1], c.look)
			}
		})
	}
}

func TestPauses(t *testing.T) {
	t.Parallel()
	a := &api{answer: `{"JobId":"i"}`, described: []string{
		`{"Jobs":[{"Status":"SUBMITTED"}]}`, `{"Jobs":[{"Status":"STARTING"}]}`, `{"Jobs":[{"Status":"RUNNING"}]}`,
		`{"Jobs":[{"Status":"RUNNING"}]}`, `{"Jobs":[{"Status":"RUNNING"}]}`, `{"Jobs":[{"Status":"SUCCEEDED"}]}`,
	}}
	_, took, err := invoke(t, "batch:submitJob", a, &engine.Task{Pattern: engine.Sync, Parameters: "{}"})
	if want := (1 + 2 + 4 + 8 + 10 + 10) * time.Second; err != nil || took != want {
		t.Errorf("took %v (%v), want %v", took, err, want)
	}
}

func TestSubmittedBeforeACrash(t *testing.T) {
	t.Parallel()
	a := &api{described: []string{`{"Jobs":[{"Status":"SUCCEEDED"}]}`}}
	got, _, err := invoke(t, "batch:submitJob", a, &engine.Task{Pattern: engine.Sync, Parameters: "{}",
		Submission: `{"JobId":"kept"}`})
	if want := []string{`DescribeJobs{"Jobs":["kept"]}`}; err != nil || got != `{"Status":"SUCCEEDED"}` ||
		!slices.Equal(a.called, want) {
		t.Errorf("got %s, %v; called %q", got, err, a.called)
	}
}

func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"ecs:runTask":                    `StopTask{"Cluster":"c","Task":"t"}`,
		"batch:submitJob":                `TerminateJob{"JobId":"i","Reason":"The execution that waited for the job ended."}`,
		"glue:startJobRun":               `BatchStopJobRun{"JobName":"j","JobRunIds":["r"]}`,
		"athena:startQueryExecution":     `StopQueryExecution{"QueryExecutionId":"q"}`,
		"codebuild:startBuild":           `StopBuild{"Id":"b"}`,
		"codebuild:startBuildBatch":      `StopBuildBatch{"Id":"bb"}`,
		"elasticmapreduce:addStep":       `CancelSteps{"ClusterId":"k","StepIds":["s"]}`,
		"emr-serverless:startJobRun":     `CancelJobRun{"ApplicationId":"a","JobRunId":"r2"}`,
		"databrew:startJobRun":           `StopJobRun{"Name":"n","RunId":"r"}`,
		"mediaconvert:createJob":         `CancelJob{"Id":"m"}`,
		"emr-containers:startJobRun":     `CancelJobRun{"VirtualClusterId":"v","Id":"e"}`,
		"sagemaker:createTransformJob":   `StopTransformJob{"TransformJobName":"t"}`,
		"eks:createCluster":              "", // left as it is
		"elasticmapreduce:createCluster": "", // left running

		"bedrock:createModelCustomizationJob": `StopModelCustomizationJob{"JobIdentifier":"arn"}`,
		"eks:runJob":                          `DeleteJob{"ClusterName":"ec","Namespace":"ns","Name":"k"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := `{"Tasks":[{"TaskArn":"t"}],"JobId":"i","JobRunId":"r","QueryExecutionId":"q","Build":{"Id":"b"},"BuildBatch":{"Id":"bb"},"StepId":"s",` +
				`"RunId":"r","Job":{"Id":"m"},"Id":"e","JobArn":"arn","ResponseBody":{"metadata":{"name":"k"}}}`
			if name == "emr-serverless:startJobRun" {
				answer = `{"JobRunId":"r2"}`
			}
			ctx, cancel := context.WithCancel(t.Context())
			a := &api{answer: answer, described: []string{`{}`}, onCall: cancel}
			c := clock.Virtual(time.Unix(0, 0))
			defer c.Close()
			c.Hold()
			defer c.Release()
			_, err := jobs.Wait(name, a, c).Invoke(ctx, &engine.Task{
				Pattern: engine.Sync, Parameters: `{"Cluster":"c","JobName":"j","ClusterId":"k","ApplicationId":"a",` +
					`"Name":"n","VirtualClusterId":"v","TransformJobName":"t","ClusterName":"ec","Namespace":"ns"}`,
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if got := strings.Join(a.called[2:], " "); got != want {
				t.Errorf("stopped by %q, want %q", got, want)
			}
		})
	}
}

// If the context ends because the engine is closing, the job is left running and the next engine continues to wait.
func TestAClosingEngineLeavesTheJob(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	a := &api{answer: `{"JobRunId":"r"}`, described: []string{`{}`}, onCall: func() { cancel(engine.ErrClosed) }}
	c := clock.Virtual(time.Unix(0, 0))
	defer c.Close()
	c.Hold()
	defer c.Release()
	_, err := jobs.Wait("glue:startJobRun", a, c).Invoke(ctx, &engine.Task{Pattern: engine.Sync,
		Parameters: `{"JobName":"j"}`})
	if want := []string{"submit", `GetJobRun{"JobName":"j","RunId":"r"}`}; !errors.Is(err, context.Canceled) ||
		!slices.Equal(a.called, want) {
		t.Errorf("%v; called %q, want %q", err, a.called, want)
	}
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		integration string
		pattern     engine.Pattern
		err         string
	}{
		"a job is not waited for":  {"ecs:runTask", engine.RequestResponse, ""},
		"a job that hands a token": {"ecs:runTask", engine.WaitForTaskToken, ""},
		"no second .sync": {"ecs:runTask", engine.Sync2,
			"States.Runtime: The integration arn:aws:states:::ecs:runTask is not supported with the pattern .sync:2."},
		"nothing to wait for": {"sqs:sendMessage", engine.Sync,
			"States.Runtime: The integration arn:aws:states:::sqs:sendMessage is not supported with the pattern .sync."},
		"a message": {"sqs:sendMessage", engine.RequestResponse, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _, err := invoke(t, c.integration, &api{answer: `{"A":1}`}, &engine.Task{Pattern: c.pattern,
				Parameters: "{}"})
			if c.err == "" && (err != nil || got != `{"A":1}`) || c.err != "" && (err == nil || err.Error() != c.err) {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}
