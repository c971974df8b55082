package chaos_test

import (
	"strings"
	"testing"
	"time"

	"stepback/engine/clock"
	"stepback/local/chaos"
)

func set(t testing.TB) *chaos.Set {
	t.Helper()
	c := clock.Virtual(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
	t.Cleanup(c.Close)
	return chaos.New(c, []chaos.Service{{Model: "sqs", Signing: "sqs"}, {Model: "eventbridge", Signing: "events"},
		{Model: "dynamodb", Signing: "dynamodb"}, {Model: "s3", Signing: "s3"}, {Model: "sfn", Signing: "states"}})
}

func TestFaultsAreRead(t *testing.T) {
	t.Parallel()
	s := set(t)
	for text, want := range map[string]string{
		"sqs:SendMessage:throttle:10%": "sqs:SendMessage:throttle:0.1",
		"events:PutEvents:partial:0.5": "eventbridge:PutEvents:partial:0.5",
		//nolint:gocritic // spaces are allowed
		" sqs : Send* : hang : 1 ":                        "sqs:Send*:hang:1",
		"*:*:unavailable:1%":                              "*:*:unavailable:0.01",
		"sqs:*:latency:200ms":                             "sqs:*:latency:200ms",
		"sqs:*:latency:100ms-2s:50%":                      "sqs:*:latency:100ms-2s:0.5",
		"dynamodb:Put*:ConditionalCheckFailedException:1": "dynamodb:Put*:ConditionalCheckFailedException:1",
		"states:StartExecution:custom=Strange:1":          "sfn:StartExecution:custom=Strange:1",
		"sqs:SendMessage:InternalFailure:0":               "sqs:SendMessage:InternalFailure:0",
	} {
		added, err := s.Add([]chaos.Wanted{{Fault: text}})
		if err != nil || added[0].Fault != want {
			t.Errorf("%s: %v, %v, want %s", text, added, err, want)
			continue
		}
		if err := s.Check(added[0].Fault); err != nil {
			t.Errorf("%s: %v", added[0].Fault, err)
		}
	}
}

func TestFaultsThatAreWrongAreRefused(t *testing.T) {
	t.Parallel()
	s := set(t)
	for text, want := range map[string]string{
		"":                                    "1 parts separated by colons: a fault is SERVICE:ACTION:ERROR:RATE",
		"sqs:SendMessage:throttle":            "3 parts",
		"sqs::throttle:1":                     "its part 2 is empty",
		"sqss:SendMessage:throttle:1":         `there is no service "sqss": did you mean sqs?`,
		"sqs:SendMesage:throttle:1":           `there is no action of sqs "SendMesage": did you mean SendMessage?`,
		"sqs:SendMessage:throtle:1":           "did you mean throttle? (custom=throtle injects it anyway)",
		"sqs:SendMessage:QueueDoesNotExits:1": "did you mean QueueDoesNotExist?",
		"sqs:SendMessage:timeout:1":           "hang makes clients wait until they give up",
		"sqs:SendMessage:throttle:2":          `the rate "2"`,
		"sqs:SendMessage:partial:1":           "no action of sqs:SendMessage has a batch",
		"s3:DeleteObjects:partial:1":          "no action of s3:DeleteObjects has a batch",
		"sqs:*:latency:fast":                  `the latency "fast" is neither a time such as 200ms nor two`,
		"sqs:*:latency:2s-1s":                 "the latency",
		"sqs:*:latency:1h":                    "up to 15m0s",
		"x*:*:throttle:1":                     "no service is called x*; there are dynamodb, eventbridge, s3, sfn, sqs",
		"sqs:No*:throttle:1":                  "there is no action of sqs",
	} {
		if err := s.Check(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := s.Add([]chaos.Wanted{{Fault: "sqs:*:hang:1"}, {Fault: "sqs:*:hung:1"}}); err == nil || len(s.List()) > 0 {
		t.Errorf("%v, %v", s.List(), err)
	}
}

func TestFilesAreRead(t *testing.T) {
	t.Parallel()
	s := set(t)
	got, err := s.ReadFile("chaos.yaml", []byte("seed: 7\nfor: 10m\nfaults:\n  - sqs:Send*:throttle:10%\n"+
		"  - {fault: 'dynamodb:*:latency:50ms-200ms', for: 30s, seed: 9}\n"), chaos.Wanted{Seed: 1})
	want := []chaos.Wanted{{Fault: "sqs:Send*:throttle:10%", Seed: 7, For: 10 * time.Minute},
		{Fault: "dynamodb:*:latency:50ms-200ms", Seed: 9, For: 30 * time.Second}}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"faults:\n  - sqs:SendMesage:throttle:1\n": "chaos.yaml:2:5: ",
		"seed: 1\n":                 "faults",
		"fault: []\n":               "fault",
		"faults: [1, {fault: x}]\n": "chaos.yaml:1:10",
	} {
		if _, err := s.ReadFile("chaos.yaml", []byte(text), chaos.Wanted{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzFaults(f *testing.F) {
	f.Add("sqs:SendMessage:throttle:10%")
	f.Add("sqs:*:latency:100ms-2s:50%")
	f.Add("*:*:*:*")
	f.Fuzz(func(t *testing.T, text string) {
		s := set(t)
		added, err := s.Add([]chaos.Wanted{{Fault: text}})
		if err != nil {
			return
		}
		again, err := s.Add([]chaos.Wanted{{Fault: added[0].Fault}})
		if err != nil || again[0].Fault != added[0].Fault {
			t.Errorf("%q: %v, %v, %v", text, added, again, err)
		}
	})
}
