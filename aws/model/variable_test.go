package model_test

import (
	"regexp"
	"slices"
	"testing"

	"stepback/aws/model"
)

// EndpointVariable returns the variables that botocore 1.43 reads for some services whose signatures and hosts have
// other names.
func TestEndpointVariables(t *testing.T) {
	t.Parallel()
	for signed, want := range map[string][]string{
		"monitoring": {"AWS_ENDPOINT_URL_CLOUDWATCH"}, "states": {"AWS_ENDPOINT_URL_SFN"},
		"logs": {"AWS_ENDPOINT_URL_CLOUDWATCH_LOGS"}, "sns": {"AWS_ENDPOINT_URL_SNS"}, "sqs": {"AWS_ENDPOINT_URL_SQS"},
		"secretsmanager": {"AWS_ENDPOINT_URL_SECRETS_MANAGER"}, "ssm": {"AWS_ENDPOINT_URL_SSM"},
		"ecs": {"AWS_ENDPOINT_URL_ECS"}, "elasticmapreduce": {"AWS_ENDPOINT_URL_EMR"},
	} {
		var got []string
		for _, id := range model.Signed(signed) {
			got = append(got, model.EndpointVariable(id))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", signed, got, want)
		}
	}
	if got := model.Signed("events"); !slices.Contains(got, "EventBridge") {
		t.Errorf("events is %v", got)
	}
	if got := model.Signed("nosuch"); len(got) != 0 {
		t.Errorf("nosuch is %v", got)
	}
}

// EndpointVariable follows botocore's rule for all services: hyphenize the ID, then write it in capitals with
// underscores.
func TestEveryServiceHasItsVariable(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^AWS_ENDPOINT_URL_[A-Z0-9]+(_[A-Z0-9]+)*$`)
	seen := map[string]string{}
	for _, name := range model.Services() {
		s, err := model.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		v := model.EndpointVariable(s.ID)
		if !form.MatchString(v) || seen[v] != "" && seen[v] != s.ID {
			t.Errorf("%s: %s, as %s", name, v, seen[v])
		}
		seen[v] = s.ID
		if !slices.Contains(model.Signed(s.SigningName), s.ID) {
			t.Errorf("%s is not found by %s", s.ID, s.SigningName)
		}
	}
}
