package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/cronexpr"
	"pgregory.net/rapid"

	"stepback/local/services/schedule"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	l, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func Example() {
	s, err := schedule.Parse("cron(0 8 ? * MON-FRI *)", schedule.Style{})
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) // a Friday
	for range 2 {
		at, _ = s.Next(at, at)
		fmt.Println(at.Format(time.RFC1123))
	}
	_, err = schedule.Parse("cron(0 8 * * MON-FRI *)", schedule.Style{})
	fmt.Println(err)
	// Output:
	// Mon, 23 Nov 2026 08:00:00 UTC
	// Tue, 24 Nov 2026 08:00:00 UTC
	// cron(0 8 * * MON-FRI *): one of the day of month and the day of week has to be ?, and the other one not
}

// TestNext checks the expressions in AWS's documentation and the edge cases of L, W, # and of clock changes.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		expression, zone, after string
		want                    []string // in the zone; "-" means none
	}{
		{"cron(15 10 * * ? *)", "", "2026-11-22T10:15:00", []string{"2026-11-23T10:15:00", "2026-11-24T10:15:00"}},
		{"cron(0 18 ? * MON-FRI *)", "", "2026-11-20T18:00:00", []string{"2026-11-23T18:00:00"}},
		{"cron(0 8 1 * ? *)", "", "2026-11-22T00:00:00", []string{"2026-12-01T08:00:00", "2027-01-01T08:00:00"}},
		{"cron(0/15 * * * ? *)", "", "2026-11-22T00:07:59", []string{"2026-11-22T00:15:00", "2026-11-22T00:30:00"}},
		{"cron(0/5 8-17 ? * MON-FRI *)", "", "2026-11-20T17:55:00", []string{"2026-11-23T08:00:00"}},
		{"cron(0 9 ? * 2#1 *)", "", "2026-11-22T00:00:00", []string{"2026-12-07T09:00:00", "2027-01-04T09:00:00"}},
		{"cron(30 20 L * ? *)", "", "2027-02-01T00:00:00", []string{"2027-02-28T20:30:00", "2027-03-31T20:30:00"}},
		{"cron(0 0 LW * ? *)", "", "2026-10-01T00:00:00", []string{"2026-10-30T00:00:00", "2026-11-30T00:00:00"}},
		{"cron(0 0 15W * ? *)", "", "2026-11-01T00:00:00", []string{"2026-11-16T00:00:00", "2026-12-15T00:00:00"}},
		{"cron(0 0 1W * ? *)", "", "2026-07-31T00:00:00", []string{"2026-08-03T00:00:00", "2026-09-01T00:00:00"}},
		{"cron(0 0 31W * ? *)", "", "2027-01-01T00:00:00", []string{"2027-01-29T00:00:00", "2027-03-31T00:00:00"}},
		{"cron(0 0 ? * 6L *)", "", "2026-11-22T00:00:00", []string{"2026-11-27T00:00:00", "2026-12-25T00:00:00"}},
		{"cron(0 0 ? * FRIL *)", "", "2026-11-22T00:00:00", []string{"2026-11-27T00:00:00"}},
		{"cron(0 0 ? * L *)", "", "2026-11-22T00:00:00", []string{"2026-11-28T00:00:00", "2026-12-05T00:00:00"}},
		{"cron(0 0 ? * sun#5,TUE *)", "", "2026-11-24T00:00:00", []string{"2026-11-29T00:00:00", "2026-12-01T00:00:00"}},
		{"cron(0 10 29 2 ? 2026-2028)", "", "2026-01-01T00:00:00", []string{"2028-02-29T10:00:00", "-"}},
		{"cron(0 0 31 JAN/3 ? *)", "", "2026-11-22T00:00:00", []string{"2027-01-31T00:00:00", "2027-07-31T00:00:00"}},
		{"cron(59 23 31 12 ? 2199)", "", "2199-12-31T23:58:59", []string{"2199-12-31T23:59:00", "-"}},
		// New York changes from 02:00 to 03:00 on 14 March 2027 and from 02:00 to 01:00 on 7 November 2027.
		{"cron(30 2 * * ? *)", "America/New_York", "2027-03-13T00:00:00", []string{"2027-03-13T02:30:00", "2027-03-15T02:30:00"}},
		{"cron(0/30 1-2 * * ? *)", "America/New_York", "2027-11-07T00:59:00",
			[]string{"2027-11-07T01:00:00", "2027-11-07T01:30:00", "2027-11-07T02:00:00"}},
		{"cron(0 0 * * ? *)", "Asia/Tokyo", "2026-11-22T00:00:00", []string{"2026-11-23T00:00:00"}},
		{"cron(45 1 * * ? *)", "Australia/Lord_Howe", "2027-04-03T12:00:00", []string{"2027-04-04T01:45:00", "2027-04-05T01:45:00"}},
		{"at(2026-11-22T08:30:00)", "Europe/Berlin", "2026-11-22T08:29:59", []string{"2026-11-22T08:30:00", "-"}},
		{"rate(5 minutes)", "", "2026-11-22T00:07:00", []string{"2026-11-22T00:10:00", "2026-11-22T00:15:00"}},
		{"rate(1 day)", "America/New_York", "2027-03-13T00:00:00", []string{"2027-03-13T19:00:00", "2027-03-14T20:00:00"}},
	} {
		in := time.UTC
		if c.zone != "" {
			in = zone(t, c.zone)
		}
		s, err := schedule.Parse(c.expression, schedule.Style{Once: true, Zone: in})
		if err != nil {
			t.Errorf("%s: %v", c.expression, err)
			continue
		}
		const layout = "2006-01-02T15:04:05"
		at, err := time.ParseInLocation(layout, c.after, in)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		var got []string
		for range c.want {
			next, ok := s.Next(at, from)
			if !ok {
				got = append(got, "-")
				break
			}
			got, at = append(got, next.In(in).Format(layout)), next
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s after %s: %v, want %v", c.expression, c.after, got, c.want)
		}
	}
}

func TestRatesBeginOnePeriodAfterTheBeginning(t *testing.T) {
	t.Parallel()
	s, err := schedule.Parse("rate(2 hours)", schedule.Style{})
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 11, 22, 10, 0, 7, 0, time.UTC)
	for after, want := range map[time.Duration]time.Duration{-time.Hour: 2 * time.Hour, 0: 2 * time.Hour,
		2*time.Hour - 1: 2 * time.Hour, 2 * time.Hour: 4 * time.Hour} {
		if next, ok := s.Next(from.Add(after), from); !ok || next.Sub(from) != want {
			t.Errorf("%v after the beginning: %v", after, next.Sub(from))
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "rate", "rate(5)", "rate(0 minutes)", "rate(5 seconds)", "rate(1 minutes)", "rate(5 minute)", "rate(-1 hours)",
		"rate(1.5 hours)", "rate(5 minutes", "at(2026-11-22T08:00:00)", "daily()", "cron()", "cron(* * * * *)",
		"cron(* * * * * *)", "cron(* * ? * ? *)", "cron(60 * * * ? *)", "cron(* 24 * * ? *)", "cron(* * 0 * ? *)",
		"cron(* * 32 * ? *)", "cron(* * * 13 ? *)", "cron(* * * * ? 2200)", "cron(* * ? * 8 *)", "cron(* * ? * 0 *)",
		"cron(* * ? * MON#6 *)", "cron(* * ? * MO *)", "cron(5-1 * * * ? *)", "cron(*/0 * * * ? *)", "cron(*/x * * * ? *)",
		"cron(1, * * * ? *)", "cron(* * W * ? *)", "cron(* * 3L * ? *)", "cron(+1 * * * ? *)", "cron(? * * * ? *)",
		"cron(* * * FOO ? *)", "cron(* * ? * 2#2#2 *)",
	} {
		if s, err := schedule.Parse(text, schedule.Style{}); err == nil {
			t.Errorf("%q is accepted: %v", text, s)
		}
	}
	for _, text := range []string{"rate(1 minutes)", "rate(5 hour)", "at(2026-11-22T08:00:00)"} {
		s, err := schedule.Parse(text, schedule.Style{Once: true, AnyPlural: true})
		if err != nil || schedule.Once(s) != strings.HasPrefix(text, "at") {
			t.Errorf("%q: %v, %v", text, s, err)
		}
	}
}

// TestCronAgainstAnother compares with github.com/hashicorp/cronexpr, whose weekdays start at 0.
func TestCronAgainstAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := func(least, most int) string {
			n := rapid.IntRange(least, most)
			switch rapid.IntRange(0, 4).Draw(t, "form") {
			case 0:
				return "*"
			case 1:
				a, b := n.Draw(t, "a"), n.Draw(t, "b")
				return fmt.Sprintf("%d-%d", min(a, b), max(a, b))
			case 2:
				return fmt.Sprintf("%d/%d", n.Draw(t, "a"), rapid.IntRange(1, most).Draw(t, "step"))
			case 3:
				return fmt.Sprintf("%d,%d", n.Draw(t, "a"), n.Draw(t, "b"))
			default:
				return fmt.Sprint(n.Draw(t, "n"))
			}
		}
		minutes, hours, month := number(0, 59), number(0, 23), number(1, 12)
		year := rapid.SampledFrom([]string{"*", "2027-2040", "2028/4"}).Draw(t, "year")
		day, weekday, theirs := "?", "?", "?"
		if rapid.Bool().Draw(t, "by weekday") {
			n := rapid.IntRange(1, 7).Draw(t, "weekday")
			form := rapid.SampledFrom([]string{"%d", "%dL", "%d#1", "%d#4", "%d#5"}).Draw(t, "kind")
			weekday, theirs = fmt.Sprintf(form, n), fmt.Sprintf(form, n-1)
		} else {
			day = rapid.SampledFrom([]string{number(1, 31), "L", "LW",
				fmt.Sprintf("%dW", rapid.IntRange(1, 28).Draw(t, "near"))}).Draw(t, "day")
		}
		text := strings.Join([]string{minutes, hours, day, month, weekday, year}, " ")
		ours, err := schedule.Parse("cron("+text+")", schedule.Style{})
		if err != nil {
			t.Fatal(err)
		}
		oracle, err := cronexpr.Parse(strings.Join([]string{minutes, hours, day, month, theirs, year}, " "))
		if err != nil {
			t.Skip(err.Error())
		}
		at := time.Unix(rapid.Int64Range(1_700_000_000, 2_000_000_000).Draw(t, "at"), 0).UTC()
		for range 5 {
			want := oracle.Next(at)
			got, ok := ours.Next(at, at)
			if want.Year() > 2098 || want.IsZero() && got.Year() > 2098 { // cronexpr ends in 2099
				return
			}
			if ok == want.IsZero() || ok && !got.Equal(want) {
				t.Fatalf("%s after %v: %v, want %v", text, at, got, want)
			}
			if !ok {
				return
			}
			at = got
		}
	})
}

// In zones with clock changes, too, the next time is later, shows the right minute, and no time in between is left
// out.
func TestNextIsAfterAndNothingIsBetween(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in, err := time.LoadLocation(rapid.SampledFrom([]string{"America/New_York", "Europe/Berlin", "Asia/Kolkata",
			"Australia/Lord_Howe", "Pacific/Apia", "UTC"}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		minute, hour := rapid.IntRange(0, 59).Draw(t, "minute"), rapid.IntRange(0, 23).Draw(t, "hour")
		s, err := schedule.Parse(fmt.Sprintf("cron(%d %d * * ? *)", minute, hour), schedule.Style{Zone: in})
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(rapid.Int64Range(1_700_000_000, 2_000_000_000).Draw(t, "at"), 0).In(in)
		next, ok := s.Next(at, at)
		if !ok || !next.After(at) || next.In(in).Minute() != minute || next.In(in).Hour() != hour {
			t.Fatalf("after %v: %v, %v", at, next, ok)
		}
		if early, _ := s.Next(next.Add(-time.Nanosecond), at); !early.Equal(next) {
			t.Errorf("just before %v: %v", next, early)
		}
		if gap := next.Sub(at); gap > 49*time.Hour {
			t.Errorf("%v after %v", gap, at)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("cron(0/5 8-17 ? * MON#2,6L 2026-2030)")
	f.Add("rate(5 minutes)")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schedule.Parse(text, schedule.Style{Once: true, AnyPlural: true})
		if err != nil {
			return
		}
		at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		if next, ok := s.Next(at, at); ok && !next.After(at) {
			t.Errorf("%s: %v is not after %v", text, next, at)
		}
	})
}
