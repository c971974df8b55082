package itembatcher

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stepback/jsonvalue"
)

func batches(t *testing.T, cfg Config, items ...string) []string {
	t.Helper()
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, item := range items {
		batch, done, err := b.Add([]byte(item))
		if err != nil {
			out = append(out, err.Error())
		}
		if done {
			out = append(out, batch.Input)
		}
	}
	if batch, ok := b.Flush(); ok {
		out = append(out, batch.Input)
	}
	return out
}

func TestBatches(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		cfg   Config
		items []string
		want  []string
	}{
		{"by number", Config{MaxItemsPerBatch: 2}, []string{"1", `{"a":2}`, "3"}, []string{`{"Items":[1,{"a":2}]}`,
			`{"Items":[3]}`}},
		{"the last batch full", Config{MaxItemsPerBatch: 2}, []string{"1", "2"}, []string{`{"Items":[1,2]}`}},
		{"one each", Config{MaxItemsPerBatch: 1}, []string{"1", "2"}, []string{`{"Items":[1]}`, `{"Items":[2]}`}},
		{"with BatchInput", Config{MaxItemsPerBatch: 2, BatchInput: `{"factCheck":"December 2022"}`},
			[]string{"1", "2"},
			[]string{`{"BatchInput":{"factCheck":"December 2022"},"Items":[1,2]}`}},
		{"by size to the byte", Config{MaxInputBytesPerBatch: 15}, []string{"1", "2", "3"}, []string{`{"Items":[1,2]}`,
			`{"Items":[3]}`}},
		{"one byte less", Config{MaxInputBytesPerBatch: 14}, []string{"1", "2"}, []string{`{"Items":[1]}`,
			`{"Items":[2]}`}},
		{"size wins over number", Config{MaxItemsPerBatch: 3, MaxInputBytesPerBatch: 15}, []string{"1", "2", "3", "4"},
			[]string{`{"Items":[1,2]}`, `{"Items":[3,4]}`}},
		{"number wins when smaller", Config{MaxItemsPerBatch: 2, MaxInputBytesPerBatch: 100}, []string{"1", "2", "3"},
			[]string{`{"Items":[1,2]}`, `{"Items":[3]}`}},
		{"too large an item is left out", Config{MaxInputBytesPerBatch: 13}, []string{"1", "22", "3"},
			[]string{"a batch with a single item is 14 bytes long, at most 13 are allowed; reduce the item with an ItemSelector, reduce " +
				"BatchInput or raise MaxInputBytesPerBatch (at most 262144)", `{"Items":[1]}`, `{"Items":[3]}`}},
		{"no items", Config{MaxItemsPerBatch: 2}, nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := batches(t, test.cfg, test.items...)
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cfg  Config
		want string
	}{
		{Config{MaxItemsPerBatch: -1}, "MaxItemsPerBatch is -1; it must be 1 or more"},
		{Config{MaxInputBytesPerBatch: -1}, "MaxInputBytesPerBatch is -1; it must be between 1 and 262144"},
		{Config{MaxInputBytesPerBatch: 262_145}, "MaxInputBytesPerBatch is 262145; it must be between 1 and 262144"},
	} {
		_, err := New(test.cfg)
		var typed *ConfigError
		if !errors.As(err, &typed) || typed.Message != test.want {
			t.Errorf("%+v: got %v", test.cfg, err)
		}
	}
}

// TestNothingIsLost checks for random items and limits that the batches contain all items in order, within the
// limits, and that no item would have fitted into the batch before its own.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			MaxItemsPerBatch:      rapid.Int64Range(0, 5).Draw(t, "items"),
			MaxInputBytesPerBatch: rapid.Int64Range(50, 99).Draw(t, "bytes"),
			BatchInput:            rapid.SampledFrom([]string{"", `"b"`}).Draw(t, "input"),
		}
		b, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var out []Batch
		var want []string
		for _, n := range rapid.SliceOf(rapid.Int64Range(0, 1<<50)).Draw(t, "values") {
			item := strconv.FormatInt(n, 10)
			want = append(want, item)
			if batch, done, err := b.Add([]byte(item)); err != nil {
				t.Fatal(err)
			} else if done {
				out = append(out, batch)
			}
		}
		if batch, ok := b.Flush(); ok {
			out = append(out, batch)
		}
		var got []string
		for i, batch := range out {
			v, err := jsonvalue.Parse(batch.Input)
			if err != nil {
				t.Fatal(err)
			}
			items, _ := v.Get("Items")
			if items.Len() != batch.Items || cfg.MaxItemsPerBatch > 0 && items.Len() > int(cfg.MaxItemsPerBatch) ||
				len(batch.Input) > int(cfg.MaxInputBytesPerBatch) {
				t.Fatalf("batch %s", batch.Input)
			}
			if i > 0 && out[i-1].Items != int(cfg.MaxItemsPerBatch) &&
				len(out[i-1].Input)+1+len(items.At(0).JSON()) <= int(cfg.MaxInputBytesPerBatch) {
				t.Fatalf("%s would have fitted into %s", items.At(0).JSON(), out[i-1].Input)
			}
			for _, item := range items.Elements() {
				got = append(got, item.Text())
			}
		}
		if strings.Join(got, ",") != strings.Join(want, ",") {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	batcher, err := New(Config{MaxItemsPerBatch: 100, BatchInput: `{"source":{"bucket":"b","key":"k"}}`})
	if err != nil {
		b.Fatal(err)
	}
	item := []byte(`{"row":123456,"record":{"user_id":"user-123456","login_count":"3","post_count":"5"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := batcher.Add(item); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleBatcher() {
	batcher, err := New(Config{MaxItemsPerBatch: 2, BatchInput: `{"run":7}`})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range []string{`"a"`, `"b"`, `"c"`} {
		batch, done, err := batcher.Add([]byte(item))
		if err != nil {
			fmt.Println(err)
			return
		}
		if done {
			fmt.Println(batch.Input)
		}
	}
	if batch, ok := batcher.Flush(); ok {
		fmt.Println(batch.Input)
	}
	// Output:
	// {"BatchInput":{"run":7},"Items":["a","b"]}
	// {"BatchInput":{"run":7},"Items":["c"]}
}
