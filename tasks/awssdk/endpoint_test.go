package awssdk

import (
	"fmt"
	"strings"
	"testing"

	"stepback/aws/model"
)

func environment(variables ...string) Endpoints {
	return Endpoints{
		Embedded: map[string]Endpoint{"s3": {URL: "http://embedded"}},
		Getenv: func(name string) string {
			for i := 0; i < len(variables); i += 2 {
				if variables[i] == name {
					return variables[i+1]
				}
			}
			return ""
		},
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		service   string
		variables []string
		want, err string
	}{
		"Step Functions Local's variable comes first": {
			"sqs", []string{"AWS_ENDPOINT_URL", "http://all", "AWS_ENDPOINT_URL_SQS", "http://sdk", "SQS_ENDPOINT",
				"http://local"}, "http://local", "",
		},
		"then the service's own": {
			"secretsmanager", []string{"AWS_ENDPOINT_URL", "http://all", "AWS_ENDPOINT_URL_SECRETS_MANAGER",
				"http://sdk"}, "http://sdk", "",
		},
		"then that of all services": {"sqs", []string{"AWS_ENDPOINT_URL", "http://all"}, "http://all",
			""},
		"which does not stand for embedded ones": {"s3", []string{"AWS_ENDPOINT_URL", "http://all"}, "http://embedded",
			""},
		"an embedded service can be replaced": {"s3", []string{"S3_ENDPOINT", "https://s3.example"},
			"https://s3.example", ""},
		"an embedded service needs no variable": {"s3", nil, "http://embedded", ""},
		"nothing else is called": {"sns", nil, "",
			"no endpoint for SNS is configured; set SNS_ENDPOINT or AWS_ENDPOINT_URL_SNS to its URL"},
		"S3 may want the bucket in the host": {"s3", []string{"S3_ENDPOINT", "http://{Bucket}.s3.local"},
			"http://{Bucket}.s3.local", ""},
		"what is not an address is told": {"sns", []string{"SNS_ENDPOINT", "localhost:4566"}, "",
			`SNS_ENDPOINT is "localhost:4566"; give a URL such as http://127.0.0.1:4566`},
		"EventBridge has a name of its own": {"eventbridge", []string{"EVENTS_ENDPOINT", "http://events"},
			"http://events", ""},
		"Step Functions itself can be elsewhere": {"sfn", []string{"STEP_FUNCTIONS_ENDPOINT", "http://sfn"},
			"http://sfn", ""},
		"a variable of blanks is as good as none": {"s3", []string{"S3_ENDPOINT", " "}, "http://embedded", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := environment(c.variables...)
			s, err := serviceOf(c.service)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.find(s)
			if got.URL != c.want || c.err != "" && fmt.Sprint(err) != c.err || c.err == "" && err != nil {
				t.Errorf("got %q, %v", got.URL, err)
			}
		})
	}
}

func TestCredentialsStayAtHome(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAREAL")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	c := &Caller{Account: "123456789012", Region: "us-east-1"}
	for address, want := range map[string]string{
		"http://127.0.0.1:5000":                            "123456789012",
		"https://sqs.us-east-1.amazonaws.com":              "AKIAREAL",
		"https://{Bucket}.s3.us-east-1.amazonaws.com":      "AKIAREAL",
		"https://sqs.us-east-1.amazonaws.com.evil.example": "123456789012",
	} {
		found, err := c.credentials(t.Context(), Endpoint{URL: address}, c.Account)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := found.Retrieve(t.Context())
		if err != nil || keys.AccessKeyID != want {
			t.Errorf("%s is sent the key %s (%v), want %s", address, keys.AccessKeyID, err, want)
		}
	}
}

// TestVariables compares the variables of all services with botocore's rule, and finds each service at its own
// variable.
func TestVariables(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, name := range model.Services() {
		s, err := serviceOf(name)
		if err != nil {
			t.Fatal(err)
		}
		want := "AWS_ENDPOINT_URL_" + strings.ToUpper(strings.ReplaceAll(strings.ReplaceAll(s.ID, " ", "_"), "-", "_"))
		if got := s.environment(); got != want || strings.Trim(got, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if other, taken := seen[s.localVariable()]; taken && name != "smsvoice" {
			t.Errorf("%s and %s share %s", name, other, s.localVariable())
		}
		seen[s.localVariable()] = name
		for _, variable := range []string{s.environment(), s.localVariable()} {
			e := environment(variable, "http://service")
			if at, err := e.find(s); err != nil || at.URL != "http://service" {
				t.Errorf("%s is not found by %s: %v", name, variable, err)
			}
		}
	}
	for name, want := range map[string]string{
		"secretsmanager": "SECRETS_MANAGER_ENDPOINT", "sfn": "STEP_FUNCTIONS_ENDPOINT",
		"eventbridge":    "EVENTS_ENDPOINT",
		"cloudwatchlogs": "CLOUDWATCHLOGS_ENDPOINT", "sagemaker": "SAGE_MAKER_ENDPOINT", "sqs": "SQS_ENDPOINT",
		"elasticloadbalancingv2": "ELASTIC_LOAD_BALANCING_V2_ENDPOINT", "route53": "ROUTE_53_ENDPOINT",
	} {
		if seen[want] != name {
			t.Errorf("%s is the variable of %q, want %s", want, seen[want], name)
		}
	}
}
