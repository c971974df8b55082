package lambda_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awslambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/local/services/lambda"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/functions"
)

// approving is a durable function in a shell script: it creates a callback, and returns when that has succeeded.
const approving = `arn=$(echo "$EVENT" | sed 's/.*"DurableExecutionArn":"\([^"]*\)".*/\1/; s#/#%2F#g; s/[$]/%24/g; s/:/%3A/g')
token=$(echo "$EVENT" | sed 's/.*"CheckpointToken":"\([^"]*\)".*/\1/')
case "$EVENT" in
*'"CallbackDetails":{'*'"Result":"yes"'*) echo '{"Status":"SUCCEEDED","Result":"approved"}' ;;
*'"Type":"CALLBACK"'*) echo '{"Status":"PENDING"}' ;;
*) curl -sS -o /dev/null -X POST "$LAMBDA_URL/2025-12-01/durable-executions/$arn/checkpoint" -H 'Content-Type: application/json' \
  -d '{"CheckpointToken":"'"$token"'","Updates":[{"Id":"c","Name":"approval","Type":"CALLBACK","Action":"START","CallbackOptions":{"HeartbeatTimeoutSeconds":3600}}]}'
  echo '{"Status":"PENDING"}' ;;
esac`

func serveDurable(t *testing.T) *awslambda.Client {
	t.Helper()
	var handler atomic.Pointer[lambda.Service]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		handler.Load().ServeHTTP(w, r)
	}))
	f, err := functions.Open(t.Context(), t.TempDir(), functions.Options{Env: map[string]string{"LAMBDA_URL": server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	c := clock.Real()
	d, err := durablefunctions.Open(t.Context(), durablefunctions.Options{Journal: journal.NewMemory(), Clock: c,
		Functions: f})
	if err != nil {
		t.Fatal(err)
	}
	f.StartDurable(d)
	d.Resume()
	handler.Store(lambda.New(lambda.Config{Functions: f, Durable: d, Log: slog.New(slog.DiscardHandler),
		Scope: aws.Scope{Account: "000000000000", Region: "us-east-1"}}))
	t.Cleanup(func() {
		d.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := f.Close(ctx); err != nil {
			t.Error(err)
		}
		c.Close()
		server.Close()
	})
	return clientOf(server.URL, "local")
}

func TestTheLifeOfADurableFunction(t *testing.T) {
	t.Parallel()
	c := serveDurable(t)
	name, latest := sdk.String("F"), sdk.String("$LATEST")
	made, err := c.CreateFunction(t.Context(), &awslambda.CreateFunctionInput{
		FunctionName: name, Role: sdk.String(role), Runtime: types.RuntimeProvidedal2023, Handler: sdk.String("bootstrap"),
		Code: &types.FunctionCode{ZipFile: script(t, approving)}, Timeout: sdk.Int32(10),
		DurableConfig: &types.DurableConfig{ExecutionTimeout: sdk.Int32(600)}})
	if err != nil || *made.DurableConfig.ExecutionTimeout != 600 || *made.DurableConfig.RetentionPeriodInDays != 14 {
		t.Fatalf("%+v, %v", made, err)
	}
	updated, err := c.UpdateFunctionConfiguration(t.Context(), &awslambda.UpdateFunctionConfigurationInput{
		FunctionName:  name,
		DurableConfig: &types.DurableConfig{RetentionPeriodInDays: sdk.Int32(7)}})
	if err != nil || *updated.DurableConfig.ExecutionTimeout != 600 ||
		*updated.DurableConfig.RetentionPeriodInDays != 7 {
		t.Errorf("%+v, %v", updated, err)
	}
	_, err = c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: name})
	if got := refused(t, err); got != "InvalidParameterValueException: You cannot invoke a durable function using an unqualified ARN." {
		t.Error(got)
	}
	started, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: name, Qualifier: latest,
		InvocationType: types.InvocationTypeEvent, DurableExecutionName: sdk.String("order-1"), Payload: []byte(`{"order":1}`)})
	if err != nil || started.StatusCode != http.StatusAccepted ||
		!strings.HasPrefix(sdk.ToString(started.DurableExecutionArn), *made.FunctionArn+":$LATEST/durable-execution/order-1/") {
		t.Fatalf("%+v, %v", started, err)
	}
	arn := started.DurableExecutionArn
	var id *string
	for id == nil {
		h, err := c.GetDurableExecutionHistory(t.Context(), &awslambda.GetDurableExecutionHistoryInput{
			DurableExecutionArn:  arn,
			IncludeExecutionData: sdk.Bool(true)})
		if err != nil {
			t.Fatal(err)
		}
		if last := h.Events[len(h.Events)-1]; last.EventType == types.EventTypeInvocationCompleted {
			id = h.Events[1].CallbackStartedDetails.CallbackId
		}
	}
	if _, err := c.SendDurableExecutionCallbackHeartbeat(t.Context(),
		&awslambda.SendDurableExecutionCallbackHeartbeatInput{CallbackId: id}); err != nil {
		t.Error(err)
	}
	if _, err := c.SendDurableExecutionCallbackSuccess(t.Context(), &awslambda.SendDurableExecutionCallbackSuccessInput{
		CallbackId: id, Result: []byte("yes")}); err != nil {
		t.Fatal(err)
	}
	out, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: name, Qualifier: latest,
		DurableExecutionName: sdk.String("order-1"), Payload: []byte(`{"order":1}`)}) // the same execution
	if err != nil || string(out.Payload) != "approved" || sdk.ToString(out.DurableExecutionArn) != *arn {
		t.Fatalf("%+v, %v", out, err)
	}
	_, err = c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: name, Qualifier: latest,
		DurableExecutionName: sdk.String("order-1"), Payload: []byte(`{"order":2}`)})
	if e := (*types.DurableExecutionAlreadyStartedException)(nil); !errors.As(err, &e) {
		t.Error(err)
	}
	_, err = c.SendDurableExecutionCallbackFailure(t.Context(), &awslambda.SendDurableExecutionCallbackFailureInput{
		CallbackId: id,
		Error:      &types.ErrorObject{ErrorType: sdk.String("No")}})
	if e := (*types.CallbackTimeoutException)(nil); !errors.As(err, &e) {
		t.Error(err)
	}
	got, err := c.GetDurableExecution(t.Context(), &awslambda.GetDurableExecutionInput{DurableExecutionArn: arn})
	if err != nil || got.Status != types.ExecutionStatusSucceeded || *got.Result != "approved" || *got.InputPayload != `{"order":1}` ||
		got.EndTimestamp == nil || !*got.ExecutionDataIncluded || *got.DurableConfig.ExecutionTimeout != 600 ||
		*got.DurableConfig.RetentionPeriodInDays != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = c.GetDurableExecution(t.Context(), &awslambda.GetDurableExecutionInput{DurableExecutionArn: arn,
		IncludeExecutionData: sdk.Bool(false)})
	if err != nil || got.Status != types.ExecutionStatusSucceeded || got.Result != nil || got.InputPayload != nil ||
		*got.ExecutionDataIncluded || *got.DurableConfig.ExecutionTimeout != 600 {
		t.Errorf("%+v, %v", got, err)
	}
	h, err := c.GetDurableExecutionHistory(t.Context(), &awslambda.GetDurableExecutionHistoryInput{
		DurableExecutionArn: arn,
		ReverseOrder:        sdk.Bool(true), MaxItems: 2})
	if err != nil || len(h.Events) != 2 || h.Events[0].EventType != types.EventTypeExecutionSucceeded ||
		h.NextMarker == nil {
		t.Fatalf("%+v, %v", h, err)
	}
	list, err := c.ListDurableExecutionsByFunction(t.Context(), &awslambda.ListDurableExecutionsByFunctionInput{
		FunctionName: name,
		Statuses:     []types.ExecutionStatus{types.ExecutionStatusSucceeded},
		StartedAfter: sdk.Time(time.Now().Add(-time.Hour))})
	if err != nil || len(list.DurableExecutions) != 1 || *list.DurableExecutions[0].DurableExecutionArn != *arn {
		t.Errorf("%+v, %v", list, err)
	}
	second, err := c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: name, Qualifier: latest,
		InvocationType: types.InvocationTypeEvent})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.StopDurableExecution(t.Context(), &awslambda.StopDurableExecutionInput{
		DurableExecutionArn: second.DurableExecutionArn,
		Error:               &types.ErrorObject{ErrorType: sdk.String("Mine"), ErrorMessage: sdk.String("enough")}}); err != nil {
		t.Error(err)
	}
	got, err = c.GetDurableExecution(t.Context(), &awslambda.GetDurableExecutionInput{
		DurableExecutionArn: second.DurableExecutionArn})
	if err != nil || got.Status != types.ExecutionStatusStopped || *got.Error.ErrorMessage != "enough" {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = c.CheckpointDurableExecution(t.Context(), &awslambda.CheckpointDurableExecutionInput{
		DurableExecutionArn: arn,
		CheckpointToken:     sdk.String("bm9uZQ==")})
	if got := refused(t, err); got != "InvalidParameterValueException: Invalid Checkpoint Token: The durable execution has ended." {
		t.Error(got)
	}
	_, err = c.GetDurableExecutionState(t.Context(), &awslambda.GetDurableExecutionStateInput{DurableExecutionArn: arn,
		CheckpointToken: sdk.String("bm9uZQ==")})
	if got := refused(t, err); got != "InvalidParameterValueException: Invalid Checkpoint Token: The durable execution has ended." {
		t.Error(got)
	}
}

func TestTenantsHaveEnvironmentsOfTheirOwn(t *testing.T) {
	t.Parallel()
	c, _ := serve(t)
	name := sdk.String("F")
	_, err := c.CreateFunction(t.Context(), &awslambda.CreateFunctionInput{
		FunctionName: name, Role: sdk.String(role), Runtime: types.RuntimeProvidedal2023, Handler: sdk.String("bootstrap"),
		Code: &types.FunctionCode{ZipFile: script(t, `echo "$$"`)}, Timeout: sdk.Int32(10),
		TenancyConfig: &types.TenancyConfig{TenantIsolationMode: types.TenantIsolationModePerTenant}})
	if err != nil {
		t.Fatal(err)
	}
	run := func(tenant string) string {
		in := &awslambda.InvokeInput{FunctionName: name}
		if tenant != "" {
			in.TenantId = &tenant
		}
		out, err := c.Invoke(t.Context(), in)
		if err != nil {
			return refused(t, err)
		}
		return string(out.Payload)
	}
	if got := run(""); got != "InvalidParameterValueException: The invoked function is enabled with tenancy configuration. "+
		"Add a valid tenant ID in your request and try again." {
		t.Error(got)
	}
	a, b := run("a"), run("b")
	if again := run("a"); a == b || again != a { // the function answers with the ID of its process
		t.Errorf("the tenants a, b, a ran in the processes %s, %s, %s", a, b, again)
	}
	create(t, c, "G", "echo 1")
	_, err = c.Invoke(t.Context(), &awslambda.InvokeInput{FunctionName: sdk.String("G"), TenantId: sdk.String("a")})
	if got := refused(t, err); !strings.Contains(got, "is not enabled with tenancy configuration") {
		t.Error(got)
	}
}
