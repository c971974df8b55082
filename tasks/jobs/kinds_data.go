package jobs

// dataJobs holds queries and the jobs of data pipelines.
var dataJobs = map[string]*kind{
	"athena:startQueryExecution": {
		describe: "GetQueryExecution", named: request(member{"QueryExecutionId", told("QueryExecutionId")}),
		found: path{"QueryExecution"}, status: path{"Status", "State"},
		done: []string{"SUCCEEDED"}, failed: []string{"CANCELLED", "FAILED"}, result: whole,
		stop: "StopQueryExecution", stopped: request(member{"QueryExecutionId", told("QueryExecutionId")}),
	},
	"glue:startJobRun": {
		describe: "GetJobRun", named: request(member{"JobName", asked("JobName")}, member{"RunId", told("JobRunId")}),
		found: path{"JobRun"}, status: path{"JobRunState"},
		done: []string{"SUCCEEDED"}, failed: []string{"ERROR", "EXPIRED", "FAILED", "STOPPED", "TIMEOUT"},
		result: part("JobRun"),
		stop:   "BatchStopJobRun", stopped: request(member{"JobName", asked("JobName")},
			member{"JobRunIds", listed(told("JobRunId"))}),
	},
	"databrew:startJobRun": {
		describe: "DescribeJobRun", named: request(member{"Name", asked("Name")}, member{"RunId", told("RunId")}),
		status: path{"State"},
		done:   []string{"SUCCEEDED"}, failed: []string{"FAILED", "STOPPED", "TIMEOUT"}, result: whole,
		stop: "StopJobRun", stopped: request(member{"Name", asked("Name")}, member{"RunId", told("RunId")}),
	},
	"mediaconvert:createJob": {
		describe: "GetJob", named: request(member{"Id", told("Job", "Id")}), found: path{"Job"}, status: path{"Status"},
		done: []string{"COMPLETE"}, failed: []string{"CANCELED", "ERROR"}, result: whole,
		stop: "CancelJob", stopped: request(member{"Id", told("Job", "Id")}),
	},
}
