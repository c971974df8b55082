package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/services/stepfunctions"
)

// TestNestedExecution runs an execution that starts another one in the same process and waits for it, in its own
// account and in that of a role.
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
	around, scope := newSurroundings(), aws.Scope{Account: "000000000000", Region: "us-east-1"}
	around.endpoints.Getenv = nil
	engines := newEngines(clock.Real(), journal.NewMemory(), &services{}, around, slog.New(slog.DiscardHandler))
	service := stepfunctions.New(stepfunctions.Config{
		Open: engines.open, Store: stepfunctions.NewMemory(), Now: engines.clock.Now, Default: scope,
	})
	around.embed("sfn", service.Handler())
	t.Cleanup(engines.close)
	client := sfn.New(sfn.Options{BaseEndpoint: sdk.String(loopback.URL), Region: scope.Region,
		HTTPClient: loopback.Client(service.Handler())})
	of := func(o *sfn.Options) { o.Credentials = credentialsOf(account) }
	create := func(name, definition string, as ...func(*sfn.Options)) *string {
		m, err := client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
			Name: &name, Definition: &definition, RoleArn: sdk.String("arn:aws:iam::000000000000:role/r"),
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
	ended, err := engines.made[scope].Wait(t.Context(), *x.ExecutionArn)
	if err != nil || ended.Output != `{"a":1}` {
		t.Errorf("%+v, %v", ended, err)
	}
}

// credentialsOf are those of an account, for clients of an emulator.
func credentialsOf(account string) sdk.CredentialsProvider {
	return credentials.NewStaticCredentialsProvider(account, "secret", "")
}

func TestServeRefusesABrokenMockConfiguration(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "MockConfigFile.json")
	if err := os.WriteFile(path, []byte(`{"StateMachines": {}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &serveCmd{Listen: "127.0.0.1:0", Data: t.TempDir(), Account: "000000000000", Region: "us-east-1", Mock: path}
	err := c.Run(t.Context(), streams{out: io.Discard, err: io.Discard})
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitUsage || !strings.Contains(err.Error(),
		path+": MockedResponses must be an object") {
		t.Errorf("got %v", err)
	}
}
