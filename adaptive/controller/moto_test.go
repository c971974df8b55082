package controller_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"stepback/adaptive/configuration"
	"stepback/adaptive/configuration/dynamosource"
	"stepback/adaptive/controller"
	"stepback/aws/client"
	"stepback/aws/loopback"
	"stepback/engine/clock"
	"stepback/local/services/dynamodb"
	"stepback/retrymetrics"
	"stepback/tasks/mototest"
)

func TestRowsInEmbeddedDynamoDB(t *testing.T) {
	t.Parallel()
	c := clock.Real()
	t.Cleanup(c.Close)
	tables, err := dynamodb.Open(dynamodb.Options{Dir: t.TempDir() + "/dynamodb", Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tables.Close() })
	testRows(t, sdk.Config{Region: "us-east-1", BaseEndpoint: sdk.String(loopback.URL),
		HTTPClient: loopback.Client(tables.Handler()), Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
}

func testRows(t *testing.T, cfg sdk.Config) {
	t.Helper()
	c, err := client.NewNamed(t.Context(), cfg, "dynamodb")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), "CreateTable", map[string]any{
		"TableName": "retry_configurations", "BillingMode": "PAY_PER_REQUEST",
		"AttributeDefinitions": []any{map[string]string{"AttributeName": "state_machine", "AttributeType": "S"}},
		"KeySchema":            []any{map[string]string{"AttributeName": "state_machine", "KeyType": "HASH"}},
	}, nil); err != nil {
		t.Fatal(err)
	}
	rows := &controller.DynamoRows{Client: c, Table: "retry_configurations"}
	driveThroughStorm(t, rows)
	first, err := rows.Save(t.Context(), controller.Row{Machine: "m"})
	if err != nil || first.Version != 1 {
		t.Fatal(first, err)
	}
	if _, err := rows.Save(t.Context(),
		controller.Row{Machine: "m"}); err != controller.ErrConflict { //nolint:errorlint // it is that one
		t.Errorf("a row was written over: %v", err)
	}
	publishAndRead(t, c, awsdynamodb.NewFromConfig(cfg))
}

func TestAgainstMoto(t *testing.T) {
	t.Parallel()
	address := mototest.Start(t)
	if address == "" {
		t.Skip("moto_server is not installed")
	}
	login := credentials.NewStaticCredentialsProvider("test", "test", "")
	t.Run("rows in DynamoDB", func(t *testing.T) {
		t.Parallel()
		testRows(t, sdk.Config{Region: "us-east-1", BaseEndpoint: &address, Credentials: login})
	})
	t.Run("minutes of CloudWatch", func(t *testing.T) {
		t.Parallel()
		c := cloudwatch.New(cloudwatch.Options{Region: "us-east-1", BaseEndpoint: &address, Credentials: login})
		at := time.Now().UTC().Truncate(time.Minute).Add(-10 * time.Minute)
		for i, value := range []float64{5, 7, 2} {
			_, err := c.PutMetricData(
				t.Context(),
				&cloudwatch.PutMetricDataInput{
					Namespace: sdk.String(retrymetrics.Namespace),
					MetricData: []types.MetricDatum{{
						MetricName: sdk.String("TaskAttempts"), Value: sdk.Float64(value), Unit: types.StandardUnitCount,
						Timestamp: sdk.Time(at.Add(time.Duration(i/2) * time.Minute)),
						Dimensions: []types.Dimension{
							{Name: sdk.String("StateMachine"), Value: sdk.String("saves")},
							{Name: sdk.String("State"), Value: sdk.String("Save")},
						},
					}},
				},
			)
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := controller.CloudWatch{Client: c}.Minutes(t.Context(), []retrymetrics.Series{
			retrymetrics.TaskFailures.In(retrymetrics.ByState, "saves", "Save"),
			retrymetrics.TaskAttempts.In(retrymetrics.ByState, "saves", "Save"),
		}, at.Add(-time.Hour), at.Add(5*time.Minute))
		if err != nil || len(got) != 2 || len(got[0]) != 0 || len(got[1]) != 2 || got[1][at] != 12 ||
			got[1][at.Add(time.Minute)] != 2 {
			t.Errorf("minutes are %v, %v; want none, and 12 and 2", got, err)
		}
	})
}

// publishAndRead checks that a function can read a configuration that the controller has written to the table with
// its own row.
func publishAndRead(t *testing.T, writer controller.Caller, reader dynamosource.Client) {
	t.Helper()
	source := dynamosource.Source{Client: reader, Table: "retry_configurations"}
	if c, err := source.Load(t.Context(), "saves"); c != nil || err != nil {
		t.Errorf("of nothing: %+v, %v", c, err)
	}
	until := time.Date(2126, 11, 22, 12, 0, 0, 0, time.UTC)
	err := controller.DynamoConfigurations{Client: writer, Table: "retry_configurations"}.Save(t.Context(),
		&configuration.Configuration{Version: configuration.Version, Machine: "saves", Until: until, Value: 0.001,
			States: map[string]configuration.State{"Save": {"Deadlock": {{Started: 30, Succeeded: 3, Cost: 1e-5}}}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := source.Load(t.Context(), "saves")
	if err != nil || c == nil || !c.Until.Equal(until) || c.States["Save"]["Deadlock"][0].Succeeded != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	// A row that was edited by hand.
	if err := writer.Call(t.Context(), "PutItem", map[string]any{"TableName": "retry_configurations",
		"Item": map[string]any{"state_machine": map[string]string{"S": "saves"}, "config": map[string]string{"S": "{"}},
	}, nil); err != nil {
		t.Fatal(err)
	}
	if c, err := source.Load(t.Context(), "saves"); c != nil || err == nil {
		t.Errorf("of a damaged row: %+v, %v", c, err)
	}
}
