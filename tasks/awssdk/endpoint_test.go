package awssdk

import (
	"fmt"
	"testing"
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
			got, err := e.Find(service(c.service))
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
		"https://sqs.us-east-1.amazonaws.com.evil.example": "123456789012",
	} {
		cfg, err := c.config(t.Context(), Endpoint{URL: address}, c.Account)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := cfg.Credentials.Retrieve(t.Context())
		if err != nil || keys.AccessKeyID != want {
			t.Errorf("%s is sent the key %s (%v), want %s", address, keys.AccessKeyID, err, want)
		}
	}
}

// TestEveryServiceIsComplete makes each service's client and tries its unions.
func TestEveryServiceIsComplete(t *testing.T) {
	t.Parallel()
	c := &Caller{Account: "123456789012", Region: "us-east-1"}
	c.Endpoints.Getenv = func(string) string { return "http://127.0.0.1:1" }
	for i := range services {
		s := &services[i]
		if i > 0 && services[i-1].Name >= s.Name {
			t.Errorf("%s is out of order", s.Name)
		}
		if _, err := c.client(t.Context(), s, c.Account); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if s.ID == "" || s.Class == "" || s.Variable == "" {
			t.Errorf("%s lacks a name", s.Name)
		}
	}
}
