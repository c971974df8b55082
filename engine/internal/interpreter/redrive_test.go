package interpreter_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/jsonvalue"
)

// redriven runs an execution until it ends, redrives it, and runs it until it ends again.
func redriven(t *testing.T, definition, input string, answer func(c *interpreter.TaskCall) interpreter.Signal) *world {
	t.Helper()
	w := newWorld(t, definition, input)
	w.answer = answer
	w.run(t)
	if s := w.x.Status(); s == history.Succeeded {
		t.Fatalf("the first time it is %s already", s)
	}
	w.redrive()
	return w.finish(t)
}

func (w *world) redrive() {
	w.queue, w.timers = nil, map[int64]time.Time{}
	w.now = w.now.Add(time.Hour)
	w.step(interpreter.Signal{Kind: interpreter.Redrive})
}

const task = `"Type":"Task","Resource":"arn:aws:states:::test:call"`

// failsOnce fails the first task of each name and returns the parameters of all others.
func failsOnce(names ...string) func(c *interpreter.TaskCall) interpreter.Signal {
	failing := slices.Clone(names)
	return func(c *interpreter.TaskCall) interpreter.Signal {
		if i := slices.Index(failing, c.State); i >= 0 {
			failing = slices.Delete(failing, i, i+1)
			return interpreter.Signal{Kind: interpreter.TaskFailed, Failure: history.NewFailure("Boom", "no")}
		}
		return interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: jsonvalue.TextDocument(c.Parameters)}
	}
}

func TestRedriveATask(t *testing.T) {
	t.Parallel()
	w := redriven(t, `{"StartAt":"A","States":{"A":{`+task+`,"Next":"B"},"B":{`+task+`,"End":true}}}`, `{"n":1}`,
		failsOnce("B"))
	w.expect(t, `
		1<0 ExecutionStarted
		2<0 TaskStateEntered A {"n":1}
		3<2 TaskScheduled {"n":1}
		4<3 TaskStarted
		5<4 TaskSucceeded {"n":1}
		6<5 TaskStateExited A {"n":1}
		7<6 TaskStateEntered B {"n":1}
		8<7 TaskScheduled {"n":1}
		9<8 TaskStarted
		10<9 TaskFailed error=Boom
		11<10 ExecutionFailed error=Boom
		12<11 ExecutionRedriven
		13<12 TaskScheduled {"n":1}
		14<13 TaskStarted
		15<14 TaskSucceeded {"n":1}
		16<15 TaskStateExited B {"n":1}
		17<16 ExecutionSucceeded {"n":1}`)
	if w.history[11].More.RedriveCount != 1 || w.x.Redrives() != 1 || w.x.Failure() != (history.Failure{}) {
		t.Errorf("%+v, %d redrives, %+v", w.history[11].More, w.x.Redrives(), w.x.Failure())
	}
	w.step(interpreter.Signal{Kind: interpreter.Redrive})
	if w.x.Status() != history.Succeeded || len(w.history) != 17 {
		t.Error("an execution that has succeeded is redriven")
	}
}

func TestRedriveHasAllRetriesAhead(t *testing.T) {
	t.Parallel()
	w := redriven(t, `{"StartAt":"A","States":{"A":{`+task+
		`,"Retry":[{"ErrorEquals":["Boom"],"MaxAttempts":1}],"End":true}}}`, `1`,
		failsOnce("A", "A", "A"))
	if w.x.Status() != history.Succeeded || len(w.history) != 18 {
		t.Error(w.trace())
	}
}

func TestRedriveAFailState(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"F","States":{"F":{"Type":"Fail","Error":"E"}}}`, `{}`).run(t)
	w.redrive()
	w.expect(t, `
		1<0 ExecutionStarted
		2<0 FailStateEntered F {}
		3<2 ExecutionFailed error=E
		4<3 ExecutionRedriven
		5<4 FailStateEntered F {}
		6<5 ExecutionFailed error=E`)
}

func TestRedriveAStoppedWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait string
		want time.Duration
	}{
		"seconds begin anew":      {`"Seconds":60`, 60 * time.Second},
		"a time that has gone by": {`"Timestamp":"2026-01-01T00:10:00Z"`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{"StartAt":"W","TimeoutSeconds":300,"States":{"W":{"Type":"Wait",`+c.wait+
				`,"End":true}}}`, `{}`)
			w.step(interpreter.Signal{Kind: interpreter.Start})
			w.now = w.now.Add(30 * time.Second)
			w.step(interpreter.Signal{Kind: interpreter.Stop})
			w.redrive()
			begun := w.now
			if w.finish(t); w.x.Status() != history.Succeeded || w.now.Sub(begun) != c.want {
				t.Errorf("%s after %v\n%s", w.x.Status(), w.now.Sub(begun), w.trace())
			}
		})
	}
}

// TestRedriveBeginsTheTimeLimitAnew lets an execution time out twice.
func TestRedriveBeginsTheTimeLimitAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"W","TimeoutSeconds":30,"States":{"W":{"Type":"Wait","Seconds":60,"End":true}}}`,
		`{}`).run(t)
	w.redrive()
	begun := w.now
	if w.finish(t); w.x.Status() != history.TimedOut || w.now.Sub(begun) != 30*time.Second {
		t.Errorf("%s after %v", w.x.Status(), w.now.Sub(begun))
	}
}

// TestRedriveOnlyFailedBranches has one branch that succeeds, one that fails and one that is aborted.
func TestRedriveOnlyFailedBranches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"A","States":{"A":{"Type":"Pass","Result":"a","End":true}}},
		{"StartAt":"B","States":{"B":{`+task+`,"Next":"C"},"C":{`+task+`,"End":true}}},
		{"StartAt":"D","States":{"D":{`+task+`,"End":true}}}]}}}`, `1`)
	var asked []string
	fails := failsOnce("C")
	w.answer = func(c *interpreter.TaskCall) interpreter.Signal {
		asked = append(asked, c.State)
		if c.State == "D" && len(asked) < 5 {
			return interpreter.Signal{}
		}
		return fails(c)
	}
	w.run(t)
	w.redrive()
	if w.finish(t); w.x.Output() != `["a",1,1]` {
		t.Errorf("%s\n%s", w.x.Output(), w.trace())
	}
	if got := strings.Join(asked, " "); got != "B D C C D" {
		t.Errorf("tasks were called for %s", got)
	}
}

// TestRedriveOnlyFailedIterations fails the third of five iterations, two of which run concurrently.
func TestRedriveOnlyFailedIterations(t *testing.T) {
	t.Parallel()
	for name, selector := range map[string]string{"plain": ``,
		"selected": `"ItemSelector":{"v.$":"$$.Map.Item.Value"},`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			w := redriven(t, `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":2,`+selector+`"End":true,
				"ItemProcessor":{"StartAt":"T","States":{"T":{`+task+`,"End":true}}}}}}`, `[10,20,30,40,50]`,
				func(c *interpreter.TaskCall) interpreter.Signal {
					asked = append(asked, strings.Trim(c.Parameters, `{}"v:`))
					if n := len(asked); n == 3 {
						return interpreter.Signal{Kind: interpreter.TaskFailed}
					}
					return interpreter.Signal{Kind: interpreter.TaskSucceeded,
						Output: jsonvalue.TextDocument(asked[len(asked)-1])}
				})
			if w.x.Output() != `[10,20,30,40,50]` {
				t.Errorf("%s\n%s", w.x.Output(), w.trace())
			}
			if got := strings.Join(asked, " "); got != "10 20 30 40 30 40 50" && got != "10 20 30 30 40 50" {
				t.Errorf("items were worked on in the order %s", got)
			}
		})
	}
}

// TestRedriveASelectorThatFailed evaluates the ItemSelector of an iteration again.
func TestRedriveASelectorThatFailed(t *testing.T) {
	t.Parallel()
	w := redriven(t, `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"ItemSelector":{"v.$":"$$.Execution.RedriveTime"},"End":true,
		"ItemProcessor":{"StartAt":"T","States":{"T":{"Type":"Pass","End":true}}}}}}`, `[1,2]`, nil)
	if want := `[{"v":"2026-01-01T01:00:00Z"},{"v":"2026-01-01T01:00:00Z"}]`; w.x.Output() != want {
		t.Errorf("%s\n%s", w.x.Output(), w.trace())
	}
}

// TestRedriveInside redrives a task in a Map in a Parallel state.
func TestRedriveInside(t *testing.T) {
	t.Parallel()
	definition := `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"M","States":{"M":{"Type":"Map","End":true,
			"ItemProcessor":{"StartAt":"T","States":{"T":{` + task + `,"End":true}}}}}},
		{"StartAt":"W","States":{"W":{"Type":"Wait","Seconds":600,"End":true}}}]}}}`
	w := redriven(t, definition, `[1,2,3]`, failsOnce("T"))
	if w.x.Output() != `[[1,2,3],[1,2,3]]` {
		t.Errorf("%s\n%s", w.x.Output(), w.trace())
	}
	succeeded := 0
	for _, e := range w.history {
		if e.Type == history.MapIterationSucceeded {
			succeeded++
		}
	}
	if succeeded != 3 {
		t.Errorf("%d iterations succeeded\n%s", succeeded, w.trace())
	}
}

// TestRedriveAfterTooMuchData repeats all of a state's work.
func TestRedriveAfterTooMuchData(t *testing.T) {
	t.Parallel()
	n := 0
	w := redriven(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"A","States":{"A":{"Type":"Pass","End":true}}},{"StartAt":"B","States":{"B":{`+task+
		`,"End":true}}}]}}}`, `1`,
		func(*interpreter.TaskCall) interpreter.Signal {
			if n++; n == 1 {
				return interpreter.Signal{Kind: interpreter.TaskSucceeded,
					Output: jsonvalue.TextDocument(`"` + strings.Repeat("x", interpreter.MaxPayload) + `"`)}
			}
			return interpreter.Signal{Kind: interpreter.TaskSucceeded, Output: jsonvalue.TextDocument(`2`)}
		})
	started := 0
	for _, e := range w.history {
		if e.Type == history.ParallelStateStarted {
			started++
		}
	}
	if w.x.Output() != `[1,2]` || started != 2 {
		t.Errorf("%s, started %d times\n%s", w.x.Output(), started, w.trace())
	}
}

func TestRedriveAMapRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failure string
		same    bool
	}{
		"tolerance":     {"States.ExceedToleratedFailureThreshold", true},
		"reader":        {"States.ItemReaderFailed", true},
		"too much data": {"States.DataLimitExceeded", false},
		"runtime":       {"States.Runtime", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, `{"StartAt":"M","States":{"M":{"Type":"Map","Label":"M","End":true,
				"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},"StartAt":"I","States":{"I":{"Type":"Pass","End":true}}}}}}`, `[1]`)
			var calls []*interpreter.MapRunCall
			w.mapRun = func(call *interpreter.MapRunCall) interpreter.Signal {
				if calls = append(calls, call); len(calls) == 1 {
					return interpreter.Signal{Kind: interpreter.MapRunFailed, Failure: history.Named(c.failure)}
				}
				return interpreter.Signal{Kind: interpreter.MapRunSucceeded, Output: jsonvalue.TextDocument(`[1]`)}
			}
			w.run(t)
			w.redrive()
			w.finish(t)
			if w.x.Status() != history.Succeeded || len(calls) != 2 {
				t.Fatalf("%s\n%s", w.x.Status(), w.trace())
			}
			if same := calls[0].ARN == calls[1].ARN; same != c.same || same != (calls[1].Redrive == 1) ||
				calls[0].Redrive != 0 {
				t.Errorf("%s is followed by %s, redrive %d", calls[0].ARN, calls[1].ARN, calls[1].Redrive)
			}
			if got := slices.ContainsFunc(w.history, func(e history.Event) bool {
				return e.Type == history.MapRunRedriven && e.More.MapRunARN == calls[0].ARN && e.More.RedriveCount == 1
			}); got != c.same {
				t.Error(w.trace())
			}
		})
	}
}

func TestRedriveAfterStatesRuntimeInABranch(t *testing.T) {
	t.Parallel()
	w := redriven(t, `{"StartAt":"P","States":{"P":{"Type":"Parallel","End":true,"Branches":[
		{"StartAt":"A","States":{"A":{`+task+
		`,"End":true}}},{"StartAt":"B","States":{"B":{"Type":"Wait","Seconds":1,"End":true}}}]}}}`, `1`,
		script(map[string][]string{"A": {"!States.Runtime", "2"}}))
	w.expect(t, `
		1<0 ExecutionStarted
		2<0 ParallelStateEntered P 1
		3<2 ParallelStateStarted
		4<3 TaskStateEntered A 1
		5<4 TaskScheduled 1
		6<5 TaskStarted
		7<3 WaitStateEntered B 1
		8<6 TaskFailed error=States.Runtime
		9<8 ExecutionFailed error=States.Runtime
		10<9 ExecutionRedriven
		11<10 TaskScheduled 1
		12<11 TaskStarted
		13<12 TaskSucceeded 2
		14<13 TaskStateExited A 2
		15<10 WaitStateExited B 1
		16<15 ParallelStateSucceeded
		17<15 ParallelStateExited P [2,1]
		18<17 ExecutionSucceeded [2,1]`)
}
