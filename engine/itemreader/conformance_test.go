package itemreader

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"reflect"
	"strings"
	"testing"

	"stepback/internal/recordings"
)

// TestRecordings reads the objects of the recorded executions with the recorded ItemReaders. Their child executions
// pass their input on, so the recorded output of the execution is the array of items.
func TestRecordings(t *testing.T) {
	t.Parallel()
	from, err := recordings.FS()
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(from, "cases/scenarios/*map_item_reader_*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings of item readers: %v", err)
	}
	for _, file := range files {
		t.Run(path.Base(file), func(t *testing.T) {
			t.Parallel()
			content, err := fs.ReadFile(from, file)
			if err != nil {
				t.Fatal(err)
			}
			replay(t, content)
		})
	}
}

type object = map[string]any

func replay(t *testing.T, content []byte) {
	var c struct{ Steps []object }
	if err := json.Unmarshal(content, &c); err != nil {
		t.Fatal(err)
	}
	objects := memoryObjects{}
	cfg := Config{Bucket: "data"}
	for _, step := range c.Steps {
		params, _ := step["params"].(object)
		switch step["op"] {
		case "PutObject":
			cfg.Key = params["Key"].(string)
			objects[cfg.Key] = params["Body"].(string)
		case "CreateStateMachine":
			definition := params["definition"].(object)["$json"].(object)
			for _, state := range definition["States"].(object) {
				configure(&cfg, state.(object))
			}
		case "StartExecution":
			var input struct{ MaxItems int64 }
			if err := json.Unmarshal([]byte(params["input"].(string)), &input); err != nil {
				t.Fatal(err)
			}
			if cfg.MaxItems < 0 {
				cfg.MaxItems = input.MaxItems
			}
		case "GetExecutionHistory":
			compare(t, objects, cfg, lastEvent(step))
		}
	}
}

// configure copies the literal fields of the state's ItemReader. MaxItems becomes -1 if the execution's input
// provides it.
func configure(cfg *Config, state object) {
	reader, ok := state["ItemReader"].(object)
	if !ok {
		return
	}
	cfg.Resource = reader["Resource"].(string)
	c, _ := reader["ReaderConfig"].(object)
	cfg.InputType, _ = c["InputType"].(string)
	cfg.CSVHeaderLocation, _ = c["CSVHeaderLocation"].(string)
	for _, h := range anyList(c["CSVHeaders"]) {
		cfg.CSVHeaders = append(cfg.CSVHeaders, h.(string))
	}
	if n, ok := c["MaxItems"].(float64); ok {
		cfg.MaxItems = int64(n)
	} else if c["MaxItems"] != nil || c["MaxItemsPath"] != nil {
		cfg.MaxItems = -1
	}
}

func anyList(v any) []any { l, _ := v.([]any); return l }

func lastEvent(step object) object {
	events := step["check"].([]any)[0].(object)["value"].(object)["events"].([]any)
	return events[len(events)-1].(object)
}

func compare(t *testing.T, objects Objects, cfg Config, last object) {
	got, err := readAll(t.Context(), objects, cfg)
	if failed, ok := last["executionFailedEventDetails"].(object); ok {
		var typed *Error
		if !errors.As(err, &typed) || typed.Cause != failed["cause"] || ErrorName != failed["error"] {
			t.Errorf("got %v, want %v", err, failed)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	var have, want any
	if err := json.Unmarshal([]byte(got), &have); err != nil {
		t.Fatal(err)
	}
	output := last["executionSucceededEventDetails"].(object)["output"].(string)
	if err := json.Unmarshal([]byte(output), &want); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(output, "⟦*⟧") {
		for i, item := range want.([]any) { // an ETag and a date, which differ between runs
			for name, v := range item.(object) {
				if v == "⟦*⟧" {
					item.(object)[name] = have.([]any)[i].(object)[name]
				}
			}
		}
	}
	if !reflect.DeepEqual(have, want) {
		t.Errorf("items\n got %s\nwant %s", got, output)
	}
}
