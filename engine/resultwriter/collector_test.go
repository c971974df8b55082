package resultwriter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestCollector(t *testing.T) {
	t.Parallel()
	tests := []struct {
		transformation Transformation
		want           string
	}{
		{"", `[[1,2],` + failedRecord + `,[],"x"]`},
		{Flatten, `[1,2,` + failedRecord + `,"x"]`},
		{None, `[` + succeededRecord + `,` + failedRecord + `,` + strings.Replace(succeededRecord, "[1,2]", "[]", 1) +
			`,` +
			strings.Replace(succeededRecord, "[1,2]", `\"x\"`, 1) + `]`},
	}
	for _, test := range tests {
		t.Run(string(test.transformation), func(t *testing.T) {
			t.Parallel()
			c := NewCollector(test.transformation)
			for _, child := range []struct {
				index  int64
				result ChildResult
			}{{3, succeeded(`"x"`)}, {1, failed(Failed)}, {2, succeeded("[]")}, {0, succeeded("[1,2]")}} {
				if err := c.Add(child.index, child.result); err != nil {
					t.Fatal(err)
				}
			}
			got, err := c.Finish()
			if err != nil || string(got) != test.want {
				t.Errorf("got  %s %v\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestCollectorLimit(t *testing.T) {
	t.Parallel()
	half := `"` + strings.Repeat("x", MaxOutputBytes/2-4) + `"`
	c := NewCollector(Compact)
	for _, output := range []string{half, half[:len(half)-1] + `x"`} { // [ half , half+1 ] is exactly the limit
		if err := c.Add(0, succeeded(output)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := c.Finish()
	if err != nil || len(out) != MaxOutputBytes {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	var limit *DataLimitError
	if err := c.Add(2, succeeded("")); err != nil {
		t.Errorf("nothing more: %v", err)
	}
	if err := c.Add(2, succeeded("1")); !errors.As(err, &limit) || limit.Cause() != "The results of the child "+
		"executions are larger than 262144 bytes; export them to S3 with a ResultWriter." ||
		err.Error() != "States.DataLimitExceeded: "+limit.Cause() {
		t.Errorf("got %v", err)
	}
	if err := c.Add(3, succeeded("1")); !errors.As(err, &limit) {
		t.Errorf("later results: got %v", err)
	}
	if _, err := c.Finish(); !errors.As(err, &limit) {
		t.Errorf("Finish: got %v", err)
	}
}

func ExampleCollector() {
	c := NewCollector(Flatten)
	for i, output := range []string{`[1,2]`, `{"a":3}`} {
		if err := c.Add(int64(i), ChildResult{Status: Succeeded, Output: output}); err != nil {
			fmt.Println(err)
			return
		}
	}
	out, err := c.Finish()
	fmt.Println(string(out), err)
	// Output: [1,2,{"a":3}] <nil>
}
