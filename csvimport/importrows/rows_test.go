package importrows_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/csvimport"
	"stepback/csvimport/database"
	"stepback/csvimport/pipeline"
	"stepback/outbox/deadletters"
	"stepback/tasks/faults"
)

// directory is a data directory with an import whose rows failed for three reasons: two violate a rule, one would
// overflow a counter, and others were processed while the database was unavailable.
type directory struct {
	cfg      pipeline.Config
	failed   map[string]int64 // letters by error
	applied  int64
	expected map[string]int64 // login counts once every row has been fixed and applied
}

func newDirectory(t *testing.T) *directory {
	t.Helper()
	dir := t.TempDir()
	var file strings.Builder
	file.WriteString("user_id,login_count,post_count\n")
	d := &directory{expected: map[string]int64{}}
	for i := range 60 {
		count := fmt.Sprint(i + 1)
		switch i {
		case 7:
			count = "many"
		case 30:
			count = "-1"
		}
		user := fmt.Sprintf("user%02d", i)
		fmt.Fprintf(&file, "%s,%s,2\n", user, count)
		d.expected[user] = int64(i + 1)
	}
	file.WriteString("user00,9223372036854775807,0\n") // line 62
	path := filepath.Join(dir, "activity.csv")
	if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	spec, err := faults.ParseSpec("ProcessSingleUserRecord:RetryNotWorthwhile:20%")
	if err != nil {
		t.Fatal(err)
	}
	tolerated := 100.0
	d.cfg = pipeline.Config{Dir: filepath.Join(dir, "data"), VirtualTime: true, Seed: 1, Batch: 10, Concurrency: 1,
		ToleratedFailurePercentage: &tolerated, Faults: []faults.Spec{spec}}
	p, err := pipeline.Open(t.Context(), d.cfg)
	if err != nil {
		t.Fatal(err)
	}
	report, err := p.Import(t.Context(), path, false, nil)
	if err = errors.Join(err, p.Close()); err != nil {
		t.Fatal(err)
	}
	d.failed, d.applied, d.cfg.Faults = report.Errors, report.Rows.Applied, nil
	if d.failed["ValidationError"] < 2 || d.failed["RetryNotWorthwhile"] < 3 {
		t.Fatalf("the seed makes %v", d.failed)
	}
	return d
}

// open reopens the directory, without faults, and its stores of letters.
func (d *directory) open(t *testing.T) (*deadletters.Operator, func() *deadletters.Operator) {
	t.Helper()
	p, err := pipeline.Open(t.Context(), d.cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	another := func() *deadletters.Operator {
		letterStores, err := pipeline.Letters(t.Context(), aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(p.Endpoint()), RetryMaxAttempts: 1,
			Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")})
		if err != nil {
			t.Fatal(err)
		}
		return &deadletters.Operator{Store: letterStores, Who: "ann"}
	}
	return another(), another
}

func (d *directory) counts(t *testing.T) map[string]int64 {
	t.Helper()
	url, err := pipeline.DatabaseURL(d.cfg.Dir, "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	store, err := database.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	counts := map[string]int64{}
	if err := store.Export(t.Context(), func(u csvimport.User) error {
		counts[u.UserID] = u.LoginCount
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return counts
}

// letters lists dead letters.
func letters(t *testing.T, o *deadletters.Operator, f deadletters.Filter) []deadletters.Letter {
	t.Helper()
	var all []deadletters.Letter
	q := deadletters.Query{Filter: f, Limit: 4}
	for {
		page, err := o.Store.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Letters...)
		if q.After = page.Next; q.After == "" {
			return all
		}
	}
}

// redrive redrives letters, waits, and returns the number of letters with each outcome.
func redrive(t *testing.T, o *deadletters.Operator, s deadletters.Selection) map[string]int {
	t.Helper()
	came := map[string]int{}
	var ids []string
	if err := o.Redrive(t.Context(), s, deadletters.Pace{}, "mended", func(r deadletters.Result) error {
		came[string(r.Outcome)]++
		if r.Outcome == deadletters.Done {
			ids = append(ids, r.ID)
		} else {
			t.Logf("%s: %v", r.ID, r.Err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := o.Follow(t.Context(), ids, time.Millisecond, func(l deadletters.Letter) error {
		came[string(l.State)]++
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return came
}

func edit(t *testing.T, o *deadletters.Operator, id, payload string) {
	t.Helper()
	if err := o.Edit(t.Context(), id, []byte(payload), "the sender's typing error"); err != nil {
		t.Fatal(err)
	}
}

// TestRowsAreMendedAndRedrivenUntilTheCountsAddUp plays an operator handling an import whose rows failed for three
// different reasons.
func TestRowsAreMendedAndRedrivenUntilTheCountsAddUp(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	o, _ := d.open(t)
	groups, err := o.Store.Groups(t.Context(), deadletters.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	byReason := map[string]int64{}
	var all int64
	for _, g := range groups {
		byReason[g.Reason] += g.Count
		all += g.Count
	}
	if all+d.applied != 61 || byReason["Rejected"] != d.failed["ValidationError"] ||
		byReason["NotWorthwhile"] != d.failed["RetryNotWorthwhile"] {
		t.Fatalf("groups are %+v, want %v", groups, d.failed)
	}
	// The database refused these rows temporarily; they may succeed unchanged.
	came := redrive(t, o, deadletters.Selection{Filter: &deadletters.Filter{Reason: "NotWorthwhile"}})
	if n := int(d.failed["RetryNotWorthwhile"]); came["done"] != n || came["delivered"]+came["dead"] != n {
		t.Fatalf("redriven: %v, want %d", came, n)
	}
	// These rows violate a rule: each is fixed differently, one of them wrongly at first.
	left := letters(t, o, deadletters.Filter{Kind: deadletters.KindRow})
	for _, l := range left {
		switch l.ID[strings.LastIndexByte(l.ID, ':')+1:] { // the line in the file, not in that of a redrive
		case "9":
			if err := o.Edit(t.Context(), l.ID, []byte(`{"user_id":"user07","login_count":"x","post_count":"2"}`),
				""); err == nil || !strings.Contains(err.Error(), "would be rejected") {
				t.Errorf("an edit that would be rejected: %v", err)
			}
			edit(t, o, l.ID, `{"user_id":"user07","login_count":8,"post_count":2}`)
		case "32":
			edit(t, o, l.ID, `{"user_id":"user30","login_count":"31","post_count":"2"}`)
		case "62":
			if l.State != deadletters.Dead {
				t.Errorf("%+v", l)
			}
			edit(t, o, l.ID, `{"user_id":"user00","login_count":9223372036854775807,"post_count":0}`) // unchanged
		}
	}
	came = redrive(t, o, deadletters.Selection{Filter: &deadletters.Filter{}})
	if came["done"] != len(left) || came["delivered"] != len(left)-1 || came["dead"] != 1 {
		t.Fatalf("redriven: %v of %d", came, len(left))
	}
	again := letters(t, o, deadletters.Filter{})
	if len(again) != 1 || again[0].Headers["Line"] == "" || again[0].Redrives < 1 ||
		again[0].Error != "ValidationError" {
		t.Fatalf("what died again is %+v", again)
	}
	last := again[0]
	if err := o.Discard(t.Context(), deadletters.Selection{IDs: []string{last.ID}}, false, "no such count",
		func(r deadletters.Result) error { return r.Err }); err != nil {
		t.Fatal(err)
	}
	if rest := letters(t, o, deadletters.Filter{}); len(rest) != 0 {
		t.Fatalf("%+v", rest)
	}
	counts := d.counts(t)
	for user, want := range d.expected {
		if counts[user] != want {
			t.Errorf("%s has %d logins, want %d", user, counts[user], want)
		}
	}
	acts, err := o.Store.Acts(t.Context(), last.ID, 10)
	if err != nil || len(acts) < 2 || acts[0].Verb != deadletters.VerbDiscard || acts[0].Reason != "no such count" ||
		acts[0].Who != "ann" {
		t.Fatalf("acts are %+v, %v", acts, err)
	}
}

// TestTwoOperatorsRedriveTheSameRows runs four concurrent redrives: each row is counted once.
func TestTwoOperatorsRedriveTheSameRows(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	first, another := d.open(t)
	want := int(d.failed["RetryNotWorthwhile"])
	chosen := deadletters.Selection{Filter: &deadletters.Filter{Reason: "NotWorthwhile"}}
	var ids []string
	for _, l := range letters(t, first, *chosen.Filter) {
		ids = append(ids, l.ID)
	}
	const operators = 4
	done := make(chan int, operators)
	for range operators {
		o := another()
		go func() {
			n := 0
			err := o.Redrive(context.WithoutCancel(t.Context()), deadletters.Selection{IDs: ids}, deadletters.Pace{}, "",
				func(r deadletters.Result) error {
					if r.Outcome == deadletters.Done {
						n++
					} else if r.Outcome != deadletters.NotDead {
						t.Errorf("%s: %s %v", r.ID, r.Outcome, r.Err)
					}
					return nil
				})
			if err != nil {
				t.Error(err)
			}
			done <- n
		}()
	}
	total := 0
	for range operators {
		total += <-done
	}
	if total != want {
		t.Errorf("%d letters were redriven, want %d once each", total, want)
	}
	if err := first.Follow(t.Context(), ids, time.Millisecond, func(l deadletters.Letter) error {
		if l.State != deadletters.Delivered && l.Error != "ValidationError" {
			t.Errorf("%s is %s: %s", l.ID, l.State, l.Cause)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	counts := d.counts(t)
	for _, id := range ids {
		l, err := first.Store.Show(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		user := strings.Split(string(l.Payload), `"`)[3]
		if l.State == deadletters.Delivered && counts[user] != d.expected[user] {
			t.Errorf("%s has %d logins, want %d", user, counts[user], d.expected[user])
		}
	}
}
