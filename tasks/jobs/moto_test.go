package jobs_test

import (
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/jsonvalue"
	"stepback/tasks/awssdk"
	"stepback/tasks/jobs"
	"stepback/tasks/mototest"
)

// TestAgainstMoto runs jobs of every service that moto simulates, through the SDK's clients.
func TestAgainstMoto(t *testing.T) {
	t.Parallel()
	moto := mototest.Start(t)
	if moto == "" {
		t.Skip("moto_server is not installed")
	}
	caller := &awssdk.Caller{Account: "123456789012", Region: "us-east-1", Endpoints: awssdk.Endpoints{
		Getenv: func(name string) string { return map[string]string{"AWS_ENDPOINT_URL": moto}[name] },
	}}
	all, _ := awssdk.Integrations(caller)
	for _, c := range []struct {
		name              string
		service, action   string // prepares the test
		scene             string
		integration, task string
		status            []string // path of the status in the result
		want              string
	}{
		{
			"glue", "glue", "createJob",
			`{"Name":"j","Role":"r","Command":{"Name":"glueetl","ScriptLocation":"s3://b/s"}}`,
			"glue:startJobRun", `{"JobName":"j"}`, []string{"JobRunState"}, "SUCCEEDED",
		},
		{
			"athena", "", "", "", "athena:startQueryExecution",
			`{"QueryString":"SELECT 1","ResultConfiguration":{"OutputLocation":"s3://b/"}}`,
			[]string{"QueryExecution", "Status", "State"}, "SUCCEEDED",
		},
		{
			"a cluster", "", "", "", "elasticmapreduce:createCluster",
			`{"Name":"c","Instances":{"KeepJobFlowAliveWhenNoSteps":true,"MasterInstanceType":"m4.large","InstanceCount":1},"JobFlowRole":"r","ServiceRole":"s"}`,
			[]string{"Cluster", "Status", "State"}, "WAITING",
		},
		{
			"SageMaker", "", "", "", "sagemaker:createTrainingJob",
			`{"TrainingJobName":"j","RoleArn":"arn:aws:iam::123456789012:role/r","AlgorithmSpecification":{"TrainingInputMode":"File","TrainingImage":"i"},` +
				`"OutputDataConfig":{"S3OutputPath":"s3://b/"},"ResourceConfig":{"InstanceCount":1,"InstanceType":"ml.m4.xlarge","VolumeSizeInGB":1},` +
				`"StoppingCondition":{"MaxRuntimeInSeconds":60}}`,
			[]string{"TrainingJobStatus"}, "Completed",
		},
		{
			"a cluster of EKS", "", "", "", "eks:createCluster",
			`{"Name":"c","RoleArn":"arn:aws:iam::123456789012:role/r","ResourcesVpcConfig":{"SubnetIds":["s-1"]}}`,
			[]string{"Cluster", "Status"}, "ACTIVE",
		},
		{
			"a cluster of EKS that is deleted", "eks", "createCluster",
			`{"Name":"d","RoleArn":"arn:aws:iam::123456789012:role/r","ResourcesVpcConfig":{"SubnetIds":["s-1"]}}`,
			"eks:deleteCluster", `{"Name":"d"}`, []string{"Cluster", "Name"}, "d",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.service != "" {
				params, err := jsonvalue.Parse(c.scene)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := caller.Call(t.Context(), c.service, c.action, params); err != nil {
					t.Fatal(err)
				}
			}
			service, action, _ := strings.Cut(c.integration, ":")
			v := clock.Virtual(time.Unix(0, 0))
			defer v.Close()
			v.Hold()
			defer v.Release()
			wait := jobs.Wait(c.integration, all.Handler(service, action).(jobs.API), v)
			result, err := wait.Invoke(t.Context(), &engine.Task{
				Service: service, Action: action, Pattern: engine.Sync, Parameters: c.task,
			})
			if err != nil {
				t.Fatal(err)
			}
			got := result.Value()
			for _, name := range c.status {
				got, _ = got.Get(name)
			}
			if got.Text() != c.want {
				t.Errorf("got %s", result.Text())
			}
		})
	}
}
