package jobs

import "stepback/jsonvalue"

// computeJobs holds builds, and containers that run to completion.
var computeJobs = map[string]*kind{
	"batch:submitJob": {
		describe: "DescribeJobs", named: request(member{"Jobs", listed(told("JobId"))}),
		found: path{"Jobs", "0"}, status: path{"Status"},
		done: []string{"SUCCEEDED"}, failed: []string{"FAILED"}, result: part("Jobs", "0"),
		stop: "TerminateJob", stopped: request(member{"JobId", told("JobId")},
			member{"Reason", text("The execution that waited for the job ended.")}),
	},
	"codebuild:retryBuildBatch": buildBatch(),
	"codebuild:startBuild": {
		describe: "BatchGetBuilds", named: request(member{"Ids", listed(told("Build", "Id"))}),
		found: path{"Builds", "0"}, status: path{"BuildStatus"},
		done: []string{"SUCCEEDED"}, failed: []string{"FAILED", "FAULT", "STOPPED", "TIMED_OUT"},
		result: as("Build", "Builds", "0"),
		stop:   "StopBuild", stopped: request(member{"Id", told("Build", "Id")}),
	},
	"codebuild:startBuildBatch": buildBatch(),
	"ecs:runTask": {
		describe: "DescribeTasks", named: request(member{"Cluster", asked("Cluster")},
			member{"Tasks", listed(told("Tasks", "0", "TaskArn"))}),
		found: path{"Tasks", "0"}, status: path{"LastStatus"},
		done: []string{"STOPPED"}, verdict: exitedWell, result: part("Tasks", "0"),
		stop: "StopTask", stopped: request(member{"Cluster", asked("Cluster")},
			member{"Task", told("Tasks", "0", "TaskArn")}),
	},
}

func buildBatch() *kind {
	return &kind{
		describe: "BatchGetBuildBatches", named: request(member{"Ids", listed(told("BuildBatch", "Id"))}),
		found: path{"BuildBatches", "0"}, status: path{"BuildBatchStatus"},
		done: []string{"SUCCEEDED"}, failed: []string{"FAILED", "FAULT", "STOPPED", "TIMED_OUT"},
		result: as("BuildBatch", "BuildBatches", "0"),
		stop:   "StopBuildBatch", stopped: request(member{"Id", told("BuildBatch", "Id")}),
	}
}

// exitedWell reports whether all containers of an ECS task ran and exited with status 0.
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
