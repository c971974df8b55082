package local_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/local"
)

// TestNestedExecution runs an execution that starts another one in the same process and waits for it, in its own
// account and in another account through a role.
func TestNestedExecution(t *testing.T) {
	t.Parallel()
	t.Run("own account", func(t *testing.T) { t.Parallel(); testNestedExecution(t, "000000000000", "") })
	t.Run("another account", func(t *testing.T) {
		t.Parallel()
		testNestedExecution(t, "222222222222", `"Credentials":{"RoleArn":"arn:aws:iam::222222222222:role/r"},`)
	})
}

func testNestedExecution(t *testing.T, account, role string) {
	t.Helper()
	p := open(t, local.Config{})
	client := statesOf(p)
	of := func(o *sfn.Options) { o.Credentials = credentials.NewStaticCredentialsProvider(account, "secret", "") }
	create := func(name, definition string, as ...func(*sfn.Options)) *string {
		m, err := client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
			Name: &name, Definition: &definition, RoleArn: aws.String("arn:aws:iam::000000000000:role/r"),
			Type: types.StateMachineTypeStandard,
		}, as...)
		if err != nil {
			t.Fatal(err)
		}
		return m.StateMachineArn
	}
	child := create("child", `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`, of)
	parent := create("parent", `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"arn:aws:states:::states:startExecution.sync:2",`+
		role+`"Parameters":{"StateMachineArn":"`+*child+
		`","Name":"c","Input":{"a":1}},"OutputPath":"$.Output","End":true}}}`)
	x, err := client.StartExecution(t.Context(), &sfn.StartExecutionInput{StateMachineArn: parent})
	if err != nil {
		t.Fatal(err)
	}
	e, err := p.Engine()
	if err != nil {
		t.Fatal(err)
	}
	ended, err := e.Wait(t.Context(), *x.ExecutionArn)
	if err != nil || ended.Output != `{"a":1}` {
		t.Errorf("%+v, %v", ended, err)
	}
}
