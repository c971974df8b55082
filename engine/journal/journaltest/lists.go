package journaltest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"stepback/engine/history"
	"stepback/engine/journal"
)

const scope = "arn:aws:states:us-east-1:000000000000:"

// lists compares list results with a scan over all executions while executions start, end and are redriven.
func lists(t *testing.T, j journal.Journal) {
	random := rand.New(rand.NewPCG(1, 2))
	var open, ended []*journal.Execution
	for i := range 300 {
		switch n := random.IntN(10); {
		case n < 5:
			x := born(random, i)
			Commit(t, j, First(x))
			open = append(open, x)
		case n < 9 && len(open) > 0:
			at := random.IntN(len(open))
			x := open[at]
			open = slices.Delete(open, at, at+1)
			Commit(t, j, ending(x, random))
			ended = append(ended, x)
		case len(ended) > 0:
			at := random.IntN(len(ended))
			if x := ended[at]; x.Status != history.Succeeded {
				ended = slices.Delete(ended, at, at+1)
				Commit(t, j, Redrive(x))
				open = append(open, x)
			}
		}
		if i%10 == 0 {
			compare(t, j, random)
		}
	}
}

// born returns a new execution of one of two machines, or of a Map Run.
func born(random *rand.Rand, i int) *journal.Execution {
	machine := fmt.Sprint("m", random.IntN(2))
	x := Begun(fmt.Sprintf("%sexecution:%s:%d", scope, machine, i))
	x.Name, x.MachineARN = strconv.Itoa(i), scope+"stateMachine:"+machine
	x.Start = start.Add(time.Duration(random.IntN(100)) * time.Second)
	switch random.IntN(4) {
	case 0:
		x.MapRunARN = scope + "mapRun:" + machine + "/L:1"
	case 1:
		x.VersionARN = x.MachineARN + ":1"
		x.AliasARN = x.MachineARN + ":prod"
	}
	return x
}

// ending returns the last step of an execution, with a random outcome.
func ending(x *journal.Execution, random *rand.Rand) *journal.Record {
	r := Last(x, history.Failed)
	switch random.IntN(3) {
	case 0:
		r = Last(x, history.Succeeded)
	case 1:
		x.Failure = history.NewFailure(fmt.Sprint("E", random.IntN(2)), "a cause that no list shows")
	}
	return r
}

// compare requests one list of each kind, with filters, page by page.
func compare(t *testing.T, j journal.Journal, random *rand.Rand) {
	t.Helper()
	for _, of := range []string{
		scope, scope + "stateMachine:m0", scope + "stateMachine:m1", scope + "stateMachine:m1:1", scope + "stateMachine:m0:prod",
		scope + "mapRun:m0/L:1", scope + "mapRun:none/L:1", "nothing",
	} {
		l := journal.List{Of: of}
		switch random.IntN(6) {
		case 0:
			l.Statuses = []history.Status{history.Running}
		case 1:
			l.Statuses = []history.Status{history.Failed, history.Succeeded}
		case 2:
			l.Error = "E1"
		case 3:
			l.Since = start.Add(50 * time.Second)
		case 4:
			l.Redriven, l.NotRedriven = random.IntN(2) == 0, false
		}
		want := all(t, l.Collect(j.Executions(t.Context(), "")))
		var got []*journal.Execution
		for {
			page := 0
			for x, err := range j.Listed(t.Context(), &l) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, x)
				if page++; page == 7 {
					break
				}
			}
			if page < 7 {
				break
			}
			l.After = journal.PlaceOf(got[len(got)-1])
		}
		l.After, l.Brief = journal.Place{}, true
		brief := all(t, j.Listed(t.Context(), &l))
		if !slices.EqualFunc(brief, want, func(b, x *journal.Execution) bool {
			return b.ARN == x.ARN && b.Status == x.Status && b.Start.Equal(x.Start) &&
				(!x.Ended() || b.Failure.Name == x.Failure.Name)
		}) {
			t.Fatalf("%+v lists %v, want %v", l, arns(brief), arns(want))
		}
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v lists %d executions, want %d:\n%v\n%v", l, len(got), len(want), arns(got), arns(want))
		}
	}
}

func arns(executions []*journal.Execution) []string {
	found := make([]string, 0, len(executions))
	for _, x := range executions {
		found = append(found, fmt.Sprint(x.ARN, " ", x.Start.Unix(), " ", x.Status))
	}
	return found
}

// listedAnew runs an EXPRESS child execution again with a new start, as a redrive of its Map Run does.
func listedAnew(t *testing.T, j journal.Journal) {
	x := Begun(scope + "express:m/L:1:u")
	x.Express, x.MapRunARN = true, scope+"mapRun:m/L:1"
	Commit(t, j, Last(x, history.Failed))
	again := Begun(x.ARN)
	again.Express, again.MapRunARN, again.RedriveCount = true, x.MapRunARN, 1
	again.Start = start.Add(time.Hour)
	r := Last(again, history.Succeeded)
	again.Stop = again.Start.Add(time.Second)
	Commit(t, j, r)
	Commit(t, j, First(Begun("arn:2"))) // syncing this record also syncs the end
	got := all(t, j.Listed(t.Context(), &journal.List{Of: x.MapRunARN}))
	if len(got) != 1 || got[0].Status != history.Succeeded || !got[0].Start.Equal(again.Start) {
		t.Errorf("%+v", got)
	}
}
