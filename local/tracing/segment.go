package tracing

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/timeline"
	"stepback/local/services/lambda/runner"
	"stepback/local/services/xray"
)

// segment is a segment or subsegment in the format of X-Ray's documents.
type segment struct {
	Name        string         `json:"name"`
	ID          string         `json:"id"`
	TraceID     string         `json:"trace_id,omitempty"`
	ParentID    string         `json:"parent_id,omitempty"`
	Type        string         `json:"type,omitempty"`
	Start       float64        `json:"start_time"`
	End         float64        `json:"end_time"`
	Origin      string         `json:"origin,omitempty"`
	Namespace   string         `json:"namespace,omitempty"`
	ResourceARN string         `json:"resource_arn,omitempty"`
	Error       bool           `json:"error,omitempty"`
	Fault       bool           `json:"fault,omitempty"`
	Throttle    bool           `json:"throttle,omitempty"`
	HTTP        *answered      `json:"http,omitempty"`
	AWS         map[string]any `json:"aws,omitempty"`
	Cause       *cause         `json:"cause,omitempty"`
	Subsegments []*segment     `json:"subsegments,omitempty"`
}

type answered struct {
	Response struct {
		Status int `json:"status"`
	} `json:"response"`
}

func status(code int) *answered {
	a := &answered{}
	a.Response.Status = code
	return a
}

// cause names errors. Their messages may be secret and are left out.
type cause struct {
	Exceptions []exception `json:"exceptions"`
}

type exception struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

func causeOf(f history.Failure) *cause {
	if !f.HasName() {
		return nil
	}
	return &cause{[]exception{{aws.NewSegmentID(), f.Name}}}
}

// The origins of segments. AWS documents none for durable executions; durableType is stepback's own.
const (
	MachineType  = "AWS::StepFunctions::StateMachine"
	FunctionType = "AWS::Lambda::Function"
	lambdaType   = "AWS::Lambda"
	durableType  = "AWS::Lambda::DurableExecution"
)

// maxDocument is the maximum size of a document; X-Ray allows 64 KiB. maxExecution is the maximum size of all
// documents of one execution.
const (
	maxDocument  = 60 << 10
	maxExecution = 500 << 10
)

// Execution returns the documents of an ended execution; none if its trace is not recorded. called returns the
// segment that the tasks of a state's attempt propagated, if known.
func Execution(x *journal.Execution, events []history.Event, called func(state string, attempt int64) string) [][]byte {
	trace, ok := aws.ParseTrace(x.TraceHeader)
	if !ok || !trace.Sampled {
		return nil
	}
	ended := func(at time.Time) float64 {
		if at.IsZero() {
			at = x.Stop
		}
		return xray.Seconds(at)
	}
	arn, _ := aws.ParseARN(x.MachineARN)
	root := &segment{
		Name: strings.TrimPrefix(arn.Resource, "stateMachine:"), ID: SegmentID(x.ARN, ""), TraceID: trace.Root,
		ParentID: trace.Parent, Start: xray.Seconds(x.Start), End: ended(x.Stop), Origin: MachineType,
		ResourceARN: x.MachineARN, HTTP: status(200),
		AWS:   map[string]any{"account_id": arn.Account, "execution_arn": x.ARN},
		Fault: x.Status == history.Failed || x.Status == history.TimedOut, Error: x.Status == history.Aborted,
		Cause: causeOf(x.Failure),
	}
	if durable.IsARN(x.ARN) {
		root.Name, root.Origin = strings.TrimPrefix(arn.Resource, "function:"), durableType
	}
	made := map[*timeline.Visit]*segment{}
	services := scheduled(events)
	for _, v := range timeline.Read(events).Visits {
		s := &segment{Name: v.State, ID: idOf(x.ARN, "visit", v.Entry), Start: xray.Seconds(v.Entered), End: ended(v.Left),
			Fault: v.Outcome.Bad(), Cause: causeOf(v.Failure)}
		if v.Operation != "" {
			s.ID, s.AWS = SegmentID(x.ARN, v.Operation), map[string]any{"operation": v.Type}
			if v.State == v.Operation { // it has no name
				s.Name = cmp.Or(v.SubType, v.Type)
			}
		}
		made[v] = s
		above := root
		if v.Parent != nil {
			above = made[v.Parent]
		}
		above.Subsegments = append(above.Subsegments, s)
		for i := range v.Attempts {
			a := &v.Attempts[i]
			of, isCall := services[a.First]
			if !isCall {
				continue // one run of branches or iterations, which have their own segments
			}
			if v.Operation != "" {
				s.Subsegments = append(s.Subsegments, attemptOf(x.ARN, a, ended))
				continue
			}
			one := &segment{Name: of.service, ID: called(v.State, int64(a.Number-1)), Namespace: "aws",
				Start: xray.Seconds(a.Scheduled), End: ended(a.Ended), Fault: a.Outcome.Bad(),
				Cause: causeOf(a.Failure), AWS: map[string]any{"operation": of.action, "retries": a.Number - 1}}
			if one.ID == "" {
				one.ID = idOf(x.ARN, "attempt", a.First)
			}
			s.Subsegments = append(s.Subsegments, one)
		}
	}
	var documents [][]byte
	split(root, maxExecution, &documents)
	return documents
}

// attemptOf returns the segment of an attempt of a step of a durable execution.
func attemptOf(arn string, a *timeline.Attempt, ended func(time.Time) float64) *segment {
	return &segment{Name: "Attempt #" + strconv.Itoa(a.Number), ID: idOf(arn, "attempt", a.First),
		Start: xray.Seconds(a.Scheduled), End: ended(a.Ended), Fault: a.Outcome.Bad(),
		Error: a.Outcome == timeline.Aborted,
		Cause: causeOf(a.Failure), AWS: map[string]any{"retries": a.Number - 1}}
}

// SegmentID returns the ID of the segment of an execution or, if operation is not empty, of an operation of a durable
// execution. It is known before the segment is sent, so that other segments can be below it.
func SegmentID(execution, operation string) string {
	if operation == "" {
		return idOf(execution, "", 0)
	}
	return idOf(execution, "operation "+operation, 0)
}

// idOf returns the ID of a segment of an execution. It is always the same, so that the segments of a redriven
// execution replace the earlier ones.
func idOf(arn, of string, event int64) string {
	const bytes = 8
	sum := sha256.Sum256([]byte(arn + " " + of + strconv.FormatInt(event, 10)))
	return hex.EncodeToString(sum[:bytes])
}

// called is the target of a task.
type called struct{ service, action string }

// scheduled returns the targets of an execution's tasks, keyed by the ID of the task's first event.
func scheduled(events []history.Event) map[int64]called {
	all := map[int64]called{}
	for i := range events {
		e := &events[i]
		if e.Type.Step() != history.StepScheduled {
			continue
		}
		switch e.Type.Task() {
		case history.LambdaFunction:
			all[e.ID] = called{"Lambda", "Invoke"}
		case history.Activity:
			all[e.ID] = called{"Activity", "Schedule"}
		default:
			of := called{"Task", ""}
			if e.More != nil {
				of = calledBy(e.More.ResourceType, e.More.Resource)
			}
			all[e.ID] = of
		}
	}
	return all
}

// services maps Step Functions' service names to the names that X-Ray shows, where they differ.
var services = map[string]string{"lambda": "Lambda", "dynamodb": "DynamoDB", "sns": "SNS", "sqs": "SQS",
	"states": "StepFunctions", "sfn": "StepFunctions", "events": "Events", "eventbridge": "Events", "s3": "S3"}

// calledBy returns the service and the action of an integration: lambda and invoke, aws-sdk:dynamodb and putItem.
func calledBy(service, action string) called {
	action, _, _ = strings.Cut(action, ".")
	service = strings.TrimPrefix(service, "aws-sdk:")
	if known := services[service]; known != "" {
		service = known
	}
	if action != "" {
		action = strings.ToUpper(action[:1]) + action[1:]
	}
	return called{service, action}
}

// split appends a segment with its subsegments to documents, as one document. If that document would be too long,
// split appends the subsegments as separate documents until room bytes are used up. It returns the remaining bytes.
func split(s *segment, room int, documents *[][]byte) int {
	text, err := json.Marshal(s)
	if err != nil {
		return room // a number that JSON cannot represent; times are never one
	}
	if len(text) <= maxDocument {
		if len(text) > room {
			return 0
		}
		*documents = append(*documents, text)
		return room - len(text)
	}
	inside := s.Subsegments
	s.Subsegments = nil
	room = split(s, room, documents)
	for _, one := range inside {
		one.Type, one.TraceID, one.ParentID = "subsegment", s.TraceID, s.ID
		if room = split(one, room, documents); room == 0 {
			break
		}
	}
	return room
}

// Invocation returns the documents of an invocation that ended at a given time; none if its trace is not recorded.
func Invocation(r *runner.Ran, at time.Time) [][]byte {
	if !r.Trace.Sampled {
		return nil
	}
	start, end := xray.Seconds(at.Add(-r.Took)), xray.Seconds(at)
	arn, _ := aws.ParseARN(r.ARN)
	service := &segment{Name: r.Function, ID: aws.NewSegmentID(), TraceID: r.Trace.Root, ParentID: r.Trace.Parent,
		Start: start, End: end, Origin: lambdaType, ResourceARN: r.ARN, HTTP: status(200),
		AWS: map[string]any{"request_id": r.RequestID, "account_id": arn.Account}}
	all := []*segment{service}
	if r.Throttled {
		service.Error, service.Throttle, service.HTTP = true, true, status(429)
	} else {
		all = append(all, &segment{Name: r.Function, ID: r.Segment, TraceID: r.Trace.Root, ParentID: service.ID,
			Start: start, End: end, Origin: FunctionType, ResourceARN: r.ARN, Fault: r.Failed,
			AWS:         map[string]any{"function_arn": r.ARN, "account_id": arn.Account},
			Subsegments: []*segment{{Name: "Invocation", ID: aws.NewSegmentID(), Start: start, End: end, Fault: r.Failed}}})
	}
	documents := make([][]byte, 0, len(all))
	for _, s := range all {
		if text, err := json.Marshal(s); err == nil {
			documents = append(documents, text)
		}
	}
	return documents
}
