package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/aws/client"
	"stepback/local"
)

// everything is a dashboard with every kind of widget. Its links lead to the AWS Management Console.
const everything = `{"start":"-PT3H","periodOverride":"inherit","widgets":[
{"type":"text","width":24,"height":2,"properties":{"markdown":"# Orders of [M](https://us-east-1.console.aws.amazon.com/states/home?region=us-east-1#/statemachines/view/arn:aws:states:us-east-1:000000000000:stateMachine:orders)\n### Read the [runbook](https://console.aws.amazon.com/cloudwatch/home?region=us-east-1#dashboards:name=Run%20book) <script>alert(1)</script>\n\n| a | b |\n|---|--:|\n| 1 | 2 |"}},
{"type":"metric","y":2,"width":8,"height":6,"properties":{"title":"Sold <b>","stat":"Sum","period":60,"region":"us-east-1","metrics":[["App","Sold","Kind","a"],[".","Sold","Kind","b",{"yAxis":"right"}],[{"expression":"SUM(METRICS())","label":"all"}],[{"expression":"SEARCH('{App,Kind} Sold', 'Sum', 60)"}]],"annotations":{"horizontal":[{"value":3,"label":"limit","fill":"above"}],"vertical":[{"value":"2026-11-22T10:02:00Z","label":"deployed"}]}}},
{"type":"metric","x":8,"y":2,"width":8,"height":6,"properties":{"view":"singleValue","title":"Number","stat":"p90","period":60,"setPeriodToTimeRange":true,"metrics":[["App","Sold","Kind","a"]]}},
{"type":"metric","x":16,"y":2,"width":8,"height":6,"properties":{"view":"gauge","title":"Gauge","yAxis":{"left":{"min":0,"max":10}},"metrics":[["App","Sold","Kind","a"]]}},
{"type":"metric","y":8,"width":8,"height":6,"properties":{"view":"pie","title":"Pie","metrics":[["App","Sold","Kind","a"],["App","Sold","Kind","b"]]}},
{"type":"metric","x":8,"y":8,"width":8,"height":6,"properties":{"view":"bar","title":"Bar","metrics":[["App","Sold","Kind","a"],["App","Sold","Kind","b"]]}},
{"type":"metric","x":16,"y":8,"width":8,"height":6,"properties":{"view":"table","title":"Table","metrics":[["App","Sold","Kind","a"]]}},
{"type":"alarm","y":14,"width":8,"height":3,"properties":{"title":"Its alarms","alarms":["arn:aws:cloudwatch:us-east-1:000000000000:alarm:failed-orders","arn:aws:cloudwatch:us-east-1:000000000000:alarm:none"]}},
{"type":"metric","x":8,"y":14,"width":8,"height":6,"properties":{"annotations":{"alarms":["arn:aws:cloudwatch:us-east-1:000000000000:alarm:failed-orders"]}}},
{"type":"log","x":16,"y":14,"width":8,"height":6,"properties":{"title":"Log","query":"SOURCE '/none' | fields @message"}},
{"type":"custom","y":20,"properties":{"title":"Own"}}]}`

const topicARN = "arn:aws:sns:us-east-1:000000000000:pages"

// monitored deploys a dashboard, alarms and a stack with a dashboard onto a bed, and puts metric data.
func monitored(b *bed) *cloudwatch.Client {
	b.t.Helper()
	must := func(err error) {
		b.t.Helper()
		if err != nil {
			b.t.Fatal(err)
		}
	}
	ctx := b.t.Context()
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &b.Endpoint, Credentials: credentials.NewStaticCredentialsProvider("000000000000", "s", "")}
	c := cloudwatch.NewFromConfig(cfg)
	for i := range 6 {
		for _, kind := range []string{"a", "b"} {
			_, err := c.PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String("App"), MetricData: []types.MetricDatum{{
				MetricName: aws.String("Sold"), Value: aws.Float64(float64(i)), Timestamp: aws.Time(time.Now().Add(-time.Duration(i) * time.Minute)),
				Dimensions: []types.Dimension{{Name: aws.String("Kind"), Value: aws.String(kind)}}}}})
			must(err)
		}
	}
	sns, err := client.NewNamed(ctx, cfg, "sns")
	must(err)
	must(sns.Call(ctx, "CreateTopic", map[string]any{"Name": "pages"}, nil))
	_, err = c.PutMetricAlarm(ctx, &cloudwatch.PutMetricAlarmInput{AlarmName: aws.String("failed-orders"), Namespace: aws.String("AWS/States"),
		MetricName: aws.String("ExecutionsFailed"), Dimensions: []types.Dimension{{Name: aws.String("StateMachineArn"), Value: aws.String(machineARN + "maps")}},
		Statistic: types.StatisticSum, Period: aws.Int32(300), EvaluationPeriods: aws.Int32(3),
		Threshold:          aws.Float64(0),
		ComparisonOperator: types.ComparisonOperatorGreaterThanThreshold, AlarmActions: []string{topicARN},
		TreatMissingData: aws.String("ignore"), // the state that a test sets stays
		AlarmDescription: aws.String("See https://us-east-1.console.aws.amazon.com/cloudwatch/home?region=us-east-1#alarmsV2:alarm/any.")})
	must(err)
	_, err = c.PutCompositeAlarm(ctx, &cloudwatch.PutCompositeAlarmInput{AlarmName: aws.String("any"), AlarmRule: aws.String(`ALARM("failed-orders")`)})
	must(err)
	_, err = c.PutDashboard(ctx, &cloudwatch.PutDashboardInput{DashboardName: aws.String("Everything"), DashboardBody: aws.String(everything)})
	must(err)
	stacks, err := client.NewNamed(ctx, cfg, "cloudformation")
	must(err)
	must(stacks.Call(ctx, "CreateStack", map[string]any{"StackName": "shop", "TemplateBody": `{"Resources":{
"Board":{"Type":"AWS::CloudWatch::Dashboard","Properties":{"DashboardName":"Board","DashboardBody":"{\"widgets\":[]}"}},
"Jobs":{"Type":"AWS::SQS::Queue","Properties":{"QueueName":"jobs"}},
"Late":{"Type":"AWS::CloudWatch::Alarm","Properties":{"AlarmName":"late","Namespace":"AWS/SQS","MetricName":"ApproximateAgeOfOldestMessage","Statistic":"Maximum","Period":60,"EvaluationPeriods":1,"Threshold":60,"ComparisonOperator":"GreaterThanThreshold"}},
"Flow":{"Type":"AWS::StepFunctions::StateMachine","Properties":{"StateMachineName":"flow","RoleArn":"arn:aws:iam::000000000000:role/r","DefinitionString":"{\"StartAt\":\"A\",\"States\":{\"A\":{\"Type\":\"Succeed\"}}}"}}},
"Outputs":{"Where":{"Value":"https://console.aws.amazon.com/cloudwatch/home#dashboards/dashboard/Board"}}}`}, nil))
	for b.t.Context().Err() == nil {
		var out struct {
			Stacks []struct{ StackStatus string }
		}
		must(stacks.Call(ctx, "DescribeStacks", map[string]any{"StackName": "shop"}, &out))
		if out.Stacks[0].StackStatus == "CREATE_COMPLETE" {
			break
		}
		if strings.Contains(out.Stacks[0].StackStatus, "ROLLBACK") {
			b.t.Fatalf("the stack: %+v", out)
		}
	}
	return c
}

// monitoringScreens are the pages of dashboards, alarms and stacks on a monitored bed.
func monitoringScreens() []string {
	return []string{"dashboards", "dashboards/Everything", "dashboards/Everything?range=1w", "alarms", "alarms/failed-orders", "alarms/any",
		"stacks/shop", "services/cloudformation"}
}

func inState(t *testing.T, c *cloudwatch.Client, name string, state types.StateValue) {
	t.Helper()
	if _, err := c.SetAlarmState(t.Context(), &cloudwatch.SetAlarmStateInput{AlarmName: &name, StateValue: state,
		StateReason: aws.String("three of them failed")}); err != nil {
		t.Fatal(err)
	}
}

func TestDashboards(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	monitored(b)
	if list := b.page("dashboards"); !strings.Contains(list, `href="/_stepback/dashboards/Everything"`) {
		t.Error("the dashboard is not listed")
	}
	page := b.page("dashboards/Everything")
	for _, want := range []string{`<h2>Orders of <a href="/_stepback/machines/orders">M</a></h2>`, `<a href="/_stepback/dashboards/Run%20book">runbook</a>`,
		`class="zoom" data-from="`, ">Sold &lt;b&gt;</text>", ">limit</text>", "all: ", ">Gauge</text>", ">Pie</text>", ">Bar</text>", ">latest</text>",
		`<a href="/_stepback/alarms/failed-orders">failed-orders</a>`, `<span class="tag s-missing">missing</span>`, "not drawn: ", "a custom widget",
		`aria-current="true">as the data</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	// The page is complete in itself under the content security policy.
	for _, not := range []string{"<script>alert", " style=", "<style", "console.aws.amazon.com"} {
		if strings.Contains(page, not) {
			t.Errorf("%q is on the page", not)
		}
	}
	for _, query := range []string{"?range=15mo", "?from=2026-11-22T10:00&to=2026-11-22T11:00:30"} {
		b.page("dashboards/Everything" + query)
	}
	for path, status := range map[string]int{"dashboards/None": http.StatusNotFound, "alarms/None": http.StatusNotFound, "stacks/none": http.StatusNotFound,
		"dashboards/Everything?range=never": http.StatusBadRequest, "dashboards/Everything?from=2026&to=2027": http.StatusBadRequest,
		"dashboards/Everything?from=2026-11-22T11:00&to=2026-11-22T10:00": http.StatusBadRequest} {
		if got := b.ask("GET", "/_stepback/"+path, ""); got.status != status {
			t.Errorf("%s: %d, want %d", path, got.status, status)
		}
	}
}

// Every deployed alarm in ALARM is on the first page, and stepback's own alarm on the same failures is not, until the
// deployed one is OK.
func TestDeployedAlarms(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	c := monitored(b)
	const own = `<span class="tag s-alarm">executions-failed</span></td><td><a href="/_stepback/retries/maps">`
	inState(t, c, "failed-orders", types.StateValueOk)
	for _, path := range []string{"", "alarms"} {
		if page := b.page(path); !strings.Contains(page, own) || !strings.Contains(page, `<a href="/_stepback/alarms/failed-orders">failed-orders</a> watches this, too, and is OK`) {
			t.Errorf("%q: stepback's own judgement is missing beside a deployed alarm that is OK", path)
		}
	}
	inState(t, c, "failed-orders", types.StateValueAlarm)
	inState(t, c, "any", types.StateValueAlarm)
	first := b.page("")
	for _, want := range []string{`<a href="/_stepback/alarms/failed-orders">failed-orders</a>`, `<a href="/_stepback/alarms/any">any</a>`,
		"three of them failed", "Something needs attention"} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is not on the first page", want)
		}
	}
	for _, path := range []string{"", "alarms", "retries"} {
		if strings.Contains(b.page(path), own) {
			t.Errorf("%q: the same failures are reported twice", path)
		}
	}
	page := b.page("alarms/failed-orders")
	for _, want := range []string{`<span class="tag s-alarm">ALARM</span>`, "Sum of AWS/States ExecutionsFailed &gt; 0, 3 of 3 periods of 5m",
		`<a href="/_stepback/alarms/any">alarms/any</a>`, "in the rule of", topicARN, "Alarm updated from OK to ALARM", ">failed-orders</text>"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the alarm's page", want)
		}
	}
	if page := b.page("alarms/any"); !strings.Contains(page, `<a href="/_stepback/alarms/failed-orders">`) || !strings.Contains(page, "ALARM(&#34;failed-orders&#34;)") {
		t.Error("the composite alarm's page lacks its children or its rule")
	}
	if page := b.page("alarms?state=OK"); strings.Contains(page, ">failed-orders</a></td>") {
		t.Error("the filter by state has no effect")
	}
}

// TestDeployedAlarmsInPages: the list of alarms has pages, with the filter kept.
func TestDeployedAlarmsInPages(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	monitored(b)
	var seen []string
	for from := ""; ; {
		var v struct {
			Deployed []struct{ Name string }
			Matching int
			Next     string
		}
		got := b.ask("GET", "/_stepback/alarms?format=json&size=1&from="+from, "")
		if err := json.Unmarshal([]byte(got.body), &v); err != nil {
			t.Fatal(err, got.body)
		}
		if len(v.Deployed) != 1 {
			t.Fatalf("page %q has %d alarms", from, len(v.Deployed))
		}
		seen = append(seen, v.Deployed[0].Name)
		if from = v.Next; from == "" {
			if slices.Sort(seen); len(slices.Compact(seen)) != v.Matching || v.Matching < 3 {
				t.Errorf("the pages show %q of %d alarms", seen, v.Matching)
			}
			break
		}
	}
	if page := b.page("alarms?size=1&name=a"); !strings.Contains(page, `href="/_stepback/alarms?from=1&amp;name=a&amp;size=1" rel="next"`) {
		t.Error("the first page does not lead to the next one")
	}
	if page := b.page("alarms?size=1&from=1000"); !strings.Contains(page, ">first</a>") {
		t.Error("a page behind the last one does not lead to the first")
	}
}

// A stack's page leads to its dashboards, alarms, state machines and queues.
func TestStack(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	monitored(b)
	page := b.page("stacks/shop")
	for _, want := range []string{`href="/_stepback/dashboards/Board"`, `href="/_stepback/alarms/late"`, `href="/_stepback/machines/flow"`,
		`<a href="/_stepback/services/sqs">jobs</a>`, "CREATE_COMPLETE", `<a href="/_stepback/dashboards/Board">dashboards/Board</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the stack's page", want)
		}
	}
	if list := b.page("services/cloudformation"); !strings.Contains(list, `<a href="/_stepback/stacks/shop">shop</a>`) {
		t.Error("the list of stacks does not lead to the stack")
	}
}

// A page of alarms is notified regularly, because an alarm can change without an execution.
func TestPagesWithMetricsAreRefreshed(t *testing.T) {
	t.Parallel()
	b := newBed(t, local.Console{})
	monitored(b)
	for path, want := range map[string]string{"": "every=15", "alarms": "every=15&amp;of=none", "dashboards/Everything": "every=15&amp;of=none"} {
		_, stream, _ := strings.Cut(b.page(path), `data-stream="`)
		if stream, _, _ = strings.Cut(stream, `"`); stream != "/_stepback/stream?"+want {
			t.Errorf("%q listens to %s", path, stream)
		}
	}
	fixed := b.page("dashboards/Everything?from=" + url.QueryEscape("2026-11-22T10:00:00") + "&to=2026-11-22T11:00:00")
	if strings.Contains(fixed, "data-stream") {
		t.Error("a page of a fixed range listens to changes")
	}
}
