package stepbacktest_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback"
	"stepback/adaptive/breaker"
	"stepback/adaptive/budget"
	"stepback/adaptive/limiter"
	"stepback/adaptive/pacing"
	"stepback/adaptive/shared"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/itemreader"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/engine/resultwriter"
	"stepback/outbox"
	"stepback/outbox/sinks"
	outboxsqlite "stepback/outbox/sqlitestore"
	"stepback/outbox/webhook"
	"stepback/resilience"
	"stepback/resilience/grpcretry"
	"stepback/resilience/httpclient"
	"stepback/resilience/idempotency"
	keysqlite "stepback/resilience/idempotency/sqlitestore"
	"stepback/retry"
)

// configCase builds something from a Config. valid has a value in every field that has a default, and negative names
// the fields of which a negative number means something.
type configCase struct {
	valid    any
	build    func(t *testing.T, config any) error
	negative []string
}

// of returns the case of a type of Config.
func of[C any](valid C, build func(*testing.T, C) error, negative ...string) configCase {
	return configCase{valid, func(t *testing.T, c any) error { return build(t, c.(C)) }, negative}
}

// only drops what a constructor returns beside its error.
func only[C, T any](build func(C) (T, error)) func(*testing.T, C) error {
	return func(_ *testing.T, c C) error {
		_, err := build(c)
		return err
	}
}

// configs has every exported Config of the packages for Go programs.
func configs(t *testing.T) map[string]configCase {
	t.Helper()
	now, draw := time.Now, func() float64 { return 0.5 }
	policy := retry.Policy{Interval: time.Second, Rate: 2, MaxAttempts: 3}
	keys, err := keysqlite.Open(t.Context(), filepath.Join(t.TempDir(), "keys.db"), keysqlite.Normal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keys.Close() })
	box, err := outboxsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "outbox.db"), outboxsqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	sink, err := webhook.New(webhook.Config{URL: "https://example.com/hook"})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]configCase{
		"stepback.Config": of(stepback.Config{Functions: stepback.Functions{}, ErrorName: stepback.ErrorName},
			func(t *testing.T, c stepback.Config) error {
				e, err := stepback.New(t.Context(), c)
				if err == nil {
					err = e.Close()
				}
				return err
			}),
		"engine.Config": of(engine.Config{Clock: virtual(t), Journal: journal.NewMemory(), Region: "eu-west-1", Account: "123456789012",
			Workers: 1, Patience: time.Second},
			func(_ *testing.T, c engine.Config) error {
				e, err := engine.New(c)
				if err == nil {
					e.Close()
				}
				return err
			}, "Patience"),
		"engine/itemreader.Config": of(itemreader.Config{Resource: "arn:aws:states:::s3:getObject", Bucket: "b", Key: "k",
			InputType: "CSV", CSVHeaderLocation: "FIRST_ROW", MaxItems: 1},
			func(t *testing.T, c itemreader.Config) error {
				r, err := itemreader.Open(t.Context(), oneFile{}, c)
				if err == nil {
					err = r.Close()
				}
				return err
			}),
		"engine/journal/pebble.Config": of(pebble.Config{FS: vfs.NewMem(), Retention: time.Hour},
			func(t *testing.T, c pebble.Config) error {
				dir := t.TempDir()
				if c.FS != nil {
					dir = "journal" // in memory
				}
				j, err := pebble.Open(dir, c)
				if err == nil {
					err = j.Close()
				}
				return err
			}, "Retention"),
		"engine/resultwriter.Config": of(resultwriter.Config{Bucket: "b", MapRunARN: "arn:aws:states:us-east-1:1:mapRun:m:1",
			Transformation: resultwriter.None, OutputType: resultwriter.JSON},
			func(_ *testing.T, c resultwriter.Config) error {
				_, err := resultwriter.New(nil, c)
				return err
			}),
		"resilience.BulkheadConfig": of(resilience.BulkheadConfig{Concurrent: 1, Queue: 1, QueueTimeout: time.Second,
			Clock: resilience.MachineClock()}, only(resilience.NewBulkhead)),
		"resilience/grpcretry.Config": of(grpcretry.Config{Policy: policy, Throttle: grpcretry.StandardThrottle(),
			Idempotent: func(string) bool { return true }}, only(grpcretry.Interceptor)),
		"resilience/httpclient.Config": of(httpclient.Config{Policy: &policy, AttemptTimeout: time.Second, MaxBody: 1, MaxHosts: 1,
			Bulkhead: &resilience.BulkheadConfig{Concurrent: 1},
			Options:  []resilience.Option{resilience.WithIdempotent()}},
			only(httpclient.New), "MaxBody"),
		"resilience/idempotency.Config": of(idempotency.Config{Lease: time.Second, Keep: time.Second, Wait: time.Second, MaxAnswer: 1,
			Clock: resilience.MachineClock()},
			func(_ *testing.T, c idempotency.Config) error {
				_, err := idempotency.New(keys, c)
				return err
			}),
		"adaptive/breaker.Config": of(breaker.Config{Policy: breaker.Conservative(), Now: now}, only(breaker.New)),
		"adaptive/budget.Config":  of(budget.Config{Policy: budget.Standard(), Now: now}, only(budget.New)),
		"adaptive/limiter.Config": of(limiter.Config{Policy: limiter.Standard(), Now: now}, only(limiter.New)),
		"adaptive/pacing.Config": of(pacing.Config{Policy: pacing.Careful(), Every: time.Second, Attempts: 1},
			func(t *testing.T, c pacing.Config) error {
				_, err := pacing.Run(t.Context(), nil, nil, c, nil)
				return err
			}),
		"adaptive/shared.Config": of(shared.Config{Cache: time.Second, Timeout: time.Second, Now: now, Draw: draw},
			func(_ *testing.T, c shared.Config) error {
				_, err := shared.NewGate(&shared.Memory{}, "db", shared.Callee(), c)
				return err
			}),
		"outbox.Config": of(outbox.Config{Store: box, Sink: sink, Name: "relay", Check: outbox.CheckJSON,
			Policy: func(string) retry.Policy { return policy }, MaxRetries: 1, MaxExpiries: 1, Concurrency: 1,
			Batch: 1, PerKey: 1,
			Bytes: 1, Lease: time.Second, SendTimeout: time.Second, Poll: time.Second, Linger: time.Second,
			Grace:     time.Second,
			Retention: time.Second, TidyEvery: time.Second, Clock: outbox.SystemClock{}},
			only(outbox.New), "MaxRetries", "Linger", "Retention"),
		"outbox/sinks.Config": of(sinks.Config{Out: io.Discard}, func(t *testing.T, c sinks.Config) error {
			_, err := sinks.Open(t.Context(), "-", c)
			return err
		}),
		"outbox/sqlitestore.Config": of(outboxsqlite.Config{Now: now, Look: time.Second},
			func(t *testing.T, c outboxsqlite.Config) error {
				s, err := outboxsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "outbox.db"), c)
				if err == nil {
					err = s.Close()
				}
				return err
			}),
		"outbox/webhook.Config": of(webhook.Config{URL: "https://example.com/hook", Now: now}, only(webhook.New)),
	}
}

// noCase lists the types that are named Config and are not what a program fills in: tasks/mock.Config is the parsed
// form of a file, and diskspace.New returns no error.
var noCase = []string{"engine/journal/diskspace.Config", "tasks/mock.Config"}

func virtual(t *testing.T) *clock.Clock {
	t.Helper()
	c := clock.Virtual(time.Unix(0, 0))
	t.Cleanup(c.Close)
	return c
}

// oneFile is an object store in which every object is a CSV file.
type oneFile struct{ itemreader.Objects }

func (oneFile) Get(context.Context, string, string, string, string) (io.ReadCloser, int64, error) {
	return io.NopCloser(strings.NewReader("a\n1\n")), -1, nil
}

// TestConfigsAreComplete finds every exported Config in the source.
func TestConfigsAreComplete(t *testing.T) {
	t.Parallel()
	var found []string
	for _, wing := range []string{".", "retry", "retrypatterns", "engine", "tasks", "retrymetrics", "alarms", "dashboards", "adaptive",
		"resilience", "outbox"} {
		err := filepath.WalkDir(filepath.Join("..", wing), func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "internal" || wing == "." && name != ".."):
				return fs.SkipDir
			case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "..")
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				if _, ok := spec.Type.(*ast.StructType); ok && spec.Name.IsExported() && strings.HasSuffix(spec.Name.Name, "Config") {
					found = append(found, strings.TrimPrefix(path.Join(path.Dir(folder), file.Name.Name), "/")+"."+spec.Name.Name)
				}
				return false
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	known := slices.Sorted(maps.Keys(configs(t)))
	known = slices.Sorted(slices.Values(append(known, noCase...)))
	slices.Sort(found)
	if !slices.Equal(found, known) {
		t.Errorf("the source has\n%s\nthe test has\n%s", strings.Join(found, "\n"), strings.Join(known, "\n"))
	}
}

// TestZeroValuesOfConfigs builds from Configs with zero fields, one at a time and all together: each is a default, or
// the error names the field. The same holds for negative numbers.
func TestZeroValuesOfConfigs(t *testing.T) {
	t.Parallel()
	for name, c := range configs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			valid := reflect.ValueOf(c.valid)
			if err := c.build(t, c.valid); err != nil {
				t.Fatalf("the valid Config: %v", err)
			}
			zero := reflect.Zero(valid.Type())
			if err := c.build(t, zero.Interface()); err != nil && !slices.ContainsFunc(leaves(valid.Type(), nil),
				func(l []int) bool { return names(err, valid.Type().FieldByIndex(l).Name) }) {
				t.Errorf("the zero Config: no field is named in: %v", err)
			}
			for _, l := range leaves(valid.Type(), nil) {
				field := valid.Type().FieldByIndex(l)
				changed := reflect.New(valid.Type()).Elem()
				changed.Set(valid)
				changed.FieldByIndex(l).SetZero()
				if err := c.build(t, changed.Interface()); err != nil && !names(err, field.Name) {
					t.Errorf("%s is zero, which the error does not name: %v", field.Name, err)
				}
				switch value := changed.FieldByIndex(l); {
				case value.CanInt():
					value.SetInt(-1)
				case value.CanFloat():
					value.SetFloat(-1)
				default:
					continue
				}
				err := c.build(t, changed.Interface())
				if negative := slices.Contains(c.negative, field.Name); (err == nil) != negative ||
					err != nil && !names(err, field.Name) {
					t.Errorf("%s is negative: %v", field.Name, err)
				}
			}
		})
	}
}

// leaves returns the indexes of the exported fields of a struct and of the structs in it.
func leaves(typ reflect.Type, at []int) [][]int {
	var all [][]int
	for i := range typ.NumField() {
		f := typ.Field(i)
		if !f.IsExported() {
			continue
		}
		here := append(slices.Clone(at), i)
		var inner [][]int
		if f.Type.Kind() == reflect.Struct {
			inner = leaves(f.Type, here)
		}
		if len(inner) == 0 {
			inner = [][]int{here}
		}
		all = append(all, inner...)
	}
	return all
}

// names reports whether an error names a field.
func names(err error, field string) bool {
	return strings.Contains(strings.ToLower(err.Error()), strings.ToLower(field))
}
