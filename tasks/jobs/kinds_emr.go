package jobs

import "stepback/jsonvalue"

// emrJobs contains EMR's clusters, steps and job runs, including job runs on EKS and serverless ones.
var emrJobs = map[string]*kind{
	"elasticmapreduce:addStep": {
		describe: "DescribeStep", named: request(member{"ClusterId", asked("ClusterId")},
			member{"StepId", told("StepId")}),
		found: path{"Step"}, status: path{"Status", "State"},
		done: []string{"COMPLETED"}, failed: []string{"CANCELLED", "FAILED", "INTERRUPTED"}, result: whole,
		stop: "CancelSteps", stopped: request(member{"ClusterId", asked("ClusterId")},
			member{"StepIds", listed(told("StepId"))}),
	},
	// A cluster is left running if its task is given up.
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
	"emr-serverless:cancelJobRun": sparkRun("", []string{"CANCELLED"}, []string{"FAILED", "SUCCESS"}),
	"emr-serverless:createApplication": application(told("ApplicationId"), []string{"CREATED", "STARTED", "STARTING"},
		"TERMINATED"),
	"emr-serverless:deleteApplication": application(asked("ApplicationId"), []string{"TERMINATED"}),
	"emr-serverless:startApplication":  application(asked("ApplicationId"), []string{"STARTED"}, "TERMINATED"),
	"emr-serverless:startJobRun":       sparkRun("CancelJobRun", []string{"SUCCESS"}, []string{"CANCELLED", "FAILED"}),
	"emr-serverless:stopApplication":   application(asked("ApplicationId"), []string{"STOPPED"}, "TERMINATED"),
	"emr-containers:deleteVirtualCluster": {
		describe: "DescribeVirtualCluster", named: request(member{"Id", asked("Id")}), found: path{"VirtualCluster"},
		status: path{"State"},
		done:   []string{"TERMINATED"}, failed: []string{"ARRESTED"}, result: whole,
	},
	"emr-containers:startJobRun": {
		describe: "DescribeJobRun", named: containerRun, found: path{"JobRun"}, status: path{"State"},
		done: []string{"COMPLETED"}, failed: []string{"CANCELLED", "FAILED"}, result: whole,
		stop: "CancelJobRun", stopped: containerRun,
	},
}

// withID returns the description of a cluster with its ID, which only the response to the submission contains.
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
		describe: "GetApplication", named: request(member{"ApplicationId", id}), found: path{"Application"},
		status: path{"State"},
		done:   done, failed: failed, result: whole,
	}
}

func containerRun(j job) jsonvalue.Value {
	return request(member{"VirtualClusterId", asked("VirtualClusterId")}, member{"Id", told("Id")})(j)
}
