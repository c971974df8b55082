package stepfunctions_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"stepback/engine"
	"stepback/engine/conformance"
	"stepback/engine/integration/awssdk"
	"stepback/engine/plan"
)

// motoServices are the services that recordings need beside Step Functions, by their names in aws-sdk Resources.
var motoServices = map[string]string{
	"dynamodb": "dynamodb", "events": "eventbridge", "s3": "s3", "secretsmanager": "secretsmanager", "sns": "sns", "sqs": "sqs",
}

// startMoto starts moto's server and returns its address; empty when moto is not installed.
func startMoto(t *testing.T) string {
	t.Helper()
	command, err := exec.LookPath("moto_server")
	if err != nil {
		t.Log("moto_server is not installed (pip install 'moto[server]'): cases that need other services are left out")
		return ""
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	server := exec.CommandContext(t.Context(), command, "-H", host, "-p", port)
	output, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-drained
		_ = server.Wait()
	})
	running, up := make(chan struct{}), false
	go func() { // it says where it runs once it does
		defer close(drained)
		buffer := make([]byte, 4096)
		for {
			n, err := output.Read(buffer)
			if !up && strings.Contains(string(buffer[:n]), "Running on") {
				up = true
				close(running)
			}
			if err != nil {
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-running:
		return "http://" + net.JoinHostPort(host, port)
	case <-drained:
		t.Fatal("moto_server ended at once")
	case <-ctx.Done():
		t.Fatal("moto_server does not start")
	}
	return ""
}

// around calls the services around Step Functions, for the steps of a case that set its scene.
func (w *world) around(ctx context.Context, s *conformance.Step, params map[string]any) (*conformance.Answer, map[string]any, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, nil, err
	}
	result, err := awssdk.Integration{Caller: w.caller}.Invoke(ctx, &engine.Task{
		Service: "aws-sdk:" + motoServices[s.Service], Action: strings.ToLower(s.Op[:1]) + s.Op[1:], Pattern: plan.RequestResponse,
		Parameters: string(text),
	})
	if err != nil {
		return nil, nil, err
	}
	return conformance.Reply(http.StatusOK, []byte(result.Text()))
}
