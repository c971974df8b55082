package delivery_test

import (
	"context"
	"errors"
	"testing"

	"stepback/aws"
	"stepback/local/services/delivery"
)

func TestDeliver(t *testing.T) {
	t.Parallel()
	var targets delivery.Targets
	var got []string
	targets.Register("sqs", delivery.TargetFunc(func(_ context.Context, to aws.ARN, m *delivery.Message) error {
		got = append(got, to.Account+" "+to.Resource+" "+m.Body)
		return nil
	}))
	for _, c := range []struct{ arn, refusal string }{
		{arn: "arn:aws:sqs:us-east-1:123456789012:jobs"},
		{"jobs", "InvalidParameter: Invalid parameter: jobs is not an ARN"},
		{"arn:aws:ec2:us-east-1:123456789012:instance/i-1", "InvalidParameter: Invalid parameter: nothing can be delivered " +
			"to arn:aws:ec2:us-east-1:123456789012:instance/i-1: messages are taken by sqs"},
	} {
		err := targets.Deliver(t.Context(), c.arn, &delivery.Message{Body: "hello"})
		var refused *aws.Error
		if c.refusal == "" && err != nil || c.refusal != "" && (!errors.As(err, &refused) || refused.Error() != c.refusal) {
			t.Errorf("%s: %v", c.arn, err)
		}
		if takes := targets.Takes(c.arn); takes != (c.refusal == "") {
			t.Errorf("%s: taken: %v", c.arn, takes)
		}
	}
	if len(got) != 1 || got[0] != "123456789012 jobs hello" {
		t.Errorf("delivered %q", got)
	}
}
