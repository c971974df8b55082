package jobs

import "stepback/asl/jsonvalue"

// kinds are the kinds of jobs, by the integrations that start them.
var kinds = map[string]*kind{
	"athena:startQueryExecution": {
		describe: "GetQueryExecution", named: request(member{"QueryExecutionId", told("QueryExecutionId")}),
		found: path{"QueryExecution"}, status: path{"Status", "State"},
		done: []string{"SUCCEEDED"}, failed: []string{"CANCELLED", "FAILED"}, result: whole,
		stop: "StopQueryExecution", stopped: request(member{"QueryExecutionId", told("QueryExecutionId")}),
	},
	"batch:submitJob": {
		describe: "DescribeJobs", named: request(member{"Jobs", listed(told("JobId"))}),
		found: path{"Jobs", "0"}, status: path{"Status"},
		done: []string{"SUCCEEDED"}, failed: []string{"FAILED"}, result: part("Jobs", "0"),
		stop: "TerminateJob", stopped: request(member{"JobId", told("JobId")}, member{"Reason", text("The execution that waited for the job ended.")}),
	},
	"codebuild:retryBuildBatch": buildBatch(),
	"codebuild:startBuild": {
		describe: "BatchGetBuilds", named: request(member{"Ids", listed(told("Build", "Id"))}),
		found: path{"Builds", "0"}, status: path{"BuildStatus"},
		done: []string{"SUCCEEDED"}, failed: []string{"FAILED", "FAULT", "STOPPED", "TIMED_OUT"}, result: as("Build", "Builds", "0"),
		stop: "StopBuild", stopped: request(member{"Id", told("Build", "Id")}),
	},
	"codebuild:startBuildBatch": buildBatch(),
	"ecs:runTask": {
		describe: "DescribeTasks", named: request(member{"Cluster", asked("Cluster")}, member{"Tasks", listed(told("Tasks", "0", "TaskArn"))}),
		found: path{"Tasks", "0"}, status: path{"LastStatus"},
		done: []string{"STOPPED"}, verdict: exitedWell, result: part("Tasks", "0"),
		stop: "StopTask", stopped: request(member{"Cluster", asked("Cluster")}, member{"Task", told("Tasks", "0", "TaskArn")}),
	},
	"elasticmapreduce:addStep": {
		describe: "DescribeStep", named: request(member{"ClusterId", asked("ClusterId")}, member{"StepId", told("StepId")}),
		found: path{"Step"}, status: path{"Status", "State"},
		done: []string{"COMPLETED"}, failed: []string{"CANCELLED", "FAILED", "INTERRUPTED"}, result: whole,
		stop: "CancelSteps", stopped: request(member{"ClusterId", asked("ClusterId")}, member{"StepIds", listed(told("StepId"))}),
	},
	// A cluster is left running when its task is given up.
	"elasticmapreduce:createCluster": {
		describe: "DescribeCluster", named: request(member{"ClusterId", told("ClusterId")}),
		found: path{"Cluster"}, status: path{"Status", "State"},
		done: []string{"WAITING"}, failed: []string{"TERMINATED", "TERMINATED_WITH_ERRORS"}, result: withID,
	},
	"elasticmapreduce:terminateCluster": {
		describe: "DescribeCluster", named: request(member{"ClusterId", asked("ClusterId")}),
		found: path{"Cluster"}, status: path{"Status", "State"},
		done: []string{"TERMINATED"}, failed: []string{"TERMINATED_WITH_ERRORS"}, result: whole,
	},
	"emr-serverless:cancelJobRun":      sparkRun("", []string{"CANCELLED"}, []string{"FAILED", "SUCCESS"}),
	"emr-serverless:createApplication": application(told("ApplicationId"), []string{"CREATED", "STARTED", "STARTING"}, "TERMINATED"),
	"emr-serverless:deleteApplication": application(asked("ApplicationId"), []string{"TERMINATED"}),
	"emr-serverless:startApplication":  application(asked("ApplicationId"), []string{"STARTED"}, "TERMINATED"),
	"emr-serverless:startJobRun":       sparkRun("CancelJobRun", []string{"SUCCESS"}, []string{"CANCELLED", "FAILED"}),
	"emr-serverless:stopApplication":   application(asked("ApplicationId"), []string{"STOPPED"}, "TERMINATED"),
	"glue:startJobRun": {
		describe: "GetJobRun", named: request(member{"JobName", asked("JobName")}, member{"RunId", told("JobRunId")}),
		found: path{"JobRun"}, status: path{"JobRunState"},
		done: []string{"SUCCEEDED"}, failed: []string{"ERROR", "EXPIRED", "FAILED", "STOPPED", "TIMEOUT"}, result: part("JobRun"),
		stop: "BatchStopJobRun", stopped: request(member{"JobName", asked("JobName")}, member{"JobRunIds", listed(told("JobRunId"))}),
	},
}

func buildBatch() *kind {
	return &kind{
		describe: "BatchGetBuildBatches", named: request(member{"Ids", listed(told("BuildBatch", "Id"))}),
		found: path{"BuildBatches", "0"}, status: path{"BuildBatchStatus"},
		done: []string{"SUCCEEDED"}, failed: []string{"FAILED", "FAULT", "STOPPED", "TIMED_OUT"}, result: as("BuildBatch", "BuildBatches", "0"),
		stop: "StopBuildBatch", stopped: request(member{"Id", told("BuildBatch", "Id")}),
	}
}

// exitedWell reports whether all containers of an ECS task ran and ended with status 0.
func exitedWell(task jsonvalue.Value) bool {
	containers := path{"Containers"}.in(task)
	if containers.Kind() != jsonvalue.Array {
		return false
	}
	for _, c := range containers.Elements() {
		code, ok := c.Get("ExitCode")
		if n, _ := code.Int(); !ok || n != 0 {
			return false
		}
	}
	return true
}

// withID puts the ID that the request gave before the description of a cluster.
func withID(j job, description jsonvalue.Value) jsonvalue.Value {
	b := jsonvalue.NewObject(2)
	b.Set("ClusterId", path{"ClusterId"}.in(j.answer))
	b.Set("Cluster", path{"Cluster"}.in(description))
	return b.Value()
}

func sparkRun(stop string, done, failed []string) *kind {
	run := request(member{"ApplicationId", asked("ApplicationId")}, member{"JobRunId", told("JobRunId")})
	return &kind{
		describe: "GetJobRun", named: run, found: path{"JobRun"}, status: path{"State"},
		done: done, failed: failed, result: whole, stop: stop, stopped: run,
	}
}

func application(id func(job) jsonvalue.Value, done []string, failed ...string) *kind {
	return &kind{
		describe: "GetApplication", named: request(member{"ApplicationId", id}), found: path{"Application"}, status: path{"State"},
		done: done, failed: failed, result: whole,
	}
}
