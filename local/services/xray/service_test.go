package xray_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/xray"
	"github.com/aws/aws-sdk-go-v2/service/xray/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	vocabulary "stepback/aws"
	"stepback/aws/loopback"
	"stepback/local/services/documents"
	"stepback/local/services/xray"
)

// at is when the traces in the tests start: 0x6922c600.
var at = time.Unix(0x6922c600, 0).UTC()

// bench is a service over an in-memory disk with an AWS client for it.
type bench struct {
	*client.Client
	service *xray.Service
	t       *testing.T
	disk    *vfs.MemFS
	store   *documents.Store
	now     time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, disk: vfs.NewCrashableMem(), now: at.Add(time.Minute)}
	b.open()
	t.Cleanup(func() { _ = b.store.Close() })
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.store, err = documents.Open("/documents", b.disk); err != nil {
		b.t.Fatal(err)
	}
	s := xray.New(xray.Options{Store: b.store, Now: func() time.Time { return b.now }})
	b.service = s
	b.Client = client.New(
		client.Options{Region: "us-east-1", BaseEndpoint: aws.String("http://xray"), Retryer: aws.NopRetryer{},
			HTTPClient: loopback.Client(
				s.Handler(),
			), Credentials: credentials.NewStaticCredentialsProvider("test", "s", "")},
	)
}

func (b *bench) put(documents ...string) []types.UnprocessedTraceSegment {
	b.t.Helper()
	out, err := b.PutTraceSegments(b.t.Context(), &client.PutTraceSegmentsInput{TraceSegmentDocuments: documents})
	if err != nil {
		b.t.Fatal(err)
	}
	return out.UnprocessedTraceSegments
}

const (
	first  = "1-6922c600-aaaaaaaaaaaaaaaaaaaaaaaa"
	second = "1-6922c60a-bbbbbbbbbbbbbbbbbbbbbbbb"
)

// call is a trace in which a front end calls an order service, which fails.
var call = []string{
	`{"trace_id":"` + first + `","id":"1111111111111111","name":"front","origin":"AWS::EC2::Instance","start_time":1763886592,"end_time":1763886594,
	 "http":{"request":{"method":"GET","url":"http://shop/orders"},"response":{"status":502}},"error":true,"annotations":{"tenant":"t1","size":3},
	 "subsegments":[{"id":"1111111111111112","name":"orders","namespace":"remote","start_time":1763886592.5,"end_time":1763886593.5}]}`,
	`{"trace_id":"` + first + `","id":"2222222222222222","parent_id":"1111111111111112","name":"orders","start_time":1763886592.6,"end_time":1763886593.1,"fault":true}`,
}

func TestTracesAreFoundAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if wrong := b.put(append(call, `{"trace_id":"`+second+`","id":"3333333333333333","name":"front","origin":"AWS::EC2::Instance","start_time":1763886602,"end_time":1763886602.25}`)...); len(
		wrong,
	) != 0 {
		t.Fatalf("%v", wrong)
	}
	b.disk = b.disk.CrashClone(vfs.CrashCloneCfg{})
	_ = b.store.Close()
	b.open()
	for filter, want := range map[string]string{
		"": first + " " + second, "fault": first, "ok": second, "!fault": second, `service("orders")`: first,
		`annotation.tenant = "t1"`: first, "annotation[size] > 3": "", "http.status = 502 AND responsetime >= 2": first,
		`http.url CONTAINS "orders" AND error`: first, "duration < 1": second,
	} {
		out, err := b.GetTraceSummaries(
			t.Context(),
			&client.GetTraceSummariesInput{StartTime: &at, EndTime: aws.Time(at.Add(time.Hour)),
				FilterExpression: &filter},
		)
		if err != nil {
			t.Fatal(filter, err)
		}
		var ids []string
		for _, s := range out.TraceSummaries {
			ids = append(ids, *s.Id)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q finds %s, want %s", filter, got, want)
		}
	}
	out, err := b.GetTraceSummaries(
		t.Context(),
		&client.GetTraceSummariesInput{StartTime: &at, EndTime: aws.Time(at.Add(time.Second))},
	)
	if err != nil || len(out.TraceSummaries) != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	s := out.TraceSummaries[0]
	if *s.Duration != 2 || *s.ResponseTime != 2 || !*s.HasFault || !*s.HasError || *s.HasThrottle || *s.IsPartial ||
		*s.Http.HttpStatus != 502 ||
		*s.EntryPoint.Name != "front" ||
		len(s.ServiceIds) != 2 ||
		len(s.Annotations["tenant"]) != 1 {
		t.Errorf("%+v", s)
	}
	traces, err := b.BatchGetTraces(
		t.Context(),
		&client.BatchGetTracesInput{TraceIds: []string{first, "1-00000000-000000000000000000000000"}},
	)
	if err != nil || len(traces.Traces) != 1 || len(traces.Traces[0].Segments) != 2 ||
		*traces.Traces[0].Segments[0].Document != call[0] {
		t.Errorf("%+v, %v", traces, err)
	}
	_, err = b.GetTraceSummaries(
		t.Context(),
		&client.GetTraceSummariesInput{
			StartTime:        &at,
			EndTime:          &at,
			FilterExpression: aws.String("rootcause.fault.service"),
		},
	)
	var refused smithy.APIError
	if !errors.As(err, &refused) || refused.ErrorCode() != "InvalidRequestException" {
		t.Errorf("%v", err)
	}
}

func TestTheGraphOfServices(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(call...)
	out, err := b.GetServiceGraph(
		t.Context(),
		&client.GetServiceGraphInput{StartTime: &at, EndTime: aws.Time(at.Add(time.Minute))},
	)
	if err != nil || len(out.Services) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	front, orders := out.Services[0], out.Services[1]
	if !*front.Root || len(front.Edges) != 1 || *front.Edges[0].ReferenceId != *orders.ReferenceId ||
		*front.SummaryStatistics.ErrorStatistics.OtherCount != 1 || *orders.Root || *orders.SummaryStatistics.FaultStatistics.TotalCount != 1 {
		t.Errorf("%+v and %+v", front, orders)
	}
	same, err := b.GetTraceGraph(t.Context(), &client.GetTraceGraphInput{TraceIds: []string{first}})
	if err != nil || len(same.Services) != 2 {
		t.Errorf("%+v, %v", same, err)
	}
}

func TestSegmentsThatCannotBe(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	wrong := b.put(
		`{`,
		`{"trace_id":"`+first+`","name":"a","start_time":1}`,
		`{"trace_id":"x","id":"1111111111111111","name":"a","start_time":1,"end_time":2}`,
		`{"trace_id":"`+first+`","id":"1111111111111111","name":"a","start_time":1}`,
	)
	var codes []string
	for _, w := range wrong {
		codes = append(codes, *w.ErrorCode)
	}
	if got := strings.Join(codes, " "); got != "ParseError MissingId InvalidTraceId MissingEndTime" {
		t.Error(got)
	}
}

func TestSamplingRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	rule := &types.SamplingRule{
		RuleName:      aws.String("orders"),
		ResourceARN:   aws.String("*"),
		Priority:      aws.Int32(5),
		FixedRate:     0.5,
		ReservoirSize: 3,
		ServiceName: aws.String(
			"orders",
		),
		ServiceType: aws.String("*"),
		Host:        aws.String("*"),
		HTTPMethod:  aws.String("*"),
		URLPath:     aws.String("*"),
		Version:     aws.Int32(1),
	}
	if _, err := b.CreateSamplingRule(ctx, &client.CreateSamplingRuleInput{SamplingRule: rule}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateSamplingRule(ctx, &client.CreateSamplingRuleInput{SamplingRule: rule}); err == nil {
		t.Error("a rule is made twice")
	}
	update := &types.SamplingRuleUpdate{RuleName: rule.RuleName, FixedRate: aws.Float64(0.25)}
	if _, err := b.UpdateSamplingRule(ctx, &client.UpdateSamplingRuleInput{SamplingRuleUpdate: update}); err != nil {
		t.Fatal(err)
	}
	out, err := b.GetSamplingTargets(
		ctx,
		&client.GetSamplingTargetsInput{SamplingStatisticsDocuments: []types.SamplingStatisticsDocument{
			{
				RuleName:     rule.RuleName,
				ClientID:     aws.String("aaaaaaaaaaaaaaaaaaaaaaaa"),
				Timestamp:    &at,
				RequestCount: 5,
			},
			{RuleName: aws.String("nothing"), ClientID: aws.String("aaaaaaaaaaaaaaaaaaaaaaaa"), Timestamp: &at}}},
	)
	if err != nil || len(out.SamplingTargetDocuments) != 1 || out.SamplingTargetDocuments[0].FixedRate != 0.25 ||
		*out.SamplingTargetDocuments[0].ReservoirQuota != 3 || len(out.UnprocessedStatistics) != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := b.DeleteSamplingRule(ctx, &client.DeleteSamplingRuleInput{RuleName: rule.RuleName}); err != nil {
		t.Fatal(err)
	}
	rules, err := b.GetSamplingRules(ctx, &client.GetSamplingRulesInput{})
	if err != nil || len(rules.SamplingRuleRecords) != 1 ||
		*rules.SamplingRuleRecords[0].SamplingRule.RuleName != "Default" {
		t.Errorf("%+v, %v", rules, err)
	}
}

// The reservoir of the first matching rule samples traces, and is refilled every second.
func TestRulesDecideWhatIsTraced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	rule := func(name, service, kind string, reservoir int32) {
		t.Helper()
		in := &types.SamplingRule{RuleName: &name, ServiceName: &service, ServiceType: &kind, ResourceARN: aws.String("*"), Host: aws.String("*"),
			HTTPMethod: aws.String("*"), URLPath: aws.String("*"), Priority: aws.Int32(1), FixedRate: 0,
			ReservoirSize: reservoir, Version: aws.Int32(1)}
		if _, err := b.CreateSamplingRule(t.Context(), &client.CreateSamplingRuleInput{SamplingRule: in}); err != nil {
			t.Fatal(err)
		}
	}
	scope := vocabulary.Scope{Account: "000000000000", Region: "us-east-1"}
	sampled := func(name string) (n int) {
		for range 10 {
			if b.service.Sample(scope, xray.Traced{Name: name, Type: "AWS::Lambda::Function", ARN: "arn:aws:lambda:x"}) {
				n++
			}
		}
		return n
	}
	if n := sampled("orders"); n == 0 {
		t.Error("the default rule lets nothing through")
	}
	rule("orders", "ord*", "AWS::Lambda::Function", 3)
	rule("none", "quiet", "*", 0)
	for range 2 {
		b.now = b.now.Add(time.Second)
		if n := sampled("orders"); n != 3 {
			t.Errorf("a reservoir of 3 lets %d of 10 through", n)
		}
	}
	if n := sampled("quiet"); n != 0 {
		t.Errorf("a reservoir of 0 without a rate lets %d through", n)
	}
}

func TestOldTracesAreForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(call...)
	b.now = at.Add(31 * 24 * time.Hour)
	b.put(
		`{"trace_id":"1-694b9d00-cccccccccccccccccccccccc","id":"4444444444444444","name":"late","start_time":1,"end_time":2}`,
	)
	traces, err := b.BatchGetTraces(
		t.Context(),
		&client.BatchGetTracesInput{TraceIds: []string{first, "1-694b9d00-cccccccccccccccccccccccc"}},
	)
	if err != nil || len(traces.Traces) != 1 {
		t.Errorf("%+v, %v", traces, err)
	}
}
