package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
)

const oneTask = `{"StartAt":"T","States":{"T":{` + call + `,"End":true}}}`

// TestRedriveTokensSurviveTheProcess repeats the redrive of an execution on engines that succeed the one that redrove
// it.
func TestRedriveTokensSurviveTheProcess(t *testing.T) {
	t.Parallel()
	tasks := &failing{times: map[string]int{"1": 1 << 20}}
	kept := journal.NewMemory()
	first, _ := restart(t, kept, virtual(t, epoch), tasks.invoke)
	arn := begin(t, first, oneTask, "1")
	if _, err := first.Wait(t.Context(), arn); err != nil {
		t.Fatal(err)
	}
	at, err := first.RedriveExecution(t.Context(), arn, "token")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Wait(t.Context(), arn); err != nil {
		t.Fatal(err)
	}
	first.Close()
	for _, tt := range []struct {
		name     string
		later    time.Duration
		token    string
		redriven bool // redriven again
	}{
		{"the same token", 14 * time.Minute, "token", false},
		{"another token", 14 * time.Minute, "another", true},
		{"a token of an earlier redrive", 14 * time.Minute, "token", false},
		{"no token", 14 * time.Minute, "", true},
		{"a token that is too old", 16 * time.Minute, "token", true},
	} {
		before, err := kept.Execution(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := restart(t, kept, virtual(t, epoch.Add(tt.later)), tasks.invoke)
		got, err := e.RedriveExecution(t.Context(), arn, tt.token)
		if err != nil || got.Equal(at) == tt.redriven {
			t.Errorf("%s: %v, %v; the first redrive was at %v", tt.name, got, err, at)
		}
		after, err := e.Wait(t.Context(), arn)
		if err != nil || after.RedriveCount > before.RedriveCount != tt.redriven {
			t.Errorf("%s: redriven %d times, before %d, %v", tt.name, after.RedriveCount, before.RedriveCount, err)
		}
		e.Close()
	}
}

// TestTheLatestRedriveTokensAreRemembered uses more tokens than are remembered.
func TestTheLatestRedriveTokensAreRemembered(t *testing.T) {
	t.Parallel()
	b := newBed(t, (&failing{times: map[string]int{"1": 1 << 20}}).invoke)
	arn := b.start(t, oneTask, "1")
	redrive := func(token string) int64 {
		if _, err := b.Wait(t.Context(), arn); err != nil {
			t.Fatal(err)
		}
		if _, err := b.RedriveExecution(t.Context(), arn, token); err != nil {
			t.Fatal(token, err)
		}
		x, err := b.Wait(t.Context(), arn)
		if err != nil {
			t.Fatal(err)
		}
		return x.RedriveCount
	}
	for i := range 11 {
		redrive(fmt.Sprint("token ", i))
	}
	for token, want := range map[string]int64{"token 10": 11, "token 1": 11} {
		if n := redrive(token); n != want {
			t.Errorf("%s: redriven %d times, want %d", token, n, want)
		}
	}
	if n := redrive("token 0"); n != 12 {
		t.Errorf("the eleventh token from the end: redriven %d times, want 12", n)
	}
}

// TestConcurrentRedrivesWithOneToken sends one request several times at once, like a client that does not wait for
// the response.
func TestConcurrentRedrivesWithOneToken(t *testing.T) {
	t.Parallel()
	b := newBed(t, (&failing{times: map[string]int{"1": 1}}).invoke)
	arn := b.start(t, oneTask, "1")
	if _, err := b.Wait(t.Context(), arn); err != nil {
		t.Fatal(err)
	}
	var answers [8]time.Time
	var clients sync.WaitGroup
	for i := range answers {
		clients.Go(func() {
			var err error
			if answers[i], err = b.RedriveExecution(t.Context(), arn, "token"); err != nil {
				t.Error(err)
			}
		})
	}
	clients.Wait()
	for _, at := range answers {
		if !at.Equal(answers[0]) {
			t.Errorf("redriven at %v", answers)
			break
		}
	}
	if x, err := b.Wait(t.Context(), arn); err != nil || x.RedriveCount != 1 || x.Status != history.Succeeded {
		t.Errorf("%+v, %v", x, err)
	}
}
