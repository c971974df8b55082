package aws_test

import (
	"testing"
	"time"

	"stepback/aws"
)

func TestParseTrace(t *testing.T) {
	t.Parallel()
	const root = "1-5759e988-bd862e3fe1be46a994272793"
	for header, want := range map[string]string{
		"Root=" + root + ";Parent=53995c3f42cd8ad8;Sampled=1":       "Root=" + root + ";Parent=53995c3f42cd8ad8;Sampled=1",
		"Sampled=0; Root=" + root + ";Self=1-67891234-12456789abcd": "Root=" + root + ";Sampled=0",
		"Root=" + root + ";Sampled=?":                               "Root=" + root,
		"Root=" + root + ";Parent=x":                                "Root=" + root,
	} {
		if got, ok := aws.ParseTrace(header); !ok || got.String() != want {
			t.Errorf("%s is read as %s (%v), not %s", header, got, ok, want)
		}
	}
	for _, header := range []string{"", "Root=", "Root=1-2-3;Sampled=1", "nothing"} {
		if got, ok := aws.ParseTrace(header); ok {
			t.Errorf("%s is read as %s", header, got)
		}
	}
	begun := aws.NewTrace(time.Unix(0x5759e988, 0), true)
	again, ok := aws.ParseTrace(begun.String())
	if !ok || again != begun || begun.Root[:11] != "1-5759e988-" {
		t.Errorf("%s is read as %s", begun, again)
	}
}
