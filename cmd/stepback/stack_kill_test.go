package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// killable returns a template with a chain of queues, function roles and parameters, so that its deployment takes
// several steps.
func killable(value string) string {
	var b strings.Builder
	b.WriteString("Resources:\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  Q%d: {Type: AWS::SQS::Queue, Properties: {VisibilityTimeout: %s", i, value)
		b.WriteString("}")
		if i > 0 {
			fmt.Fprintf(&b, ", DependsOn: P%d", i-1)
		}
		fmt.Fprintf(&b, "}\n  P%d: {Type: AWS::SSM::Parameter, Properties: {Type: String, Value: !Ref Q%d, Name: /kill/%d}}\n", i, i, i)
	}
	return b.String()
}

// TestStacksSurviveSIGKILL kills a server repeatedly while stacks are created, updated and deleted, and checks that
// each deployment ends as expected, with every resource created once.
func TestStacksSurviveSIGKILL(t *testing.T) {
	t.Parallel()
	const seed = 11
	random := rand.New(rand.NewPCG(seed, 1))
	l := &laptop{t: t, data: t.TempDir()}
	l.begin()
	kills := 0
	// carried waits until the stack has reached a final status, and kills the server several times while it waits.
	carried := func(want string) {
		t.Helper()
		for left := 4; ; {
			status := l.stackOf("killed")
			if !strings.HasSuffix(status, "_IN_PROGRESS") {
				if status != want {
					t.Fatalf("seed %d: the stack is %s, not %s", seed, status, want)
				}
				return
			}
			rest(time.Duration(random.IntN(40)) * time.Millisecond)
			if left > 0 {
				left--
				kills++
				l.kill()
				l.begin()
			}
		}
	}
	l.form("cloudformation", "CreateStack", "StackName", "killed", "TemplateBody", killable("10"))
	carried("CREATE_COMPLETE")
	if n := strings.Count(l.form("sqs", "ListQueues"), "killed-Q"); n != 30 {
		t.Errorf("there are %d queues", n)
	}
	l.form("cloudformation", "UpdateStack", "StackName", "killed", "TemplateBody", killable("20"))
	carried("UPDATE_COMPLETE")
	l.form("cloudformation", "DeleteStack", "StackName", "killed")
	carried("")
	if n := strings.Count(l.form("sqs", "ListQueues"), "killed-Q"); n != 0 {
		t.Errorf("%d queues are left", n)
	}
	t.Logf("%d kills", kills)
	l.kill()
}
