package intrinsic_test

import (
	"regexp"
	"slices"
	"testing"

	"stepback/jsonvalue"
)

// recording is a call with pairs of the state's input and the recorded result.
type recording struct {
	call  string
	cases [][2]string
}

// machine is the context object's StateMachine, in which the names of the recordings are replaced.
const machine = `{"Id":"arn:aws:states:us-east-1:123456789012:stateMachine:orders","Name":"orders"}`

func recordedEnv(t *testing.T, input string) *values {
	t.Helper()
	return &values{
		input:   parse(t, input),
		context: parse(t, `{"Execution":{"Name":"run-1","Input":`+input+`},"StateMachine":`+machine+`}`),
	}
}

func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, r := range slices.Concat(recordedArray, recordedMath, recordedText) {
		t.Run(r.call, func(t *testing.T) {
			t.Parallel()
			c := compile(t, r.call)
			for _, pair := range r.cases {
				got, err := c.Eval(recordedEnv(t, pair[0]))
				if err != nil {
					t.Errorf("on %s: %v", pair[0], err)
					continue
				}
				if !jsonvalue.Equal(got, parse(t, pair[1])) {
					t.Errorf("on %s: got %s, want %s", pair[0], got.JSON(), pair[1])
				}
			}
		})
	}
}

// The recordings show only that these arguments are accepted, not the value of a random number.
func TestRecordedRandomRanges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		call        string
		least, most int64
	}{
		{"States.MathRandom(12.5, 44.51)", 13, 44},
		{"States.MathRandom(9999, 99999)", 9999, 99998},
		{"States.MathRandom(-99999, -9999)", -99999, -10000},
		{"States.MathRandom(0, 999, 3)", 0, 998},
	}
	for _, tt := range tests {
		c := compile(t, tt.call)
		for _, random := range []uint64{0, 1 << 63, 1<<64 - 1} {
			v, err := c.Eval(&values{next: random})
			i, whole := v.Int()
			if err != nil || !whole || i < tt.least || i > tt.most {
				t.Errorf("%s with %#x: got %s, %v, want %d to %d", tt.call, random, v.JSON(), err, tt.least, tt.most)
			}
		}
	}
}

func TestRecordedUUID(t *testing.T) {
	t.Parallel()
	v, err := compile(t, "States.UUID()").Eval(&values{next: 0x0123456789ABCDEF})
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(v.Text()) {
		t.Errorf("got %s, want a version 4 UUID", v.Text())
	}
	if want := "efcdab89-6745-4301-b0cd-ab8967452301"; v.Text() != want {
		t.Errorf("got %s, want %s: the two draws of the environment", v.Text(), want)
	}
}
