package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/cmd/stepback/exit"
	"stepback/local"
)

// What was deployed is listed, described and drawn while a process serves the directory and afterwards.
func TestDeployedAlarmsAndDashboards(t *testing.T) {
	t.Parallel()
	data, drawn := t.TempDir(), t.TempDir()
	stepback(t, "alarms", "--data", data).complains(t, exit.Failure, "there are no alarms and dashboards in "+data)
	p, err := local.Open(t.Context(), local.Config{Dir: data})
	if err != nil {
		t.Fatal(err)
	}
	c := cloudwatch.New(cloudwatch.Options{Region: "us-east-1", BaseEndpoint: &p.Endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("000000000000", "s", "")})
	if _, err := c.PutMetricData(t.Context(), &cloudwatch.PutMetricDataInput{Namespace: aws.String("Shop"), MetricData: []types.MetricDatum{
		{MetricName: aws.String("Sold"), Value: aws.Float64(7), Timestamp: aws.Time(time.Now().Add(-time.Minute))}}}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"late", "sold-out"} {
		if _, err := c.PutMetricAlarm(t.Context(), &cloudwatch.PutMetricAlarmInput{AlarmName: &name, Namespace: aws.String("Shop"),
			MetricName: aws.String("Left"), Statistic: types.StatisticSum, Period: aws.Int32(60), EvaluationPeriods: aws.Int32(1),
			Threshold: aws.Float64(1e6), ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold, TreatMissingData: aws.String("ignore")}); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.SetAlarmState(t.Context(), &cloudwatch.SetAlarmStateInput{AlarmName: aws.String("sold-out"), StateValue: types.StateValueAlarm,
		StateReason: aws.String("nothing is left")}); err != nil {
		t.Error(err)
	}
	if _, err := c.PutDashboard(t.Context(), &cloudwatch.PutDashboardInput{DashboardName: aws.String("Shop"), DashboardBody: aws.String(
		`{"widgets":[{"type":"metric","properties":{"title":"Sales","stat":"Sum","period":60,"metrics":[["Shop","Sold"]]}},{"type":"explorer"}]}`)}); err != nil {
		t.Error(err)
	}
	svg := filepath.Join(drawn, "shop.svg")
	ask := func() {
		stepback(t, "dashboard", "list", "--data", data).ends(t, exit.OK, "Shop")
		stepback(t, "dashboard", "render", "--data", data, "--name", "None").complains(t, exit.Failure, "dashboard None: ")
		stepback(t, "dashboard", "render", "--data", data, "--name", "Shop", "-o", svg).ends(t, exit.OK, svg)
		if text, err := os.ReadFile(svg); err != nil || !strings.Contains(string(text), "Sold: 7</title>") || !strings.Contains(string(text), "not drawn: ") {
			t.Errorf("the dashboard lacks its data: %v", err)
		}
		stepback(t, "alarms", "--data", data, "--state", "OK").ends(t, exit.OK)
		listed := stepback(t, "alarms", "--data", data, "--json")
		var all []struct{ Name, State, Reason string }
		if err := json.Unmarshal([]byte(listed.out), &all); err != nil || listed.code != exit.Data || len(all) != 2 ||
			all[0].Name != "sold-out" || all[0].State != "ALARM" || all[0].Reason != "nothing is left" {
			t.Errorf("%d %s %v", listed.code, listed.out, err)
		}
		stepback(t, "alarms", "sold-out", "--data", data).ends(t, exit.OK, "Sum of Shop Left > 1e+06, 1 of 1 periods of 1m",
			"nothing is left", "Alarm updated from INSUFFICIENT_DATA to ALARM")
		stepback(t, "alarms", "none", "--data", data).complains(t, exit.Usage, "there is no alarm none")
	}
	ask()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	ask()
}
