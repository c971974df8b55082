package coverage_test

import (
	"reflect"
	"strings"
	"testing"

	"stepback/aws/server"
	"stepback/local/services/coverage"
)

func queues() server.Coverage {
	return server.CoverageOf("sqs", "SQS", []string{"Send", "Move", "Look"},
		func(name string) bool { return name != "Look" }, map[string]string{"Move": "slowly", "Look": "not served"})
}

func TestCoverageOf(t *testing.T) {
	t.Parallel()
	c := queues()
	if c.Supported != 1 || c.Partial != 1 || c.Unsupported != 1 || c.Share < 66.6 || c.Share > 66.7 {
		t.Errorf("%+v", c)
	}
	want := []server.OperationCoverage{
		{Name: "Look", State: server.Unsupported},
		{Name: "Move", State: server.Partial, Missing: "slowly"},
		{Name: "Send", State: server.Supported},
	}
	for i, o := range c.Operations {
		if !reflect.DeepEqual(o, want[i]) {
			t.Errorf("%+v, want %+v", o, want[i])
		}
	}
}

const summaryMarks = "<!-- all services: make generate writes what follows -->\n<!-- end of all services -->\n"

func TestPageKeepsItsProse(t *testing.T) {
	t.Parallel()
	page := "# Services\n\n" + summaryMarks + "\n## SQS\n\nProse.\n\n## More\n\nEnd.\n"
	topics := server.CoverageOf("sns", "SNS", []string{"Publish"}, func(string) bool { return true }, nil)
	got, err := coverage.Page(page, []server.Coverage{queues(), topics})
	if err != nil {
		t.Fatal(err)
	}
	want := `# Services

<!-- all services: make generate writes what follows -->

| service | operations in its model | supported | in part | not supported | share |
|---|---:|---:|---:|---:|---:|
| SQS | 3 | 1 | 1 | 1 | 67 % |
| SNS | 1 | 1 | 0 | 0 | 100 % |
| all | 4 | 2 | 1 | 1 | |

<!-- end of all services -->

## SQS

Prose.

<!-- operations of sqs: make generate writes what follows -->

2 of the 3 operations in the API model (67 %).

Supported (1):
§Send§

Supported in part (1):

| operation | what is missing |
|---|---|
| §Move§ | slowly |

Not supported, answered with 501 (1):
§Look§

<!-- end of operations -->

## More

End.

## SNS

<!-- operations of sns: make generate writes what follows -->

1 of the 1 operations in the API model (100 %).

Supported (1):
§Publish§

<!-- end of operations -->
`
	if want = strings.ReplaceAll(want, "§", "`"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	again, err := coverage.Page(got, []server.Coverage{queues(), topics})
	if err != nil || again != got {
		t.Errorf("a second time: %v\n%s", err, again)
	}
}

func TestPageRefuses(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"": "the page has no <!-- all services: make generate writes what follows -->",
		summaryMarks + "<!-- operations of sqs: make generate writes what follows -->\n":                             "<!-- operations of sqs: make generate writes what follows --> has no <!-- end of operations -->",
		summaryMarks + "<!-- operations of old: make generate writes what follows -->\n<!-- end of operations -->\n": "<!-- operations of old: make generate writes what follows -->: no such service is registered; remove its tables",
	} {
		if _, err := coverage.Page(page, []server.Coverage{queues()}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", page, err, want)
		}
	}
}
